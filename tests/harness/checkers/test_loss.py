"""One loss is one finding, with its whole extent, and names each rule that it breaks."""

from pathlib import Path

import pytest

from fencepost.harness.checkers.check import extent, within
from fencepost.harness.judge import judge
from fencepost.harness.plan.model import Plan
from fencepost.results.records.journal import Damage
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.logs import batch, write_log
from tests.harness.checkers.plans import plan

LOST_IN_ALL = {"node_4": batch(0, "a"), "node_5": batch(0, "a")}


def judged(path: Path, builder: JournalBuilder, on: Plan | None = None, /, **logs: bytes) -> RunVerdict:
    """By the names of nodes (`node_4`) what their logs hold of t-0; without any the logs are not judged."""
    for node, data in logs.items():
        write_log(path / node.replace("_", "-") / "data" / "t-0", data)
    journal = builder.event("step", "end:converge", "begin").event("run", "r", "end").journal()
    return judge(on or plan(), journal, path if logs else None)


def sent(*more: str) -> JournalBuilder:
    """`a`, `b` and further records, acknowledged by 4, with 5 in the ISR."""
    builder = JournalBuilder().event("run", "r", "begin").partition(4, 1, (4, 5))
    for offset, value in enumerate(("a", "b", *more)):
        builder.send(value, offset)
    return builder


def shown(verdict: RunVerdict) -> list[tuple[str, tuple[str, ...]]]:
    return [(finding.check, finding.requirements) for finding in verdict.shown(Verdict.VIOLATION)]


def first(verdict: RunVerdict) -> Finding:
    return verdict.shown(Verdict.VIOLATION)[0]


def test_records_that_a_consumer_had_and_that_no_log_has_are_one_loss(tmp_path: Path) -> None:
    verdict = judged(tmp_path, sent("c").poll((0, "a"), (1, "b")).final((0, "a")), **LOST_IN_ALL)
    assert shown(verdict) == [("unseen", ("ACK-01", "ACK-02", "SEG-01"))]
    assert verdict.headline == (
        "2 records (t-0 offsets 1 to 2) acknowledged with acks=all are gone, 1 of them read by c before. "
        "Absent from the final read and the logs of node-4 and node-5. It breaks ACK-02 and SEG-01, too."
    )
    table = first(verdict).counterexample
    assert table is not None
    assert [row[3] for row in table.rows] == ["b", "c"]
    assert [row[3] for row in table.context] == ["a"]


def test_a_loss_is_named_by_values_where_the_client_had_no_offsets(tmp_path: Path) -> None:
    """`c` and `d` were acknowledged without an offset; node-5 has `c`, and no node has `d`."""
    builder = JournalBuilder().event("run", "r", "begin").partition(4, 1, (4, 5))
    builder.send("a", 0).send("b", 1).send("c").send("d").final((0, "a"))
    logs = {"node_4": batch(0, "a"), "node_5": batch(0, "a", "b", "c")}
    verdict = judged(tmp_path, builder, **logs)
    assert verdict.headline.startswith(
        "3 records (t-0 offset 1 and unknown offset) acknowledged with acks=all are gone. "
        "Absent from the final read and the logs of node-4 and node-5 (1 of 3)."
    )
    table = first(verdict).counterexample
    assert table is not None
    assert {(row[1], row[3], row[-2], row[-1]) for row in table.rows} == {
        (1, "b", "absent", "there"),
        ("unknown offset", "c", "absent", "there"),
        ("unknown offset", "d", "absent", "absent"),
    }
    assert first(verdict).evidence["loss"]["extent"] == {"t-0": [[1, 1]]}


def test_each_rule_that_a_loss_breaks_keeps_its_own_finding(tmp_path: Path) -> None:
    verdict = judged(tmp_path, sent().poll((0, "a"), (1, "b")).final((0, "a")), **LOST_IN_ALL)
    parts = {finding.check: finding.part_of for finding in verdict.of(Verdict.VIOLATION)}
    assert parts == {"unseen": None, "consumed-then-vanished": "unseen", "committed-kept": "unseen"}
    saved = tmp_path / "verdict.json"
    verdict.save(saved)
    assert RunVerdict.load(saved).findings == verdict.findings


def test_a_record_that_was_not_promised_is_part_of_the_loss_once_a_consumer_had_it(tmp_path: Path) -> None:
    builder = sent().send("x", 2, acks="1").poll((0, "a"), (1, "b"), (2, "x")).final((0, "a"))
    verdict = judged(tmp_path, builder, **LOST_IN_ALL)
    assert (
        "2 records (t-0 offsets 1 to 2) are gone: 1 acknowledged with acks=all, 2 read by c before." in verdict.headline
    )
    only_read = JournalBuilder().event("run", "r", "begin").send("y", 0).send("x", 1, acks="1")
    verdict = judged(tmp_path / "other", only_read.poll((1, "x")).final((0, "y")))
    assert shown(verdict) == [("consumed-then-vanished", ("ACK-02",))]
    assert verdict.headline == "1 record (t-0 offset 1) is gone: 1 read by c before. Absent from the final read."


