"""Elections take new epochs, no old controller writes, and topics of one name are distinguished."""

from __future__ import annotations

from typing import Any

from fencepost.harness.checkers.control import ControlHistory, read_control
from fencepost.harness.checkers.leadership import leader_epochs_grow, one_leader
from fencepost.harness.checkers.zookeeper import controller_epochs_grow, no_old_controller_writes
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.journal_builder import JournalBuilder


def elections(*claims: tuple[int, int]) -> ControlHistory:
    """Holder and epoch as ZooKeeper has them, one after another; holder -1: none."""
    builder = JournalBuilder()
    for active, epoch in claims:
        builder.event("state", "log", "seen", {"what": "controller", "active": active, "epoch": epoch})
    return read_control(builder.journal())


def state(builder: JournalBuilder, epoch: int, *, by: str | None = None, **more: Any) -> JournalBuilder:
    data = {"what": "partition", "topic": "t", "partition": 0, "leader": 4, "leader_epoch": epoch, "isr": [4]}
    return builder.event("state", by or "log", "seen", data | more, by)


def test_elections_at_new_epochs_pass() -> None:
    finding = controller_epochs_grow(elections((4, 1), (5, 2), (-1, 2), (5, 3)))
    assert finding.verdict is Verdict.PASS
    assert finding.evidence["judged"] == 2


def test_an_election_at_an_epoch_that_was_taken_is_seen() -> None:
    finding = controller_epochs_grow(elections((4, 1), (-1, 1), (4, 1)))
    assert finding.verdict is Verdict.VIOLATION
    assert finding.requirement == "INT-64"


def test_a_controller_epoch_that_goes_back_is_seen() -> None:
    assert controller_epochs_grow(elections((4, 2), (5, 1))).verdict is Verdict.VIOLATION


def test_a_state_of_an_older_controller_after_that_of_a_newer_is_seen() -> None:
    builder = state(state(JournalBuilder(), 1, controller_epoch=2), 2, controller_epoch=1)
    finding = no_old_controller_writes(read_control(builder.journal()))
    assert finding.verdict is Verdict.VIOLATION
    assert finding.requirement == "DINT-04"


def test_a_leaders_own_write_names_the_controller_epoch_it_received() -> None:
    builder = state(state(JournalBuilder(), 1, controller_epoch=1), 1, controller_epoch=1)
    assert no_old_controller_writes(read_control(builder.journal())).verdict is Verdict.PASS


def test_a_topic_created_again_begins_anew() -> None:
    builder = state(state(JournalBuilder(), 7, topic_id="a"), 0, topic_id="b", leader=5)
    state(builder, 7, topic_id="a", by="node-4")
    state(builder, 0, topic_id="b", by="node-4", leader=5)
    control = read_control(builder.journal())
    assert leader_epochs_grow(control).verdict is Verdict.PASS
    assert one_leader(control).verdict is Verdict.PASS
    newest = control.newest().at(("t", 0), builder.t)
    assert newest is not None
    assert (newest.life, newest.leader_epoch) == (1, 0)


def test_what_comes_back_of_a_deleted_topic_is_seen() -> None:
    builder = state(state(JournalBuilder(), 0, topic_id="b", by="node-4"), 7, topic_id="a", by="node-5")
    state(state(builder, 0, topic_id="b"), 9, topic_id="b", by="node-4")
    state(builder, 8, topic_id="b", by="node-4")
    assert leader_epochs_grow(read_control(builder.journal())).verdict is Verdict.VIOLATION


def test_without_ids_only_what_was_decided_tells_the_topics_apart() -> None:
    builder = state(state(JournalBuilder(), 7), 7, by="node-4")
    builder.event("state", "log", "seen", {"what": "partition-gone", "topic": "t", "partition": 0})
    state(state(builder, 0), 0, by="node-4")
    control = read_control(builder.journal())
    assert [view.life for view in control.partitions if view.observer == ""] == [0, 1]
    assert [view.leader_epoch for view in control.partitions if view.observer == "node-4"] == [7]
    assert leader_epochs_grow(control).verdict is Verdict.PASS


def test_an_election_that_is_seen_again_is_one_election() -> None:
    finding = controller_epochs_grow(elections((4, 1), (4, 1), (5, 2)))
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 1)


def test_a_broker_s_opinion_of_the_controller_is_no_election() -> None:
    builder = JournalBuilder().controller(4, 2, seen_by="node-4").controller(5, 1, seen_by="node-5")
    assert controller_epochs_grow(read_control(builder.journal())).evidence["judged"] == 0


def test_only_decided_states_name_a_controller_epoch() -> None:
    builder = state(state(JournalBuilder(), 1, controller_epoch=2), 1, by="node-4", controller_epoch=1)
    state(builder, 2, controller_epoch=2)
    finding = no_old_controller_writes(read_control(state(builder, 1).journal()))
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 1)
