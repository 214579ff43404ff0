"""A listed difference explains what its mechanism can have taken, and not a record more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fencepost.harness.checkers.group_offsets import group_offsets
from fencepost.harness.checkers.history import read_history
from fencepost.harness.checkers.lost_write import lost_write
from fencepost.harness.checkers.mechanisms import AffectedRange, affected_ranges, history_without, replicas_without
from fencepost.harness.checkers.replica_logs import read_replicas
from fencepost.harness.judge import judge
from fencepost.harness.plan.model import Deviation, NodeSpec, Plan, Timing, TopicSpec, Topology
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.logs import batch, write_log

WALL = 1_700_000_000.0
AT = ("t", 0)
BROKERS = tuple(NodeSpec(name=f"node-{each}", id=each, index=each, roles=("broker",)) for each in (4, 5, 6))
DUPLICATE = NodeSpec(
    name="node-4b", id=4, index=14, roles=("broker",), start="later", duplicate_of="node-4", directory="cloned"
)

Line = tuple[float, str, str, str, str | None, Mapping[str, Any]]


def plan(*more: NodeSpec, mechanism: str = "cut-to-high-watermark") -> Plan:
    deviation = {"difference": "LF-01", "requirement": "ACK-01", "level": "may", "mechanism": mechanism}
    return Plan(
        scenario="s",
        title="S",
        document="D",
        seed=1,
        target="leader-driven:1",
        timing=Timing(lag_ms=1500, session_ms=1500),
        topology=Topology(nodes=(*BROKERS, *more)),
        topics=(TopicSpec(name="t", assignments=((4, 5, 6),)),),
        deviations=(Deviation.model_validate(deviation),),
    )


def journal(lines: Iterable[Line]) -> Journal:
    return Journal(
        tuple(
            Event(seq, t, WALL + t, kind, id, phase, node, data)
            for seq, (t, kind, id, phase, node, data) in enumerate(sorted(lines, key=lambda line: line[0]))
        )
    )


def sent(offset: int, t: float) -> list[Line]:
    data = {"f": "send", "process": "p", "topic": "t", "value": f"v{offset}", "acks": "all", "idempotent": False}
    ok = {"f": "send", "partition": 0, "offset": offset}
    return [(t - 0.01, "op", f"s{offset}", "invoke", None, data), (t, "op", f"s{offset}", "ok", None, ok)]


def leads(broker: int, epoch: int, t: float) -> Line:
    data = {"what": "partition", "topic": "t", "partition": 0, "leader": broker, "leader_epoch": epoch, "isr": [broker]}
    return t, "state", "log", "seen", None, {**data, "replicas": [4, 5, 6]}


def read(t: float, *offsets: int) -> Line:
    return (
        t,
        "op",
        "poll",
        "ok",
        None,
        {"f": "poll", "process": "c", "records": [["t", 0, o, f"v{o}"] for o in offsets]},
    )


def process(node: str, phase: str, t: float) -> Line:
    return t, "node", node, phase, node, {}


FULL: tuple[Line, ...] = (
    (0.0, "run", "r", "begin", None, {}),
    *(process(node.name, "started", 0.0) for node in BROKERS),
    leads(4, 1, 1.0),
    *(line for offset in range(10) for line in sent(offset, 10.0 + offset)),
    process("node-5", "killed", 20.0),
    process("node-5", "started", 21.0),
    leads(5, 2, 23.0),
    *sent(20, 24.0),
    (60.0, "run", "r", "end", None, {}),
)
"""Ten records, one a second from 10 s on; node-5 is killed at 20 s, starts again and leads."""


def log(folder: Path, node: str, t: float, before: int, after: int, *, zone: float = 0.0) -> Path:
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)

    def line(at: float, text: str) -> str:
        stamp = datetime.fromtimestamp(WALL + at + zone, UTC)
        return f"{stamp:%Y-%m-%d %H:%M:%S},{stamp.microsecond // 1000:03} INFO [broker 5] {text}\n"

    cut = line(t, f"t-0 is cut from {before} to {after}")
    (logs / f"{node}.log").write_text(line(0.2, "the node has started") + cut)
    return logs


def found(folder: Path, lines: Iterable[Line] = FULL, used: Plan | None = None) -> list[AffectedRange]:
    used = used or plan()
    (mechanism,) = {each.mechanism for each in used.deviations if each.mechanism}
    made = journal(lines)
    return affected_ranges(mechanism, used, made, read_history(made), folder / "logs")


def test_a_cut_replica_that_led_later_can_have_taken_what_it_cut(tmp_path: Path) -> None:
    log(tmp_path, "node-5", 21.5, 10, 7)
    (affected,) = found(tmp_path)
    assert (affected.at, affected.begin, affected.end) == (AT, 7, 10)
    assert "cut t-0 from 10 to 7" in affected.how


def test_a_replica_that_never_led_took_nothing(tmp_path: Path) -> None:
    log(tmp_path, "node-6", 21.5, 10, 7)
    assert found(tmp_path) == []


def test_without_a_cut_nothing_is_explained(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    assert found(tmp_path) == []


def test_logs_in_another_time_zone_mean_the_same_moment(tmp_path: Path) -> None:
    log(tmp_path, "node-5", 21.5, 10, 7)
    here = found(tmp_path)
    log(tmp_path, "node-5", 21.5, 10, 7, zone=5.5 * 3600)
    assert found(tmp_path) == here


def test_what_was_acknowledged_long_before_is_not_explained(tmp_path: Path) -> None:
    """All that it knew to be committed: a replica that drops it does more than the document says."""
    log(tmp_path, "node-5", 21.5, 10, 0)
    (affected,) = found(tmp_path)
    assert affected.covers(AT, 9, 19.0)
    assert not affected.covers(AT, 0, 10.0)
    assert not affected.covers(AT, 10, 19.0)
    assert not affected.covers(("u", 0), 9, 19.0)


def test_the_history_without_them_has_neither_their_sends_nor_their_reads() -> None:
    history = read_history(journal([*FULL, read(15.0, 0, 1, 2, 8), read(30.0, 0, 1, 2)]))
    rest = history_without(history, [AffectedRange(AT, 7, 10, 0.0, "")])
    assert {send.offset for send in rest.sends} == {0, 1, 2, 3, 4, 5, 6, 20}
    assert [read.offset for poll in rest.polls for read in poll.records] == [0, 1, 2, 0, 1, 2]


def lost(folder: Path, *, cut_to: int, besides: Iterable[Line] = ()) -> list[Finding]:
    """Return the findings of the judge for a run whose final read lacks the offsets from 7 to 9."""
    log(folder, "node-5", 21.5, 10, cut_to)
    (folder / "nodes").mkdir()
    verdict = judge(plan(), journal([*FULL, *besides, read(50.0, *range(7), 20)]), folder / "nodes")
    return [each for each in verdict.findings if each.check == lost_write(read_history(journal(FULL))).check]


def test_a_cut_of_the_offsets_topic_explains_late_commits_and_no_earlier_one() -> None:
    def commit(id: str, offset: int, t: float) -> list[Line]:
        data = {"f": "commit-offsets", "process": "m", "group": "g", "offsets": [["t", 0, offset]], "sync": True}
        return [(t - 0.01, "op", id, "invoke", None, data), (t, "op", id, "ok", None, {"f": "commit-offsets"})]

    def asked(offset: int | None) -> list[Line]:
        data = {"f": "committed-offsets", "process": "o", "group": "g"}
        found = {**data, "offsets": [["t", 0, offset]]}
        return [(20.0, "op", "asked", "invoke", None, data), (20.1, "op", "asked", "ok", None, found)]

    def rest(found: int | None, topic: str) -> Verdict:
        history = read_history(journal([*commit("early", 5, 1.0), *commit("late", 9, 10.0), *asked(found)]))
        cut = AffectedRange((topic, 0), 50, 60, 8.0, "a cut")
        return group_offsets(history_without(history, [cut])).verdict

    assert rest(5, "__consumer_offsets") is Verdict.PASS
    assert rest(9, "__consumer_offsets") is Verdict.PASS
    assert rest(None, "__consumer_offsets") is Verdict.VIOLATION, "the early commit cannot be among what was cut"
    assert rest(5, "t") is Verdict.VIOLATION, "no commit stands in this topic"


def test_the_judge_puts_down_what_is_explained_and_says_how(tmp_path: Path) -> None:
    (finding,) = lost(tmp_path, cut_to=7)
    assert finding.verdict is Verdict.PASS
    assert finding.difference == "LF-01"
    assert "node-5 cut t-0 from 10 to 7" in finding.message
    assert finding.counterexample is not None


def test_the_judge_holds_the_rest_against_the_target(tmp_path: Path) -> None:
    """Offset 7 is gone, too, and no replica cut so deep."""
    (finding,) = lost(tmp_path, cut_to=8)
    assert finding.verdict is Verdict.VIOLATION
    assert finding.difference is None
    assert "do not explain" in finding.message
    assert finding.counterexample is not None
    assert finding.counterexample.total == 1


@pytest.mark.parametrize(("node", "verdict"), [("node-5", Verdict.INCONCLUSIVE), ("node-4", Verdict.PASS)])
def test_a_cut_by_a_clock_that_was_changed_explains_nothing_and_proves_nothing(
    tmp_path: Path, node: str, verdict: Verdict
) -> None:
    (finding,) = lost(tmp_path, cut_to=7, besides=fault("jump", 12.0, 30.0, kind="clock-jump", nodes=[node]))
    assert finding.verdict is verdict
    assert ("the times of its cuts are unknown" in finding.message) == (node == "node-5")


def fault(name: str, begun: float, over: float, kind: str = "x", **aim: Any) -> list[Line]:
    return [
        (begun, "fault", name, "intent", None, {"fault": kind, **aim}),
        (begun, "fault", name, "injected", None, {}),
        (over, "fault", name, "healed", None, {}),
    ]


AWAY: tuple[Line, ...] = (leads(6, 2, 13.0), leads(4, 3, 25.0))


def test_a_refused_duplicate_explains_what_was_acknowledged_while_its_original_was_away(tmp_path: Path) -> None:
    used = plan(DUPLICATE, mechanism="refused-duplicate")
    twice = fault("twice", 12.0, 30.0, nodes=["node-4b"])
    apart = fault("apart", 13.0, 20.0, links=[{"from": "node-4", "to": "node-6"}])
    base = [line for line in FULL if line[1] != "state"]
    (affected,) = found(tmp_path, [*base, leads(4, 1, 1.0), *AWAY, *twice, *apart], used)
    assert (affected.begin, affected.end, affected.since) == (2, 21, 12.0)
    assert found(tmp_path, [*base, leads(4, 1, 1.0), *AWAY, *twice], used) == []
    assert found(tmp_path, [*base, leads(4, 1, 1.0), *AWAY, *apart], used) == []
    assert found(tmp_path, [*base, leads(4, 1, 1.0), leads(6, 2, 13.0), *twice, *apart], used) == []


def test_a_duplicate_while_nothing_was_acknowledged_explains_nothing(tmp_path: Path) -> None:
    used = plan(DUPLICATE, mechanism="refused-duplicate")
    twice = fault("twice", 12.0, 30.0, nodes=["node-4b"])
    apart = fault("apart", 13.0, 20.0, links=[{"from": "node-4", "to": "node-6"}])
    silent = [line for line in FULL if line[1] not in ("state", "op")]
    assert found(tmp_path, [*silent, leads(4, 1, 1.0), *AWAY, *twice, *apart], used) == []


def test_the_logs_without_affected_records_keep_the_others_of_a_batch(tmp_path: Path) -> None:
    made = plan()
    write_log(tmp_path / "node-4" / "data" / "t-0", batch(0, "v0"), batch(1, "v1", "v2", "v3"))
    write_log(tmp_path / "node-5" / "data" / "t-0", batch(0, "v0"))
    write_log(tmp_path / "node-6" / "data" / "t-0", batch(0, "v0"), batch(1, "v1", "v2", "v3", attributes=4))
    history = read_history(journal(FULL))
    rest = replicas_without(read_replicas(made, tmp_path), history, [AffectedRange(AT, 2, 4, 0.0, "")])
    cut, short, opaque = rest.of(AT)
    assert sorted(cut.held) == [0, 1]
    assert sorted(short.held) == [0]
    assert opaque.unreadable


def test_the_judge_leaves_explained_records_out_of_the_logs_too(tmp_path: Path) -> None:
    log(tmp_path, "node-5", 21.5, 10, 7)
    kept = [f"v{offset}" for offset in range(7)]
    for node, values in (("node-4", [*kept, "v7", "v8", "v9"]), ("node-5", kept), ("node-6", kept)):
        write_log(tmp_path / "nodes" / node / "data" / "t-0", batch(0, *values), batch(20, "v20", epoch=2))
    verdict = judge(plan(), journal([*FULL, read(50.0, *range(7), 20)]), tmp_path / "nodes")
    (lost_record,) = [each for each in verdict.findings if each.check == "lost-write"]
    assert (lost_record.verdict, lost_record.difference) == (Verdict.PASS, "LF-01")


def test_without_the_output_of_the_nodes_a_loss_that_a_cut_may_explain_is_inconclusive(tmp_path: Path) -> None:
    log(tmp_path, "node-5", 21.5, 10, 7)
    (tmp_path / "nodes").mkdir()
    lines = [*FULL, read(50.0, *range(7), 20)]

    def of_the_loss() -> Finding:
        findings = judge(plan(), journal(lines), tmp_path / "nodes").findings
        return next(finding for finding in findings if finding.check == "lost-write")

    assert (of_the_loss().verdict, of_the_loss().difference) == (Verdict.PASS, "LF-01")
    (tmp_path / "logs").rename(tmp_path / "elsewhere")
    assert of_the_loss().verdict is Verdict.INCONCLUSIVE
    assert "the folder logs of the run is missing" in of_the_loss().message


def test_a_rest_that_cannot_be_judged_is_inconclusive(tmp_path: Path) -> None:
    """Without the explained records, another member's log still cannot be read."""
    listed = Deviation(difference="LF-01", requirement="SEG-01", level="may", mechanism="cut-to-high-watermark")
    made = plan().model_copy(update={"deviations": (listed,)})
    log(tmp_path, "node-5", 21.5, 10, 7)
    kept = [f"v{offset}" for offset in range(7)]
    write_log(tmp_path / "nodes" / "node-5" / "data" / "t-0", batch(0, *kept), batch(20, "v20", epoch=2))
    write_log(tmp_path / "nodes" / "node-6" / "data" / "t-0", batch(0, *kept, attributes=4))
    both = {**dict(leads(5, 3, 24.5)[5]), "isr": [5, 6]}
    lines = [*FULL, (24.5, "state", "log", "seen", None, both), read(50.0, *range(7), 20)]
    verdict = judge(made, journal(lines), tmp_path / "nodes")
    (kept_record,) = [each for each in verdict.findings if each.check == "committed-kept"]
    assert kept_record.verdict is Verdict.INCONCLUSIVE


def test_a_mechanism_without_a_violation_to_explain_is_not_looked_for(tmp_path: Path) -> None:
    (tmp_path / "nodes").mkdir()
    verdict = judge(plan(), journal([*FULL, read(50.0, *range(10), 20)]), tmp_path / "nodes")
    assert all(each.difference is None for each in verdict.findings)
