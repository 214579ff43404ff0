"""Replicas are compared with each other and with the clients' history."""

from pathlib import Path

import pytest

from fencepost.harness.checkers.record_table import RecordTable
from fencepost.harness.checkers.replica_logs import read_replicas
from fencepost.harness.checkers.replicas import committed_kept, compare_replicas, one_content, replicas_agree
from fencepost.harness.judge import judge
from fencepost.harness.plan.model import Plan
from fencepost.results.records.verdict import Counterexample, Finding, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.logs import batch, write_log
from tests.harness.checkers.plans import plan

PASS, VIOLATION = Verdict.PASS, Verdict.VIOLATION


def three() -> Plan:
    nodes = [{"name": f"node-{id}", "id": id, "index": id, "roles": ["broker"]} for id in (4, 5, 6)]
    return plan(topology={"nodes": nodes}, topics=[{"name": "t", "assignments": [[4, 5, 6]]}])


def judged(
    path: Path, builder: JournalBuilder, plan: Plan | None = None, /, **logs: bytes
) -> tuple[Finding, Finding, Finding]:
    """By the names of nodes (`node_4`) what their logs hold: what was kept, one content, agreement."""
    for node, data in logs.items():
        write_log(path / node.replace("_", "-") / "data" / "t-0", data)
    history, replicas = builder.history(), read_replicas(plan or three(), path)
    found = compare_replicas(history, replicas), RecordTable(history, replicas)
    return committed_kept(*found), one_content(*found), replicas_agree(*found)


def verdicts(findings: tuple[Finding, ...]) -> list[Verdict]:
    return [finding.verdict for finding in findings]


def table(finding: Finding) -> Counterexample:
    assert finding.counterexample is not None
    return finding.counterexample


def acknowledged(*isr: int) -> JournalBuilder:
    """`a` and `b` at offsets 0 and 1; the first of the ISR leads at epoch 2."""
    return JournalBuilder().send("a", 0).send("b", 1).partition(isr[0], 2, isr)


@pytest.mark.requirement("DV-05", "HW-03", "SEG-01", "SEG-02")
def test_members_that_hold_what_was_promised_agree_whatever_lies_above(tmp_path: Path) -> None:
    logs = {"node_4": batch(0, "a ....", "b", "x"), "node_5": batch(0, "a ....", "b", "y", "z")}
    findings = judged(tmp_path, acknowledged(4, 5), **logs)
    assert verdicts(findings) == [PASS, PASS, PASS]
    assert findings[0].evidence["judged"] == 4
    assert findings[0].evidence["records"] == findings[0].evidence["below_bound"] == 2


@pytest.mark.requirement("SEG-01")
@pytest.mark.parametrize("log", [batch(0, "a"), batch(0, "a", "x"), b""], ids=["short", "other", "empty"])
def test_a_member_that_lacks_a_promised_record_is_seen_dead_or_alive(tmp_path: Path, log: bytes) -> None:
    kept, _, agree = judged(tmp_path, acknowledged(4, 5), node_4=batch(0, "a", "b"), node_5=log)
    assert verdicts((kept, agree)) == [VIOLATION, VIOLATION]
    assert "t-0" in kept.message and "offset" in kept.message


def test_what_was_served_counts_like_what_was_acknowledged(tmp_path: Path) -> None:
    builder = JournalBuilder().partition(4, 2, (4,)).send("a", 0, acks="1").poll((0, "a"))
    kept, _, _ = judged(tmp_path, builder, node_4=b"")
    assert kept.verdict is VIOLATION
    unserved = JournalBuilder().partition(4, 2, (4,)).send("a", 0, acks="1")
    assert judged(tmp_path, unserved, node_4=b"")[0].evidence["judged"] == 0


def test_below_the_bound_members_agree_on_unpromised_records_too(tmp_path: Path) -> None:
    builder = JournalBuilder().send("a", 0, acks="1").send("b", 1).partition(4, 2, (4, 5))
    kept, one_content, agree = judged(tmp_path, builder, node_4=batch(0, "a", "b"), node_5=batch(0, "x", "b"))
    assert verdicts((kept, one_content, agree)) == [PASS, VIOLATION, VIOLATION]
    assert [row[3] for row in table(one_content).rows] == ["a", "x"]


def test_copies_in_batches_of_other_sizes_are_the_same(tmp_path: Path) -> None:
    findings = judged(
        tmp_path, acknowledged(4, 5), node_4=batch(0, "a", "b"), node_5=batch(0, "a") + batch(1, "b", attributes=1)
    )
    assert verdicts(findings) == [PASS, PASS, PASS]


