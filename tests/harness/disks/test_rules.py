"""The operations that a rule matches, their delays, and the counted processes."""

from __future__ import annotations

import errno
import threading
import time

import pytest

from fencepost.faults.capabilities import DiskRule, Operation
from fencepost.harness.disks.rules import Rules, applies, as_json, example, from_json

EIO_ON_WRITE = DiskRule(frozenset({Operation.WRITE}), error="EIO")


def rules(*, counts: bool = True, dying: bool = False) -> Rules:
    return Rules(lambda: counts, lambda: dying)


def test_only_operations_of_the_rule_are_refused_and_counted() -> None:
    made = rules()
    made.add("broken", EIO_ON_WRITE)
    made.check(Operation.READ, "t-0/00.log")
    for _ in range(2):
        with pytest.raises(OSError) as refused:
            made.check(Operation.WRITE, "t-0/00.log")
        assert refused.value.errno == errno.EIO
    assert made.remove("broken") == {"write": 2}
    made.check(Operation.WRITE, "t-0/00.log")


def test_what_the_harness_tries_is_refused_and_not_counted() -> None:
    made = rules(counts=False)
    made.add("broken", EIO_ON_WRITE)
    with pytest.raises(OSError):
        made.check(Operation.WRITE, "x")
    assert made.remove("broken") == {}


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        (None, "t-0/00.log", True),
        ("t-0/*.log", "t-0/00.log", True),
        ("t-0/*.log", "t-1/00.log", False),
        ("*.log", "t-1/00.log", True),
        ("leader-epoch-checkpoint", "t-0/leader-epoch-checkpoint", True),
        ("t-[01]/0?.log", "t-1/00.log", True),
        ("t-[01]/0?.log", "t-2/00.log", False),
    ],
)
def test_a_pattern_is_about_the_path_or_its_last_part(pattern: str | None, path: str, matches: bool) -> None:
    assert applies(DiskRule(frozenset({Operation.READ}), files=pattern), Operation.READ, path) is matches


@pytest.mark.parametrize("pattern", [None, "t-0/*.log", "*", "t-[!0]/[a-c]?.log", "00000000000000000000.log"])
def test_an_example_of_a_pattern_matches_it(pattern: str | None) -> None:
    assert applies(DiskRule(frozenset({Operation.READ}), files=pattern), Operation.READ, example(pattern))


def test_a_write_meets_a_full_disk_only_where_it_takes_room() -> None:
    made = rules()
    made.add("full", DiskRule(frozenset({Operation.GROW}), error="ENOSPC"))
    assert made.check_write("t-0/00.log", grows=False) is None
    assert made.check_write("t-0/00.log", grows=True) is not None


def test_opening_to_read_is_no_business_of_a_disk_that_is_read_only() -> None:
    rule = DiskRule(frozenset({Operation.OPEN}), error="EROFS", to_write=True)
    assert not applies(rule, Operation.OPEN, "x")
    assert applies(rule, Operation.OPEN, "x", to_write=True)


def test_a_delayed_operation_goes_on_when_the_rule_is_gone() -> None:
    made = rules()
    made.add("slow", DiskRule(frozenset({Operation.FSYNC}), delay_ms=60_000))
    waiting = threading.Thread(target=made.check, args=(Operation.FSYNC, "x"))
    waiting.start()
    made.remove("slow")
    waiting.join(5)
    assert not waiting.is_alive()


def test_an_operation_of_a_process_with_pending_sigkill_does_not_wait() -> None:
    made = rules(dying=True)
    made.add("slow", DiskRule(frozenset({Operation.WRITE}), delay_ms=60_000))
    made.check(Operation.WRITE, "x")


def test_an_fsync_of_a_process_that_is_killed_while_it_waits_has_not_been_done() -> None:
    made = rules(dying=True)
    made.add("slow", DiskRule(frozenset({Operation.FSYNC}), delay_ms=60_000))
    with pytest.raises(InterruptedError):
        made.check(Operation.FSYNC, "x")


def test_a_delay_is_as_long_as_it_says() -> None:
    made = rules()
    made.add("slow", DiskRule(frozenset({Operation.WRITE}), delay_ms=30))
    began = time.monotonic()
    made.check(Operation.WRITE, "x")
    assert time.monotonic() - began >= 0.03


def test_a_rule_survives_the_way_to_its_process() -> None:
    rule = DiskRule(frozenset({Operation.WRITE, Operation.CREATE}), "EIO", 20, 7, "t-0/*", True)
    assert from_json(as_json(rule)) == rule
