"""Each log by itself: epochs, checkpoints, torn ends."""

from pathlib import Path

import pytest

from fencepost.harness.checkers.log_files import checkpoints_within_log, log_epochs_grow, torn_tails
from fencepost.harness.checkers.replica_logs import read_replicas
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.logs import batch, write_checkpoint, write_log
from tests.harness.checkers.plans import plan

PASS, VIOLATION = Verdict.PASS, Verdict.VIOLATION


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The folder of t-0 on node-4, with three batches that end at offset 4."""
    folder = tmp_path / "node-4" / "data" / "t-0"
    write_log(folder, batch(0, "a", epoch=1), batch(1, "b", "c", epoch=1), batch(3, "d", epoch=4))
    return folder


def judged(log: Path, builder: JournalBuilder | None = None) -> tuple[Finding, Finding, Finding]:
    """Epochs, checkpoints, tails."""
    replicas, journal = read_replicas(plan(), log.parents[2]), (builder or JournalBuilder()).journal()
    return log_epochs_grow(replicas), checkpoints_within_log(replicas, journal), torn_tails(replicas, journal)


@pytest.mark.requirement("SEG-03")
def test_epochs_that_only_grow_hold(log: Path) -> None:
    epochs, checkpoints, tails = judged(log)
    assert {epochs.verdict, checkpoints.verdict, tails.verdict} == {PASS}
    assert epochs.evidence["judged"] == 2  # steps from one batch to the next


@pytest.mark.requirement("SEG-03")
def test_an_epoch_that_goes_back_is_shown_where_it_does(log: Path) -> None:
    write_log(log, batch(4, "e", epoch=3), name="00000000000000000004.log")
    epochs, _, _ = judged(log)
    assert epochs.verdict is VIOLATION
    assert epochs.message == "In t-0 on node-4 epoch 3 at offset 4 follows epoch 4 at offset 3."


@pytest.mark.requirement("SEG-04")
@pytest.mark.parametrize(("offset", "verdict"), [(0, PASS), (4, PASS), (5, VIOLATION)])
def test_a_high_watermark_lies_within_its_log(log: Path, offset: int, verdict: Verdict) -> None:
    write_checkpoint(log.parent / "replication-offset-checkpoint", [f"t 0 {offset}", "gone 0 99"])
    assert judged(log)[1].verdict is verdict


@pytest.mark.requirement("SEG-04")
@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        (["1 0", "4 3"], PASS),
        (["1 0", "4 3", "5 4"], PASS),
        (["1 0", "5 5"], VIOLATION),
        (["1 0", "1 3"], VIOLATION),
        (["1 3", "4 0"], VIOLATION),
        (["one 0"], VIOLATION),
    ],
    ids=["as it is", "an epoch without a record", "beyond the end", "twice", "backwards", "no number"],
)
def test_the_leader_epochs_of_a_log_lie_within_it(log: Path, rows: list[str], verdict: Verdict) -> None:
    write_checkpoint(log / "leader-epoch-checkpoint", rows)
    assert judged(log)[1].verdict is verdict


@pytest.mark.requirement("SEG-04")
@pytest.mark.parametrize(
    ("events", "verdict"),
    [
        (["killed"], PASS),
        (["exited"], PASS),
        (["killed", "started"], VIOLATION),
        (["stopped"], VIOLATION),
        ([], VIOLATION),
    ],
    ids=["killed", "crashed", "started again", "shut down orderly", "to the end of the run"],
)
def test_a_process_that_was_cut_short_may_have_noted_an_epoch_and_not_its_batch(
    log: Path, events: list[str], verdict: Verdict
) -> None:
    write_checkpoint(log / "leader-epoch-checkpoint", ["1 0", "4 3", "10 35"])
    builder = JournalBuilder()
    for phase in events:
        builder.event("node", "node-4", phase, {"exit_code": 0 if phase == "stopped" else 1}, node="node-4")
    assert judged(log, builder)[1].verdict is verdict


@pytest.mark.requirement("SEG-05")
def test_a_torn_end_is_allowed_after_a_kill_and_counted(log: Path) -> None:
    write_log(log, batch(4, "e")[:-3], name="00000000000000000004.log")
    _, _, tails = judged(log, JournalBuilder().event("node", "node-4", "killed", node="node-4"))
    assert tails.verdict is PASS
    assert tails.evidence["torn"] == {"node-4 t-0": len(batch(4, "e")) - 3}
    assert "1 ends torn by kill -9" in tails.message


@pytest.mark.requirement("SEG-05")
def test_a_process_that_ended_orderly_leaves_no_torn_end(log: Path) -> None:
    write_log(log, batch(4, "e")[:-3], name="00000000000000000004.log")
    _, _, tails = judged(log, JournalBuilder().event("node", "node-4", "stopped", {"exit_code": 0}, node="node-4"))
    assert tails.verdict is VIOLATION


@pytest.mark.requirement("SEG-05")
@pytest.mark.parametrize(
    "rest",
    [(batch(4, "e", right=False), batch(5, "f")), (batch(3, "e"),)],
    ids=["a wrong checksum in the middle", "an offset twice"],
)
def test_damage_in_the_middle_is_never_allowed(log: Path, rest: tuple[bytes, ...]) -> None:
    write_log(log, *rest, name="00000000000000000004.log")
    assert judged(log)[2].verdict is VIOLATION


def test_a_torn_segment_that_others_follow_is_damage(log: Path) -> None:
    write_log(log, batch(4, "e")[:-3], name="00000000000000000004.log")
    write_log(log, batch(5, "f"), name="00000000000000000005.log")
    assert judged(log)[2].verdict is VIOLATION


def test_the_log_of_the_controllers_is_not_judged(log: Path) -> None:
    write_log(log.parent / "__cluster_metadata-0", batch(0, "a", epoch=2), batch(1, "b", epoch=1))
    assert judged(log)[0].verdict is PASS


@pytest.mark.requirement("SEG-04")
def test_a_checkpoint_of_high_watermarks_that_cannot_be_read_is_a_violation(log: Path) -> None:
    (log.parent / "replication-offset-checkpoint").write_text("9\n")
    checkpoints = judged(log)[1]
    assert checkpoints.verdict is VIOLATION
    assert "replication-offset-checkpoint of unreadable" not in checkpoints.message
    assert checkpoints.counterexample is not None
    assert "is not a checkpoint of version 0" in checkpoints.counterexample.rows[0][-1]