@pytest.mark.requirement("SEG-02")
def test_a_replica_outside_may_end_early_or_in_a_tail_of_its_own(tmp_path: Path) -> None:
    ours = batch(0, "a", epoch=1) + batch(1, "b", epoch=2)
    tail = batch(0, "a", epoch=1) + batch(1, "x", "y", epoch=1)
    findings = judged(tmp_path, acknowledged(4), node_4=ours, node_5=tail, node_6=b"")
    assert verdicts(findings) == [PASS, PASS, PASS]
    assert findings[1].evidence["tails"] == {"node-5 t-0": 1}
    assert "1 records are still to be truncated" in findings[1].message


@pytest.mark.requirement("SEG-02")
@pytest.mark.parametrize(
    "log",
    [
        batch(0, "a", epoch=1) + batch(1, "x", epoch=2),
        batch(0, "a", epoch=1) + batch(1, "x", epoch=3),
        batch(0, "x", epoch=0) + batch(1, "b", epoch=2),
    ],
    ids=["of the same epoch", "of a newer epoch", "and agrees again"],
)
def test_a_replica_outside_that_differs_is_seen_where_it_is_no_tail(tmp_path: Path, log: bytes) -> None:
    ours = batch(0, "a", epoch=1) + batch(1, "b", epoch=2)
    assert judged(tmp_path, acknowledged(4), node_4=ours, node_5=log)[1].verdict is VIOLATION


@pytest.mark.requirement("SEG-02")
def test_a_tail_of_a_leader_between_is_one_though_an_older_epoch_was_kept(tmp_path: Path) -> None:
    """A appends `b` at epoch 1, R has it; L leads at 2 and appends alone; R leads at 3, and keeps `b`."""
    ours = batch(0, "a", epoch=1) + batch(1, "b", epoch=1) + batch(2, "c", epoch=3)
    tail = batch(0, "a", epoch=1) + batch(1, "x", epoch=2)
    builder = JournalBuilder().send("a", 0).send("b", 1).send("c", 2).partition(4, 3, (4,))
    assert verdicts(judged(tmp_path, builder, node_4=ours, node_5=tail)) == [PASS, PASS, PASS]
    as_new_as_the_last = batch(0, "a", epoch=1) + batch(1, "x", epoch=3)
    assert judged(tmp_path / "new", builder, node_4=ours, node_5=as_new_as_the_last)[1].verdict is VIOLATION


def test_a_member_whose_log_cannot_be_read_is_not_passed_over(tmp_path: Path) -> None:
    logs = {"node_4": batch(0, "a", "b"), "node_5": batch(0, "a", "b", attributes=5)}
    findings = judged(tmp_path, acknowledged(4, 5), **logs)
    assert verdicts(findings) == [Verdict.INCONCLUSIVE] * 3
    assert "A member's log of t-0 could not be read" in findings[0].message


def test_a_tail_that_was_acknowledged_is_no_tail(tmp_path: Path) -> None:
    """The dead leader holds what was promised, the next one something else."""
    builder = acknowledged(4, 5).partition(5, 3, (5,)).send("x", 1, acks="1")
    logs = {"node_4": batch(0, "a", "b", epoch=2), "node_5": batch(0, "a", epoch=2) + batch(1, "x", epoch=3)}
    kept, one_content, agree = judged(tmp_path, builder, **logs)
    assert verdicts((kept, one_content, agree)) == [VIOLATION, VIOLATION, PASS]


@pytest.mark.requirement("SEG-01")
def test_a_lost_record_is_shown_on_every_replica(tmp_path: Path) -> None:
    """KIP-101's first case: the follower truncated what was acknowledged, led, and the old leader followed it."""
    builder = (
        JournalBuilder().partition(4, 0, (4, 5)).send("m1", 0).send("m2", 1).partition(5, 1, (5, 4)).final((0, "m1"))
    )
    kept, one_content, _ = judged(tmp_path, builder, node_4=batch(0, "m1", epoch=0), node_5=batch(0, "m1", epoch=0))
    assert verdicts((kept, one_content)) == [VIOLATION, PASS]
    assert table(kept).columns[7:] == ("node-4 (in the ISR)", "node-5 (leads)")
    assert table(kept).rows == (("t-0", 1, 0, "m2", "by 4 at 0.50 s", "4, 5", "never", "absent", "absent"),)
    assert table(kept).context == (
        ("t-0", 0, 0, "m1", "by 4 at 0.30 s", "4, 5", "in the final read", "there", "there"),
    )


