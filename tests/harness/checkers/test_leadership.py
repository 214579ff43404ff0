import pytest

from fencepost.harness.checkers.control import read_control
from fencepost.harness.checkers.leadership import (
    epochs_outlive_topics,
    lawful_isr,
    leader_epochs_grow,
    one_controller,
    one_leader,
)
from fencepost.harness.checkers.topics_at_end import TopicsAtEnd
from fencepost.harness.plan.dialect import Dialect
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.journal_builder import JournalBuilder

ASSIGNED = {("t", 0): (4, 5, 6)}


def test_lawful_leadership_passes_and_says_over_what() -> None:
    builder = JournalBuilder().partition(4, 1, [4, 5, 6]).partition(-1, 2, [4]).partition(5, 3, [5]).controller(1, 1)
    builder.partition(4, 1, [4, 5, 6], seen_by="").partition(5, 3, [5], seen_by="")
    control = read_control(builder.controller(2, 2).controller(-1, 2).journal())
    findings = [
        one_leader(control),
        leader_epochs_grow(control),
        lawful_isr(control, ASSIGNED),
        one_controller(control),
    ]
    assert {finding.verdict for finding in findings} == {Verdict.PASS}
    assert [finding.evidence["judged"] for finding in findings] == [2, 3, 5, 2]


def test_what_brokers_alone_say_of_leaders_shows_no_rule_to_hold() -> None:
    builder = JournalBuilder().partition(4, 1, [4, 5]).partition(4, 1, [4, 5], seen_by="node-5").partition(5, 2, [5])
    control = read_control(builder.journal())
    for finding in (one_leader(control), leader_epochs_grow(control), lawful_isr(control, ASSIGNED)):
        assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 0)


def test_two_leaders_in_one_epoch_are_seen_across_nodes() -> None:
    builder = JournalBuilder().partition(4, 1, [4]).partition(5, 1, [5], seen_by="node-5")
    finding = one_leader(read_control(builder.journal()))
    assert finding.verdict is Verdict.VIOLATION
    assert finding.counterexample is not None
    assert finding.counterexample.rows == (("t-0", 1, 4, "node-4", "0.10 s", 5, "node-5", "0.20 s"),)


def test_two_leaders_at_one_time_in_two_epochs_are_lawful() -> None:
    builder = JournalBuilder().partition(4, 1, [4]).partition(5, 2, [5], seen_by="node-5").partition(4, 1, [4])
    assert one_leader(read_control(builder.journal())).verdict is Verdict.PASS


def test_a_leader_epoch_that_goes_back_in_one_nodes_sight_is_seen() -> None:
    builder = JournalBuilder().partition(4, 2, [4]).partition(4, 1, [4])
    assert leader_epochs_grow(read_control(builder.journal())).verdict is Verdict.VIOLATION


def test_an_unknown_leader_epoch_is_none_to_compare() -> None:
    builder = JournalBuilder().partition(4, 0, [4]).partition(4, -1, [4]).partition(5, -1, [5], seen_by="node-5")
    control = read_control(builder.partition(5, 1, [5]).journal())
    assert leader_epochs_grow(control).verdict is Verdict.PASS
    assert one_leader(control).verdict is Verdict.PASS
    assert [view.leader_epoch for view in control.newest().of(("t", 0))] == [0, 1]
    assert leader_epochs_grow(read_control(builder.partition(4, 0, [4]).journal())).verdict is Verdict.VIOLATION


def test_what_the_decided_state_says_is_named_as_such() -> None:
    decided = JournalBuilder().partition(4, 2, [4], seen_by="").partition(5, 1, [6], seen_by="")
    twice = JournalBuilder().partition(4, 2, [4], seen_by="").partition(5, 2, [5], seen_by="")
    two_controllers = JournalBuilder().controller(1, 1, seen_by="").controller(2, 1, seen_by="")
    back = leader_epochs_grow(read_control(decided.journal()))
    assert back.message == "The leader epoch of t-0 went back from 2 to 1 in the decided state."
    for finding in (
        back,
        one_leader(read_control(twice.journal())),
        lawful_isr(read_control(decided.journal()), ASSIGNED),
        one_controller(read_control(two_controllers.journal())),
    ):
        assert finding.counterexample is not None
        assert "" not in finding.counterexample.rows[0]
        assert "the decided state" in finding.counterexample.rows[0]


def test_a_lagging_node_or_a_restarted_one_may_name_an_older_epoch() -> None:
    lagging = JournalBuilder().partition(4, 2, [4]).partition(4, 1, [4], seen_by="node-5")
    restarted = JournalBuilder().partition(4, 2, [4]).event("node", "node-4", "started", {"pid": 7}, "node-4")
    assert leader_epochs_grow(read_control(lagging.journal())).verdict is Verdict.PASS
    assert leader_epochs_grow(read_control(restarted.partition(4, 1, [4]).journal())).verdict is Verdict.PASS


def test_an_isr_with_a_stranger_is_seen() -> None:
    finding = lawful_isr(read_control(JournalBuilder().partition(4, 1, [4, 7]).journal()), ASSIGNED)
    assert finding.verdict is Verdict.VIOLATION
    assert finding.counterexample is not None
    assert "7 not assigned" in finding.counterexample.rows[0]


def test_the_assignment_that_a_view_itself_tells_goes_first() -> None:
    builder = JournalBuilder().partition(4, 1, [4, 7], replicas=[4, 7])
    assert lawful_isr(read_control(builder.journal()), ASSIGNED).verdict is Verdict.PASS


def test_a_replica_that_was_assigned_later_is_lawful_in_views_without_the_assignment() -> None:
    builder = JournalBuilder().partition(4, 1, [4, 7], replicas=[4, 7], seen_by="log").partition(4, 1, [4, 7])
    assert lawful_isr(read_control(builder.journal()), ASSIGNED).verdict is Verdict.PASS


