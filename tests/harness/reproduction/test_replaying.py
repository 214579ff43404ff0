"""Replays are counted, and it is said how sure the rate is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.harness.engine.run import RunInterrupt
from fencepost.harness.errors import UsageError
from fencepost.harness.plan import dump_plan
from fencepost.harness.plan.model import Plan
from fencepost.harness.reproduction.replaying import Original, Replays, replay, wilson
from fencepost.harness.reproduction.signature import FailureSignature
from fencepost.results.records.folder import FolderError, Manifest, RunFolder
from fencepost.results.records.replay_command import replay_command
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict
from tests.harness.checkers.plans import plan


@pytest.mark.parametrize(
    ("hits", "runs", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0000, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_interval_is_that_of_the_literature(hits: int, runs: int, low: float, high: float) -> None:
    """Newcombe, Two-sided confidence intervals for the single proportion, 1998, table I, method 3."""
    assert wilson(hits, runs) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 200), st.data())
def test_the_interval_holds_what_was_seen_and_mirrors(runs: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, runs))
    low, high = wilson(hits, runs)
    assert 0 <= low <= (hits / runs if runs else 0.5) <= high <= 1
    assert wilson(runs - hits, runs) == pytest.approx((1 - high, 1 - low))


def test_a_count_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="3 of 2 runs is not a count"):
        wilson(3, 2)


def found(kind: Verdict, *rules: str, check: str = "expectations") -> RunVerdict:
    findings = tuple(Finding(kind, check, "t", "s", requirement=rule) for rule in rules)
    return RunVerdict(kind, "h", "s", "quorum", "0", 1.0, 9, 0, findings)


LOST = found(Verdict.VIOLATION, "ACK-01", "SEG-01")


def test_a_failure_is_the_same_if_it_breaks_one_of_the_same_rules() -> None:
    failure = FailureSignature.of(LOST)
    assert failure.shows_in(FailureSignature.of(found(Verdict.VIOLATION, "SEG-01", "HW-03")))
    assert not failure.shows_in(FailureSignature.of(found(Verdict.VIOLATION, "HW-03")))
    assert not failure.shows_in(FailureSignature.of(found(Verdict.INCONCLUSIVE, "ACK-01")))
    assert not failure.shows_in(FailureSignature.of(found(Verdict.VIOLATION, "ACK-01", check="deviation")))
    assert not failure.only(frozenset({"ACK-01"})).shows_in(FailureSignature.of(found(Verdict.VIOLATION, "SEG-01")))
    assert str(failure) == "violation ACK-01 SEG-01"


def replays(failure: RunVerdict | None, wanted: int) -> Replays:
    signature = FailureSignature.of(failure) if failure is not None else None
    original = Original(plan(), Path("runs/r"), Path("runs"), None, signature)
    return Replays(original, wanted, "process")


def play(played: Replays, verdicts: Sequence[RunVerdict]) -> Replays:
    left: Iterator[RunVerdict] = iter(verdicts)

    def run(made: Plan) -> tuple[RunFolder, RunVerdict]:
        folder, verdict = RunFolder(Path("runs/r-2")), next(left, None)
        if verdict is None:
            raise RunInterrupt(folder, found(Verdict.INFRASTRUCTURE))
        return folder, verdict

    list(replay(played, run))
    return played


def test_it_is_said_how_many_of_those_that_say_something_failed_as_before() -> None:
    others = [found(Verdict.PASS), found(Verdict.INFRASTRUCTURE, "x"), found(Verdict.VIOLATION, "HW-03")]
    played = play(replays(LOST, 6), [LOST, *others, found(Verdict.VIOLATION, "ACK-01"), found(Verdict.INCONCLUSIVE)])
    assert played.message() == (
        "2 of 5 failed as before (95 % interval 12% to 77%): 1 pass, 3 violation, 1 infrastructure, 1 inconclusive"
    )
    assert dict(played.broken) == {"ACK-01": 2, "SEG-01": 1}
    assert (played.worst, played.interrupted) == (Verdict.VIOLATION, False)
    document = json.loads(json.dumps(played.to_json()))
    assert (document["k"], document["n"], len(document["runs"])) == (2, 5, 6)
    assert document["replay"] == "fencepost replay runs/r"


def test_of_a_plan_without_an_earlier_run_violations_are_counted() -> None:
    played = play(replays(None, 2), [LOST, found(Verdict.PASS)])
    assert played.message().startswith("1 of 2 failed (95 % interval ")


def test_an_interrupt_leaves_what_there_is() -> None:
    played = play(replays(LOST, 20), [LOST, LOST])
    assert (len(played.done), played.hits, played.interrupted) == (2, 2, True)
    none = play(replays(LOST, 20), [])
    assert (none.worst, none.message()) == (
        Verdict.INFRASTRUCTURE,
        "no run says anything about the target: no run came to its end",
    )


def test_infrastructure_that_comes_again_is_counted() -> None:
    broken = found(Verdict.INFRASTRUCTURE, "x")
    assert play(replays(broken, 2), [broken, found(Verdict.PASS)]).message().startswith("1 of 2 failed as before")


def test_what_is_replayed_is_read_from_a_folder_or_from_a_plan_file_alone(tmp_path: Path) -> None:
    folder = RunFolder.create_at(tmp_path / "runs" / "r")
    folder.plan.write_text(dump_plan(plan()))
    LOST.save(folder.verdict)
    Manifest("r", "s", "quorum", "1", "docker", 1, "0", 0.0).save(folder.manifest)
    original = Original.read(folder.path)
    assert (original.plan, original.backend, original.runs) == (plan(), "docker", tmp_path / "runs")
    assert original.failure == FailureSignature.of(LOST)
    assert original.planted_defect == ""
    alone = Original.read(folder.plan, tmp_path)
    assert (alone.plan, alone.backend, alone.failure) == (plan(), None, None)


def test_a_run_with_a_planted_defect_is_replayed_with_it(tmp_path: Path) -> None:
    folder = RunFolder.create_at(tmp_path / "r")
    folder.plan.write_text(dump_plan(plan()))
    Manifest("r", "s", "quorum", "1", "process", 1, "0", 0.0, planted_defect="no_self_fence").save(folder.manifest)
    assert Original.read(folder.path).planted_defect == "no_self_fence"


def test_what_cannot_be_replayed_is_said_in_a_message(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no run folder"):
        Original.read(tmp_path / "nothing")
    folder = RunFolder.create_at(tmp_path / "r")
    folder.plan.write_text(dump_plan(plan()))
    folder.verdict.write_text("{}")
    with pytest.raises(FolderError, match=r"verdict\.json is not a verdict that this version can read"):
        Original.read(folder.path)


def test_the_command_can_be_pasted() -> None:
    assert replay_command(RunFolder(Path("my runs/r"))) == "fencepost replay 'my runs/r'"