@pytest.mark.requirement("SEG-02", "HW-03")
def test_two_records_at_one_offset_are_shown_on_every_replica(tmp_path: Path) -> None:
    """KIP-101's second case: both were acknowledged, each by a leader that did not have the other."""
    builder = JournalBuilder().partition(4, 0, (4, 5)).send("m1", 0).send("m2", 1).partition(5, 1, (5,)).send("m3", 1)
    builder.partition(5, 1, (5, 4)).poll((1, "m3"))
    first = batch(0, "m1", epoch=0)
    logs = {"node_4": first + batch(1, "m2", epoch=0), "node_5": first + batch(1, "m3", epoch=1)}
    findings = judged(tmp_path, builder, **logs)
    assert verdicts(findings) == [VIOLATION, VIOLATION, VIOLATION]
    assert table(findings[1]).rows == table(findings[0]).rows == table(findings[2]).rows
    assert [row[1:4] + row[6:] for row in table(findings[1]).rows] == [
        (1, 0, "m2", "never", "there", "other: m3 (epoch 1)"),
        (1, 1, "m3", "to c at 1.00 s", "other: m2 (epoch 0)", "there"),
    ]


def test_of_two_processes_with_one_id_one_must_hold_it(tmp_path: Path) -> None:
    node = {"name": "node-4b", "id": 4, "index": 14, "roles": ["broker"], "duplicate_of": "node-4"}
    twins = plan(topology={"nodes": [*(each.model_dump() for each in plan().topology.nodes), node]})
    findings = judged(tmp_path, acknowledged(4), twins, node_4=batch(0, "a"), node_4b=batch(0, "a", "b"))
    assert verdicts(findings) == [PASS, PASS, PASS]


def test_of_two_processes_with_one_id_the_one_that_agrees_with_the_others_was_the_member(tmp_path: Path) -> None:
    """Both lost records, and the process that still has them was none of the replicas at the end."""
    node = {"name": "node-4b", "id": 4, "index": 14, "roles": ["broker"], "duplicate_of": "node-4"}
    twins = plan(topology={"nodes": [*(each.model_dump() for each in plan().topology.nodes), node]})
    logs = {"node_4": batch(0, "a"), "node_4b": batch(0, "a", "b"), "node_5": batch(0, "a")}
    kept, _, agree = judged(tmp_path, acknowledged(5, 4), twins, **logs)
    assert verdicts((kept, agree)) == [VIOLATION, PASS]
    assert table(kept).columns[7:] == ("node-4 (id 4)", "node-4b (id 4)", "node-5 (leads)")
    assert [row[7:] for row in table(kept).rows] == [("absent", "there", "absent")]


def test_a_member_whose_log_is_nowhere_lacks_everything(tmp_path: Path) -> None:
    (tmp_path / "node-5" / "data").mkdir(parents=True)
    kept, _, _ = judged(tmp_path, acknowledged(4, 5), node_4=batch(0, "a", "b"))
    assert kept.verdict is VIOLATION
    assert [row[-1] for row in table(kept).rows] == ["there", "there"]


def test_a_member_whose_directory_is_not_in_its_place_is_not_judged(tmp_path: Path) -> None:
    kept, _, _ = judged(tmp_path, acknowledged(4, 5), node_4=batch(0, "a", "b"))
    assert (kept.verdict, kept.evidence["judged"]) == (PASS, 2)


def test_what_a_failed_log_directory_held_is_not_judged(tmp_path: Path) -> None:
    node = {"name": "node-4", "id": 4, "index": 4, "roles": ["broker"], "log_dirs": 2}
    two = plan(topology={"nodes": [node]}, topics=[{"name": "t", "assignments": [[4]]}])
    write_log(tmp_path / "node-4" / "data-2.aside" / "t-0", batch(0, "b"))
    (tmp_path / "node-4" / "data-2").touch()
    kept, _, _ = judged(tmp_path, acknowledged(4), two, node_5=b"")
    assert (kept.verdict, kept.evidence["judged"]) == (PASS, 0)


def test_a_replica_is_looked_for_in_each_log_directory(tmp_path: Path) -> None:
    node = {"name": "node-4", "id": 4, "index": 4, "roles": ["broker"], "log_dirs": 2}
    two = plan(topology={"nodes": [node]}, topics=[{"name": "t", "assignments": [[4]]}])
    write_log(tmp_path / "node-4" / "data-2" / "t-0", batch(0, "b"))
    kept, _, _ = judged(tmp_path, acknowledged(4), two)
    assert kept.verdict is VIOLATION
    assert table(kept).columns[-1] == "node-4/data-2 (leads)"


def test_a_log_of_an_earlier_topic_of_the_name_is_passed_over(tmp_path: Path) -> None:
    for node, id, data in (("node-4", "new", batch(0, "a", "b")), ("node-5", "old", batch(0, "x", epoch=7))):
        write_log(tmp_path / node / "data" / "t-0", data)
        (tmp_path / node / "data" / "t-0" / "partition.metadata").write_text(f"version: 0\ntopic_id: {id}\n")
    findings = judged(tmp_path, acknowledged(4))
    assert verdicts(findings) == [PASS, PASS, PASS]
    assert findings[0].evidence["passed_over"] == ["node-5 t-0: of an earlier topic"]


