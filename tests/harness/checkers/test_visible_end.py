"""An end that goes back, and next to it the answers that only look so."""

from typing import Any

from fencepost.harness.checkers.mechanisms import AffectedRange
from fencepost.harness.checkers.topic_lives import Deletion, read_deletions
from fencepost.harness.checkers.topic_requests import topic_requests
from fencepost.harness.checkers.visible_end import LOGS_FOLLOW, visible_end
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan


def shown(*ends: tuple[int, str, int, float, float], id: str | None = None) -> JournalBuilder:
    """Each end as offset, node, leader epoch, and the times of question and answer."""
    builder = JournalBuilder()
    for offset, node, epoch, asked, answered in ends:
        data: dict[str, Any] = {"what": "end", "topic": "t", "partition": 0, "offset": offset, "leader_epoch": epoch}
        data |= {"asked": asked, "answered": answered} | ({"topic_id": id} if id else {})
        builder.at(answered).event("state", "t-0", "seen", data, node)
    return builder


def judged(*ends: tuple[int, str, int, float, float], **more: Any) -> Finding:
    journal = shown(*ends).journal()
    return visible_end(journal, read_deletions(topic_requests(plan(), journal), journal), **more)


def test_an_end_that_goes_back_at_the_next_leader_is_seen_with_both_answers() -> None:
    finding = judged((100, "node-4", 1, 1.0, 1.1), (90, "node-5", 2, 2.0, 2.1))
    assert (finding.verdict, finding.requirement) == (Verdict.VIOLATION, "HW-01")
    assert finding.counterexample is not None
    assert finding.counterexample.rows == (("t-0", 100, "node-4", 1, "1.10 s", 90, "node-5", 2, "2.10 s"),)
    assert finding.evidence["extent"] == {"t-0": [[90, 99]]}, "the offsets that were shown to have records"


def test_an_end_that_goes_back_at_one_leader_is_seen() -> None:
    finding = judged((100, "node-4", 1, 1.0, 1.1), (100, "node-4", 1, 1.2, 1.3), (0, "node-4", 1, 1.4, 1.5))
    assert finding.verdict is Verdict.VIOLATION


def test_an_end_that_grows_or_stays_is_right() -> None:
    finding = judged((0, "node-4", 1, 1.0, 1.1), (100, "node-5", 2, 2.0, 2.1), (100, "node-4", 3, 3.0, 3.1))
    assert finding.verdict is Verdict.PASS
    assert finding.evidence["judged"] == 2  # the first answer is compared with none


def test_questions_that_crossed_each_other_have_no_order() -> None:
    assert judged((100, "node-4", 1, 1.0, 2.5), (90, "node-5", 2, 2.0, 2.6)).verdict is Verdict.PASS


def test_a_deposed_leader_may_show_less() -> None:
    assert judged((100, "node-5", 2, 1.0, 1.1), (90, "node-4", 1, 2.0, 2.1)).verdict is Verdict.PASS


def test_what_a_known_mechanism_took_is_not_held_against_the_design_and_no_more() -> None:
    ends = ((100, "node-4", 1, 1.0, 1.1), (90, "node-5", 2, 2.0, 2.1))
    taken = AffectedRange(("t", 0), 90, 120, 0.5, "node-5 cut t-0 from 120 to 90")
    less = AffectedRange(("t", 0), 95, 120, 0.5, "node-5 cut t-0 from 120 to 95")
    other = AffectedRange(("t", 1), 0, 120, 0.5, "node-5 cut t-1 from 120 to 0")
    assert judged(*ends, affected=[taken]).verdict is Verdict.PASS
    assert judged(*ends, affected=[less, other]).verdict is Verdict.VIOLATION


def test_the_ends_of_a_topic_that_was_created_again_begin_anew() -> None:
    first, second = (100, "node-4", 1, 1.0, 1.1), (3, "node-4", 1, 4.0, 4.1)
    without_id = shown(first, second).journal()
    assert visible_end(without_id, {"t": [Deletion("t", 2.0, 3.0)]}).verdict is Verdict.PASS
    assert visible_end(without_id, {"u": [Deletion("u", 2.0, 3.0)]}).verdict is Verdict.VIOLATION
    assert visible_end(lives(("one", [first]), ("two", [second])), {}).verdict is Verdict.PASS


def test_an_end_of_a_topic_whose_deletion_is_asked_for_is_of_nothing() -> None:
    """A broker may answer 0 for a topic that is gone. Before the request, and once the topic is back, it may not."""
    ends = shown((100, "node-4", 1, 1.0, 1.1), (0, "node-4", 1, 2.1, 2.2), id="one").journal()
    assert visible_end(ends, {"t": [Deletion("t", 2.0, 2.5)]}).verdict is Verdict.PASS
    assert visible_end(ends, {"t": [Deletion("t", 2.3, 2.5)]}).verdict is Verdict.VIOLATION
    assert visible_end(ends, {"t": [Deletion("t", 0.2, 0.3, back=0.5)]}).verdict is Verdict.VIOLATION


def lives(*ends_by_id: tuple[str, list[tuple[int, str, int, float, float]]]) -> Journal:
    """The ends of a topic that was deleted and created again, by its ids."""
    builder = JournalBuilder()
    for id, ends in ends_by_id:
        builder.events += shown(*ends, id=id).events
    return builder.journal()


def test_an_end_that_a_broker_shows_as_the_id_of_a_topic_changes_there_may_be_of_either_log() -> None:
    """It learns of the new topic before its logs are changed, and ListOffsets has the name only."""
    old, still_old = (100, "node-4", 1, 1.0, 1.1), (100, "node-4", 1, 6.0, 6.1)
    new, more = (0, "node-4", 1, 6.2, 6.3), (8, "node-4", 1, 20.0, 20.1)
    finding = visible_end(lives(("one", [old]), ("two", [still_old, new, more])), {})
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 0)


def test_an_end_of_a_topic_that_was_created_again_must_not_go_back_either() -> None:
    old, first = (100, "node-4", 1, 1.0, 1.1), (100, "node-4", 1, 6.0, 6.1)
    settled = 6.1 + LOGS_FOLLOW
    shown_before = (40, "node-4", 1, settled, settled + 0.1)
    for node, epoch in (("node-4", 1), ("node-5", 2)):
        start = (30, node, epoch, 6.5, 6.6)
        lower = (30, node, epoch, settled + 7, settled + 7.1)
        broken = visible_end(lives(("one", [old]), ("two", [first, start, shown_before, lower])), {})
        assert broken.verdict is Verdict.VIOLATION
    once = visible_end(lives(("one", [first, (30, "node-4", 1, 6.2, 6.3)])), {})
    assert once.verdict is Verdict.VIOLATION, "no other id has been there"
