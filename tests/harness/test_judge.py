import pytest

from harness.checkers import expectations
from harness.judge import judge
from results.records.journal import Damage
from results.records.verdict import Basis, Finding, RunVerdict, Verdict
from tests.harness.checkers.plans import plan
from tests.harness.checkers.story import Story

DAMAGE = (Damage(3, "not an event"),)


@pytest.fixture(autouse=True)
def claims(monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    """What the steps' expectations are found to be; empty unless a test adds something."""
    found: list[Finding] = []
    monkeypatch.setattr(expectations, "check", lambda plan, journal: list(found))
    return found


def served_after_a_fault(at: float = 0.5) -> Finding:
    return Finding(
        verdict=Verdict.VIOLATION,
        check="expectations",
        title="A fenced broker serves",
        sentence="node-4 served after its lease had ended.",
        requirement="K631-13",
        level="never",
        at=at,
        basis=Basis.FAULT,
    )


def good() -> Story:
    return Story().event("run", "r", "begin").send("p-0", 0).poll((0, "p-0")).final((0, "p-0"))


def lost() -> Story:
    return Story().event("run", "r", "begin").send("p-0", 0).send("p-1", 1).final((1, "p-1"))


def ended(story: Story) -> Story:
    return story.event("run", "r", "end")


def of_check(verdict: RunVerdict, check: str) -> Finding:
    [finding] = [finding for finding in verdict.findings if finding.check == check]
    return finding


def test_a_run_in_which_everything_held_passes() -> None:
    verdict = judge(plan(), ended(good()).journal())
    assert verdict.verdict is Verdict.PASS, verdict.headline
    assert {finding.verdict for finding in verdict.findings} == {Verdict.PASS}


def test_the_same_journal_is_judged_the_same() -> None:
    journal = ended(lost()).journal()
    assert judge(plan(), journal).to_json() == judge(plan(), journal).to_json()


def test_a_lost_record_is_a_violation_and_the_headline() -> None:
    verdict = judge(plan(), ended(lost()).journal())
    assert verdict.verdict is Verdict.VIOLATION
    assert verdict.headline == of_check(verdict, "unseen").sentence


def test_a_run_cut_short_is_infrastructure() -> None:
    verdict = judge(plan(), good().journal(torn=1))
    assert verdict.verdict is Verdict.INFRASTRUCTURE
    assert verdict.torn == 1


def test_a_torn_tail_of_a_finished_run_takes_nothing_back() -> None:
    assert judge(plan(), ended(good()).journal(torn=1)).verdict is Verdict.PASS


def test_the_harness_can_say_that_a_run_is_worth_nothing(claims: list[Finding]) -> None:
    claims.append(served_after_a_fault())
    note = {"what": "infrastructure", "sentence": "node-4 spoke to node-5 past its link."}
    verdict = judge(plan(), ended(good().event("note", "audit", "seen", note)).journal())
    assert verdict.verdict is Verdict.INFRASTRUCTURE
    assert verdict.headline == note["sentence"]
    withdrawn = of_check(verdict, "expectations")
    assert withdrawn.verdict is Verdict.INCONCLUSIVE
    assert note["sentence"] in withdrawn.sentence


def test_a_lost_record_is_held_against_the_target_whatever_the_links_did() -> None:
    note = {"what": "infrastructure", "sentence": "node-4 spoke to node-5 past its link."}
    verdict = judge(plan(), ended(lost().event("note", "audit", "seen", note)).journal())
    assert verdict.verdict is Verdict.VIOLATION


def test_a_damaged_journal_proves_no_loss() -> None:
    verdict = judge(plan(), ended(lost()).journal(damaged=DAMAGE))
    assert verdict.verdict is Verdict.INFRASTRUCTURE
    assert of_check(verdict, "lost-write").verdict is Verdict.INCONCLUSIVE
    assert "line 3" in verdict.headline


def test_two_records_at_one_offset_are_a_violation_even_in_a_damaged_journal() -> None:
    story = good().poll((0, "other"), process="d")
    assert judge(plan(), ended(story).journal(damaged=DAMAGE)).verdict is Verdict.VIOLATION


@pytest.mark.parametrize(("begun", "doubtful"), [("intent", "unproven"), ("recovering", "unhealed")])
def test_what_shows_after_a_fault_that_was_not_proven_is_not_held_against_the_target(
    claims: list[Finding], begun: str, doubtful: str
) -> None:
    story = good().at(5.0).event("fault", "cut", begun).event("fault", "cut", doubtful, {"how": "it answered"})
    claims.append(served_after_a_fault(at=6.0))
    verdict = judge(plan(), ended(story).journal())
    assert verdict.verdict is Verdict.INCONCLUSIVE
    assert "it answered" in of_check(verdict, "faults").sentence


@pytest.mark.parametrize(
    ("end", "verdict"),
    [("intent", Verdict.INFRASTRUCTURE), ("recovering", Verdict.INFRASTRUCTURE), ("healed", Verdict.VIOLATION)],
)
def test_what_is_missing_in_a_run_that_was_broken_off_may_be_a_fault_s_doing(end: str, verdict: Verdict) -> None:
    story = Story().event("run", "r", "begin").event("fault", "emptied", "intent").event("fault", "emptied", end)
    story = story.send("p-0", 0).send("p-1", 1).final((1, "p-1"))
    story = story.event("note", "harness", "seen", {"what": "infrastructure", "sentence": "the run was interrupted"})
    assert judge(plan(), ended(story).journal()).verdict is verdict


def test_what_is_missing_in_a_run_that_came_to_its_end_stands() -> None:
    story = lost().event("fault", "emptied", "intent").event("step", "end:converge", "begin")
    assert judge(plan(), ended(story).journal()).verdict is Verdict.VIOLATION


def test_what_showed_before_a_doubtful_fault_stands(claims: list[Finding]) -> None:
    story = good().at(5.0).event("fault", "cut", "intent").event("fault", "cut", "unproven")
    claims.append(served_after_a_fault(at=4.0))
    assert judge(plan(), ended(story).journal()).verdict is Verdict.VIOLATION


def test_what_showed_before_a_node_died_by_itself_stands(claims: list[Finding]) -> None:
    died = Finding(Verdict.INFRASTRUCTURE, "nodes", "A node ended by itself", "node-4 ended.", at=5.0)
    claims += [served_after_a_fault(at=4.0), died]
    assert judge(plan(), ended(good()).journal()).verdict is Verdict.VIOLATION
    claims[0] = served_after_a_fault(at=6.0)
    assert judge(plan(), ended(good()).journal()).verdict is Verdict.INFRASTRUCTURE


def test_a_workload_of_which_nothing_was_acknowledged_is_inconclusive() -> None:
    verdict = judge(plan(), ended(Story().event("run", "r", "begin").send("p-0", outcome="info")).journal())
    assert verdict.verdict is Verdict.INCONCLUSIVE
    assert of_check(verdict, "produced").evidence["judged"] == 0


def test_without_a_final_read_the_run_is_inconclusive() -> None:
    story = Story().event("run", "r", "begin").send("p-0", 0).poll((0, "p-0"))
    assert judge(plan(), ended(story).journal()).verdict is Verdict.INCONCLUSIVE


def test_coverage_that_is_not_met_is_inconclusive_and_says_what_was_missing() -> None:
    verdict = judge(plan(coverage=[{"that": "proven", "fault": "cut"}]), ended(good()).journal())
    assert verdict.verdict is Verdict.INCONCLUSIVE
    assert "the fault cut was proven to work: 0, needed 1" in verdict.headline


DEVIATION = {"difference": "AK-06", "requirement": "ACK-01"}


def test_a_loss_that_the_target_is_listed_for_passes_and_stays_visible() -> None:
    verdict = judge(plan(deviations=[DEVIATION]), ended(lost()).journal())
    assert verdict.verdict is Verdict.PASS
    finding = of_check(verdict, "unseen")
    assert finding.difference == "AK-06"
    assert finding.counterexample is not None
    assert verdict.headline == finding.sentence


def test_a_listed_difference_that_does_not_show_is_a_violation() -> None:
    verdict = judge(plan(deviations=[DEVIATION]), ended(good()).journal())
    assert verdict.verdict is Verdict.VIOLATION
    assert of_check(verdict, "deviation").difference == "AK-06"


def test_a_listed_difference_that_does_not_show_in_a_story_that_stopped_says_nothing(claims: list[Finding]) -> None:
    claims.append(Finding(Verdict.INCONCLUSIVE, "story", "The story could not be told to its end", "At `leads`: late."))
    verdict = judge(plan(deviations=[DEVIATION]), ended(good()).journal())
    assert verdict.verdict is Verdict.INCONCLUSIVE


def test_a_listed_consequence_need_not_show() -> None:
    assert judge(plan(deviations=[DEVIATION | {"level": "may"}]), ended(good()).journal()).verdict is Verdict.PASS


def test_a_listed_difference_that_had_no_chance_to_show_is_inconclusive() -> None:
    wanted = plan(deviations=[DEVIATION], coverage=[{"that": "proven", "fault": "cut"}])
    assert judge(wanted, ended(good()).journal()).verdict is Verdict.INCONCLUSIVE


def test_controllers_are_judged_only_where_there_are_any() -> None:
    def checks(target: str) -> set[str]:
        return {finding.check for finding in judge(plan(target=target), ended(good()).journal()).findings}

    assert "one-controller" in checks("quorum")
    assert {"one-controller", "controller-epochs-grow", "old-controller-wrote"} < checks("zk-controller")
    assert not {"one-controller", "controller-epochs-grow", "old-controller-wrote"} & checks("leader-driven")