def test_logs_that_cannot_be_read_are_named_and_leave_it_open(tmp_path: Path) -> None:
    kept, _, _ = judged(tmp_path, acknowledged(4), node_4=batch(0, "a", attributes=4))
    assert kept.verdict is Verdict.INCONCLUSIVE
    assert "compressed by codec 4" in kept.message


def test_a_partition_that_was_deleted_has_no_logs_to_hold(tmp_path: Path) -> None:
    builder = acknowledged(4).event("state", "t-0", "seen", {"what": "partition-gone", "topic": "t", "partition": 0})
    (tmp_path / "node-4" / "data").mkdir(parents=True)
    assert judged(tmp_path, builder, node_5=batch(0, "x"))[0].evidence["judged"] == 0


def test_without_files_there_is_nothing_to_judge(tmp_path: Path) -> None:
    findings = judged(tmp_path, acknowledged(4, 5))
    assert verdicts(findings) == [PASS, PASS, PASS]
    assert [finding.evidence["judged"] for finding in findings] == [0, 0, 0]


def test_under_which_session_a_record_was_produced_is_known_from_a_log_that_holds_it(tmp_path: Path) -> None:
    one = batch(0, "a", "b", producer=(7, 0)) + batch(2, "x")
    other = batch(0, "a", "b", producer=(7, 0)) + batch(2, "a", producer=(7, 1))
    for node, data in (("node-4", one), ("node-5", other)):
        write_log(tmp_path / node / "data" / "t-0", data)
    replicas = read_replicas(three(), tmp_path)
    places = [(0, "a"), (2, "a"), (2, "x"), (1, "z"), (3, "a")]
    assert [replicas.session(("t", 0), *place) for place in places] == [(7, 0), (7, 1), None, None, None]
    assert replicas.session(("u", 0), 0, "a") is None


def test_a_client_that_sends_again_under_a_new_epoch_is_no_duplicate_of_a_whole_run(tmp_path: Path) -> None:
    found = {}
    for epoch in (0, 1):
        log = batch(0, "a", producer=(7, 0)) + batch(1, "a", producer=(7, epoch))
        for node in ("node-4", "node-5", "node-6"):
            write_log(tmp_path / str(epoch) / node / "data" / "t-0", log)
        builder = JournalBuilder().send("a", 1).poll((0, "a"), (1, "a")).final((0, "a"), (1, "a"))
        verdict = judge(three(), builder.journal(), tmp_path / str(epoch))
        found[epoch] = next(finding.verdict for finding in verdict.findings if finding.check == "duplicate")
    assert found == {0: VIOLATION, 1: PASS}


def test_an_opaque_record_is_shown_by_its_checksum(tmp_path: Path) -> None:
    write_log(tmp_path / "node-4" / "data" / "t-0", batch(0, "a") + batch(1, "b", attributes=4))
    (log,) = read_replicas(three(), tmp_path).of(("t", 0))
    assert log.held[0] == ("a", 1)
    assert log.held[1][0].startswith("(opaque ")
    assert "compressed by codec 4" in log.unreadable


def test_a_difference_above_the_bound_is_none(tmp_path: Path) -> None:
    same = batch(0, "a", "b")
    findings = judged(tmp_path, acknowledged(4, 5), node_4=same + batch(2, "x"), node_5=same + batch(2, "y", epoch=3))
    assert verdicts(findings) == [PASS, PASS, PASS]


def test_a_record_is_shown_with_how_its_send_ended(tmp_path: Path) -> None:
    write_log(tmp_path / "node-4" / "data" / "t-0", batch(0, "a", "b", "c", "d"))
    builder = JournalBuilder().send("a", 0, acks="1").send("b", outcome="fail").send("c", outcome="info")
    table = RecordTable(builder.history(), read_replicas(three(), tmp_path))
    rows = table.of([(("t", 0), offset, value) for offset, value in enumerate("abcd")]).rows
    assert [row[4] for row in rows] == ["at 0.20 s, acks=1", "refused", "outcome unknown", "not sent in this run"]
    assert table.of([(("t", 0), 0, "a")]).columns[-1] == "node-4"


def test_a_replica_without_a_log_of_the_partition_is_shown_as_such(tmp_path: Path) -> None:
    for node, partition in (("node-4", "t-0"), ("node-5", "t-1")):
        write_log(tmp_path / node / "data" / partition, batch(0, "a"))
    table = RecordTable(JournalBuilder().history(), read_replicas(three(), tmp_path))
    rows = table.of([(("t", 0), 0, "a"), (("t", 1), 0, "a")]).rows
    assert [row[7:] for row in rows] == [("there", "no log"), ("no log", "there")]