def test_a_lost_record_and_the_one_that_took_its_offset_are_one_finding(tmp_path: Path) -> None:
    builder = sent().poll((0, "a"), (1, "b")).partition(5, 2, (5, 4)).send("c", 1).final((0, "a"), (1, "c"))
    first_batch = batch(0, "a", epoch=1)
    logs = {"node_4": first_batch + batch(1, "b", epoch=1), "node_5": first_batch + batch(1, "c", epoch=2)}
    verdict = judged(tmp_path, builder, **logs)
    assert shown(verdict) == [("unseen", ("ACK-01", "ACK-02", "ACK-04", "ACK-06", "HW-03", "SEG-01", "SEG-02"))]
    table = first(verdict).counterexample
    assert table is not None
    assert [row[1:4] for row in table.rows] == [(1, 1, "b"), (1, 2, "c")]
    assert verdict.headline == (
        "1 record (t-0 offset 1) acknowledged with acks=all is gone, read by c before. "
        "Absent from the final read and the log of node-5. All there in the log of node-4. "
        "Other records are at 1 of these offsets. The next leader was 5 (epoch 2, ISR 5, 4), seen at 0.80 s. "
        "It breaks ACK-02, ACK-04, ACK-06, HW-03, SEG-01 and SEG-02, too."
    )


def test_logs_that_lack_a_part_say_how_much(tmp_path: Path) -> None:
    logs = {"node_4": batch(0, "a"), "node_5": batch(0, "a", "b")}
    verdict = judged(tmp_path, sent("c").final((0, "a")), **logs)
    assert "Absent from the final read and the logs of node-4 and node-5 (1 of 2)." in verdict.headline


def test_what_is_wrong_elsewhere_is_a_finding_of_its_own(tmp_path: Path) -> None:
    """`b` is gone; of `a`, which is there, a member of the ISR has another record."""
    verdict = judged(tmp_path, sent().final((0, "a")), node_4=batch(0, "a"), node_5=batch(0, "z"))
    assert [check for check, _ in shown(verdict)] == ["unseen", "committed-kept", "one-content", "replicas-agree"]
    assert first(verdict).requirements == ("ACK-01",)


def test_without_a_final_read_the_loss_is_what_polls_and_logs_lack(tmp_path: Path) -> None:
    builder = sent("c", "d").poll((0, "a"), (2, "c"))
    verdict = judged(tmp_path, builder, **LOST_IN_ALL)
    assert shown(verdict) == [("lost-write", ("ACK-01", "ACK-07", "SEG-01"))]
    assert verdict.headline == (
        "3 records (t-0 offsets 1 to 3) acknowledged with acks=all are gone, 1 of them read by c before. "
        "Absent from the logs of node-4 and node-5. It breaks ACK-07 and SEG-01, too."
    )


def test_records_that_only_an_unfinished_final_read_had_are_counted_without_a_reader(tmp_path: Path) -> None:
    builder = (
        sent("c")
        .send("x", 3, acks="1")
        .poll((0, "a"), reset=True)
        .poll((2, "c"), (3, "x"), process="final", final=True)
    )
    verdict = judged(tmp_path, builder, **LOST_IN_ALL)
    assert "3 records (t-0 offsets 1 to 3) are gone: 2 acknowledged with acks=all. Absent from" in verdict.headline


def test_a_member_that_lacks_what_the_final_read_has_is_no_loss_of_the_cluster(tmp_path: Path) -> None:
    builder = sent().final((0, "a"), (1, "b"))
    verdict = judged(tmp_path, builder, node_4=batch(0, "a", "b"), node_5=batch(0, "a"))
    assert shown(verdict) == [("committed-kept", ("SEG-01", "HW-03"))]
    assert "loss" not in first(verdict).evidence


def test_a_part_that_is_explained_stands_apart_from_a_lead_that_is_not(tmp_path: Path) -> None:
    listed = plan(deviations=[{"difference": "AK-06", "requirement": "ACK-02", "level": "may"}])
    verdict = judged(tmp_path, sent().poll((0, "a"), (1, "b")).final((0, "a")), listed, **LOST_IN_ALL)
    assert shown(verdict) == [("unseen", ("ACK-01", "SEG-01"))]
    [known] = [finding for finding in verdict.shown(Verdict.PASS) if finding.difference]
    assert (known.check, known.part_of) == ("consumed-then-vanished", None)


def test_a_loss_that_is_explained_as_a_whole_names_its_rules_without_breaking_them(tmp_path: Path) -> None:
    rules = ("ACK-01", "ACK-02", "SEG-01")
    listed = plan(deviations=[{"difference": "AK-06", "requirement": each, "level": "may"} for each in rules])
    verdict = judged(tmp_path, sent().poll((0, "a"), (1, "b")).final((0, "a")), listed, **LOST_IN_ALL)
    assert verdict.verdict is Verdict.PASS
    [known] = [finding for finding in verdict.shown(Verdict.PASS) if finding.difference]
    assert known.requirements == rules
    assert "breaks" not in known.message


def test_a_loss_that_was_withdrawn_is_withdrawn_once(tmp_path: Path) -> None:
    builder = sent().poll((0, "a"), (1, "b")).final((0, "a")).event("run", "r", "end")
    verdict = judge(plan(), builder.journal(damaged=(Damage(3, "not an event"),)))
    doubted = [finding for finding in verdict.shown(Verdict.INCONCLUSIVE) if finding.requirement]
    assert [finding.requirements for finding in doubted] == [("ACK-01", "ACK-02")]


@pytest.mark.parametrize(
    ("inner", "outer", "result"),
    [
        ([1, 2], [1, 2, 3], True),
        ([1, 3], [1, 2, 3], True),
        ([1, 2], [1, 3], False),
        ([], [], True),
        ([1], [], False),
    ],
)
def test_an_extent_lies_within_another_by_its_offsets(inner: list[int], outer: list[int], result: bool) -> None:
    at = ("t", 0)
    assert within(extent((at, each) for each in inner), extent((at, each) for each in outer)) is result


def test_an_extent_has_the_ranges_of_each_partition() -> None:
    places = [(("t", 1), 7), (("t", 0), 2), (("t", 0), 1), (("t", 0), 4), (("t", 0), 1)]
    assert extent(places) == {"t-0": [[1, 2], [4, 4]], "t-1": [[7, 7]]}