def test_an_isr_without_its_leader_is_seen() -> None:
    assert (
        lawful_isr(read_control(JournalBuilder().partition(4, 1, [5]).journal()), ASSIGNED).verdict is Verdict.VIOLATION
    )


MOVED = [5, 6]


def moved(*later: tuple[int, int, list[int]]) -> Verdict:
    """The partition moves away from its leader, 4; then leader, epoch and ISR as given."""
    builder = JournalBuilder().partition(4, 1, [4, 5, 6], seen_by="", replicas=[4, 5, 6])
    for leader, epoch, isr in ((4, 1, [5, 6, 4]), *later):
        builder.partition(leader, epoch, isr, seen_by="", replicas=MOVED)
    return lawful_isr(read_control(builder.journal()), {}, Dialect.LEADER_DRIVEN).verdict


def test_the_old_leader_of_a_move_may_outlast_its_assignment_until_the_next_leader_has_an_isr_of_its_own() -> None:
    assert moved((-1, 1, [5, 6, 4]), (5, 2, [5, 6, 4]), (5, 2, [5, 6])) is Verdict.PASS
    assert moved((-1, 1, [5, 6, 4])) is Verdict.PASS


def test_a_replica_that_is_no_longer_assigned_may_not_come_back_or_stay_for_ever() -> None:
    assert moved((5, 2, [5, 6]), (5, 2, [5, 6, 4]), (5, 2, [5, 6])) is Verdict.VIOLATION
    assert moved((5, 2, [5, 6, 4])) is Verdict.VIOLATION
    assert moved((5, 2, [5, 6, 7]), (5, 2, [5, 6])) is Verdict.VIOLATION


def test_two_active_controllers_in_one_epoch_are_seen() -> None:
    builder = JournalBuilder().controller(1, 7).controller(2, 7, seen_by="node-2")
    assert one_controller(read_control(builder.journal())).verdict is Verdict.VIOLATION


def test_the_view_of_the_newest_epoch_is_what_the_cluster_had_decided() -> None:
    builder = JournalBuilder().partition(4, 1, [4, 5]).partition(5, 2, [5], seen_by="node-5").partition(4, 1, [4])
    views = read_control(builder.journal()).newest()
    newest = views.at(("t", 0), 1.0)
    earlier = views.at(("t", 0), 0.15)
    assert newest is not None
    assert newest.leader == 5
    assert earlier is not None
    assert earlier.isr == (4, 5)
    assert views.at(("t", 0), 0.05) is None


def test_a_partition_without_a_leader_and_without_a_known_assignment_is_not_judged() -> None:
    builder = JournalBuilder().partition(-1, 1, [4], seen_by="").partition(4, 2, [4], seen_by="")
    finding = lawful_isr(read_control(builder.journal()), {})
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 1)


def test_views_of_other_things_and_deletions_that_a_broker_reports_change_no_history() -> None:
    gone = {"what": "partition-gone", "topic": "t", "partition": 0}
    builder = JournalBuilder().event("state", "node-4", "seen", {"what": "answer", "state": "serving"}, "node-4")
    builder.partition(4, 1, [4]).event("state", "t-0", "seen", gone, "node-5").partition(4, 1, [4])
    control = read_control(builder.journal())
    assert (len(control.partitions), control.deleted) == (2, frozenset())
    assert {view.life for view in control.partitions} == {0}


def made_again(*states: tuple[str, int, int]) -> JournalBuilder:
    """The decided states of partitions: the topic's id, the number, the leader epoch."""
    builder = JournalBuilder()
    for id, number, epoch in states:
        data = {"what": "partition", "topic": "t", "partition": number, "leader": 4, "leader_epoch": epoch, "isr": [4]}
        builder.event("state", "log", "seen", data | {"topic_id": id})
    return builder


@pytest.mark.requirement("D631-17")
@pytest.mark.parametrize("begins", [0, 2, 3])
def test_a_topic_made_again_that_begins_at_an_earlier_epoch_is_seen(begins: int) -> None:
    control = read_control(made_again(("a", 0, 1), ("a", 1, 3), ("b", 0, 4), ("b", 1, begins), ("b", 1, 9)).journal())
    [finding] = epochs_outlive_topics(control, TopicsAtEnd())
    assert (finding.verdict, finding.evidence["judged"], finding.evidence["wrong"]) == (Verdict.VIOLATION, 2, 1)
    assert f"t-1 of a topic made again began at leader epoch {begins}" in finding.message
    assert "t-1 of the earlier topic had reached 3" in finding.message
    [finding] = epochs_outlive_topics(control, TopicsAtEnd(forgotten_by="wiped"))
    assert finding.verdict is Verdict.INCONCLUSIVE


def test_a_topic_made_again_begins_above_the_earlier_epochs_on_the_draft_alone() -> None:
    control = read_control(made_again(("a", 0, 3), ("b", 0, 4), ("b", 1, 4), ("b", 0, 6), ("c", 0, 7)).journal())
    [finding] = epochs_outlive_topics(control, TopicsAtEnd())
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 3)
    anew = read_control(made_again(("a", 0, 3), ("b", 0, 0)).journal())
    assert epochs_outlive_topics(anew, TopicsAtEnd(), Dialect.KRAFT) == []


def test_leader_epochs_of_another_topic_are_none_to_compare() -> None:
    builder = JournalBuilder().partition(4, 7, [4], seen_by="").partition(4, 0, [4], seen_by="", topic="u")
    [finding] = epochs_outlive_topics(read_control(builder.journal()), TopicsAtEnd())
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 0)
