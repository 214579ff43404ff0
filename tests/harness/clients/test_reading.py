"""The final read against the brokers that librdkafka simulates inside this process."""

from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from fencepost.harness.clients.reading import FinalReadResult, read_everything
from fencepost.harness.clients.settings import consumer
from fencepost.harness.plan.model import Timing
from fencepost.results.records.journal import Journal, JournalWriter, read_journal

WITHIN = 20.0


@pytest.fixture
def producer() -> Iterator[Producer]:
    """A producer whose simulated brokers hold ten records of `t`."""
    made = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "", "log_level": 0})
    for number in range(10):
        made.produce("t", f"p-{number} ....".encode(), partition=0)
    assert made.flush(WITHIN) == 0
    yield made


def read(
    producer: Producer, promised: set[str], path: Path, timeout: float, settle: float, deleted: Collection[str] = ()
) -> tuple[FinalReadResult, Journal]:
    [broker] = producer.list_topics(timeout=WITHIN).brokers.values()
    config = consumer({"bootstrap.servers": f"{broker.host}:{broker.port}"}, Timing(), "final")
    with JournalWriter(path) as journal:
        result = read_everything(
            "final", [("t", 0)], config, journal, frozenset(promised), timeout, settle, deleted=lambda: deleted
        )
    return result, read_journal(path)


def test_a_read_that_found_all_that_was_promised_ends_at_once(producer: Producer, tmp_path: Path) -> None:
    result, journal = read(producer, {"p-0", "p-9"}, tmp_path / "j", timeout=WITHIN, settle=1000.0)
    assert result == FinalReadResult(complete=True, records=10, missing=0)
    [end] = [event for event in journal.of("op", "ok") if event.data["f"] == "final"]
    assert end.data["partitions"] == [["t", 0, 0, 10]]


def test_a_read_that_misses_something_ends_when_all_is_quiet(producer: Producer, tmp_path: Path) -> None:
    result, _ = read(producer, {"p-0", "lost"}, tmp_path / "j", timeout=1000.0, settle=0.3)
    assert result == FinalReadResult(complete=True, records=10, missing=1)


def test_a_read_does_not_wait_for_what_was_deleted(producer: Producer, tmp_path: Path) -> None:
    result, _ = read(producer, {"p-0", "gone"}, tmp_path / "j", timeout=WITHIN, settle=1000.0, deleted={"gone"})
    assert result == FinalReadResult(complete=True, records=10, missing=0)


def test_a_read_that_was_not_quiet_for_long_enough_reached_no_end(producer: Producer, tmp_path: Path) -> None:
    result, journal = read(producer, {"p-0", "lost"}, tmp_path / "j", timeout=3.0, settle=1000.0)
    assert result == FinalReadResult(complete=False, records=10, missing=1)
    [end] = [event for event in journal.of("op", "info") if event.data["f"] == "final"]
    assert end.data["partitions"] == []


def test_a_read_that_reached_no_end_says_so(producer: Producer, tmp_path: Path) -> None:
    result, journal = read(producer, set(), tmp_path / "j", timeout=0.0, settle=0.3)
    assert not result.complete
    [end] = [event for event in journal.of("op", "info") if event.data["f"] == "final"]
    assert end.data["partitions"] == []
