"""Segments as Kafka writes them (built here byte by byte) and the check that replicas agree."""

import struct
from pathlib import Path

import pytest

from harness.checkers.replicas import replicas_agree
from harness.checkers.segments import Unreadable, read_log
from results.records.verdict import Verdict
from tests.harness.checkers.plans import plan
from tests.harness.checkers.story import Story


def varint(number: int) -> bytes:
    zigzag = (number << 1) ^ (number >> 63)
    out = bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*out, zigzag])


def batch(base: int, *values: str, epoch: int = 1, attributes: int = 0, magic: int = 2) -> bytes:
    records = b""
    for delta, value in enumerate(values):
        body = b"\0" + varint(0) + varint(delta) + varint(-1) + varint(len(value)) + value.encode() + varint(0)
        records += varint(len(body)) + body
    after = struct.pack(">ibIhiqqqhii", epoch, magic, 0, attributes, len(values) - 1, 0, 0, -1, -1, -1, len(values))
    return struct.pack(">qi", base, len(after) + len(records)) + after + records


def write_log(folder: Path, *batches: bytes, name: str = "00000000000000000000.log") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(b"".join(batches))


def test_records_are_read_over_batches_and_segments(tmp_path: Path) -> None:
    write_log(tmp_path, batch(0, "a", "b" * 300), batch(2, "c", epoch=4))
    write_log(tmp_path, batch(3, "d"), name="00000000000000000003.log")
    assert [(record.offset, record.leader_epoch, record.value[:1]) for record in read_log(tmp_path)] == [
        (0, 1, b"a"),
        (1, 1, b"b"),
        (2, 4, b"c"),
        (3, 1, b"d"),
    ]


def test_every_torn_end_is_where_the_log_ends(tmp_path: Path) -> None:
    first, second = batch(0, "a"), batch(1, "b")
    for length in range(len(second)):
        write_log(tmp_path, first, second[:length])
        assert [record.value for record in read_log(tmp_path)] == [b"a"]


def test_control_batches_are_no_records(tmp_path: Path) -> None:
    write_log(tmp_path, batch(0, "marker", attributes=0x20), batch(1, "a"))
    assert [record.offset for record in read_log(tmp_path)] == [1]


@pytest.mark.parametrize("wrong", [batch(0, "a", attributes=4), batch(0, "a", magic=1)], ids=["compressed", "old"])
def test_what_cannot_be_read_is_refused_with_its_place(tmp_path: Path, wrong: bytes) -> None:
    write_log(tmp_path, batch(0, "a"), wrong)
    with pytest.raises(Unreadable, match=rf"000\.log has .* at byte {len(batch(0, 'a'))}"):
        list(read_log(tmp_path))


def served(*isr: int) -> Story:
    return Story().partition(4, 1, isr).final((0, "a"), (1, "b"))


def judged(tmp_path: Path, story: Story, **logs: bytes) -> tuple[Verdict, int]:
    for node, data in logs.items():
        write_log(tmp_path / node.replace("_", "-") / "data" / "t-0", data)
    finding = replicas_agree(plan(), story.history(), tmp_path)
    return finding.verdict, finding.evidence["judged"]


@pytest.mark.requirement("DV-05", "HW-03")
def test_members_that_hold_what_was_served_agree_whatever_follows(tmp_path: Path) -> None:
    logs = {"node_4": batch(0, "a ....", "b", "x"), "node_5": batch(0, "a ....", "b", "y", "z")}
    assert judged(tmp_path, served(4, 5), **logs) == (Verdict.PASS, 4)


@pytest.mark.parametrize("log", [batch(0, "a"), batch(0, "a", "x"), b""], ids=["short", "other", "empty"])
def test_a_member_without_a_served_record_is_seen(tmp_path: Path, log: bytes) -> None:
    assert judged(tmp_path, served(4, 5), node_4=batch(0, "a", "b"), node_5=log)[0] is Verdict.VIOLATION


def test_a_replica_outside_the_isr_may_lack_records(tmp_path: Path) -> None:
    assert judged(tmp_path, served(4), node_4=batch(0, "a", "b"), node_5=b"") == (Verdict.PASS, 2)


def test_without_files_there_is_nothing_to_judge(tmp_path: Path) -> None:
    assert judged(tmp_path, served(4, 5)) == (Verdict.PASS, 0)


def test_of_two_processes_with_one_id_one_must_hold_it(tmp_path: Path) -> None:
    node = {"name": "node-4b", "id": 4, "index": 14, "roles": ["broker"], "duplicate_of": "node-4"}
    twins = plan(topology={"nodes": [*(each.model_dump() for each in plan().topology.nodes), node]})
    write_log(tmp_path / "node-4" / "data" / "t-0", batch(0, "a"))
    write_log(tmp_path / "node-4b" / "data" / "t-0", batch(0, "a", "b"))
    assert replicas_agree(twins, served(4).history(), tmp_path).verdict is Verdict.PASS


def test_a_log_that_cannot_be_read_is_named_and_not_judged(tmp_path: Path) -> None:
    write_log(tmp_path / "node-4" / "data" / "t-0", batch(0, "a", attributes=1))
    finding = replicas_agree(plan(), served(4).history(), tmp_path)
    assert finding.evidence["judged"] == 0
    assert "compressed" in finding.evidence["unreadable"][0]


def test_a_replica_is_looked_for_in_each_log_directory(tmp_path: Path) -> None:
    node = {"name": "node-4", "id": 4, "index": 4, "roles": ["broker"], "log_dirs": 2}
    two = plan(topology={"nodes": [node]}, topics=[{"name": "t", "assignments": [[4]]}])
    history = Story().send("a", 0).partition(4, 1, [4]).final((0, "a")).history()
    write_log(tmp_path / "node-4" / "data-2" / "t-0", batch(0, "b"))
    finding = replicas_agree(two, history, tmp_path)
    assert finding.verdict is Verdict.VIOLATION
    assert finding.counterexample is not None
    assert finding.counterexample.rows[0][1] == "node-4/data-2"


def test_what_a_failed_log_directory_held_is_not_judged(tmp_path: Path) -> None:
    node = {"name": "node-4", "id": 4, "index": 4, "roles": ["broker"], "log_dirs": 2}
    two = plan(topology={"nodes": [node]}, topics=[{"name": "t", "assignments": [[4]]}])
    history = Story().send("a", 0).partition(4, 1, [4]).final((0, "a")).history()
    write_log(tmp_path / "node-4" / "data-2.aside" / "t-0", batch(0, "b"))
    (tmp_path / "node-4" / "data-2").touch()
    finding = replicas_agree(two, history, tmp_path)
    assert finding.verdict is Verdict.PASS
    assert finding.evidence["judged"] == 0
