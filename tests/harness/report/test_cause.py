from fencepost.harness.checkers.history import read_history
from fencepost.harness.judge import judge
from fencepost.harness.report.cause import Cause, find_cause
from fencepost.harness.report.page import numbered_findings, render
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.report.tale import lost_journal, lost_plan


def cause_of(journal: Journal, *findings: Finding) -> Cause | None:
    numbered = findings or numbered_findings(judge(lost_plan(), journal))
    return find_cause(lost_plan(), journal, read_history(journal), numbered)


def broken(at: float | None, step: str | None = None) -> Finding:
    evidence = {"step": step} if step else {}
    return Finding(Verdict.VIOLATION, "expectations", "t", "m", "ISR-07", at=at, evidence=evidence)


def test_the_cause_names_the_faults_in_effect_and_the_change_of_state_between_them_and_the_moment() -> None:
    cause = cause_of(lost_journal())
    assert cause is not None
    assert cause.at == 20.6
    assert cause.course == (
        "While node-4 was cut off from node-6 (proven at 12.30 s) and node-6 was killed (node-6 led u-0; proven at "
        "20.00 s), and from 6.80 s to 19.40 s node-4b, a second process with the same id, was running, "
        "node-6 was fenced at 20.40 s, node-4 became leader of u-0 (epoch 2, ISR 4) at 20.60 s, and"
    )


def test_a_change_before_the_fault_is_no_part_of_its_cause() -> None:
    cause = cause_of(lost_journal(), broken(13.5))
    assert cause is not None
    assert "became leader" not in cause.course
    assert cause.course.endswith("(proven at 12.30 s),")
    assert "node-4 was cut off from node-6 (proven at 12.30 s)" in cause.course


def test_a_violation_before_any_fault_blames_none() -> None:
    assert cause_of(lost_journal(), broken(3.0)) == Cause("", 3.0, None)


def test_a_violation_without_a_time_has_no_cause() -> None:
    assert cause_of(lost_journal(), broken(None)) is None


def test_a_fault_that_was_not_proven_is_no_cause() -> None:
    builder = JournalBuilder().event("fault", "cut", "intent", {"fault": "cut", "params": {"from": ["node-4"]}})
    builder.event("fault", "cut", "unproven", {"how": "it answers"}).event("run", "r", "end")
    assert cause_of(builder.journal(), broken(9.0)) == Cause("", 9.0, None)


def test_a_fault_that_was_healed_before_is_described_with_its_times() -> None:
    cause = cause_of(lost_journal(), broken(29.0))
    assert cause is not None
    assert "node-6 was killed from 20.00 s to 22.00 s (node-6 led u-0), node-6 was fenced" in cause.course


def test_an_isr_that_flaps_is_described_by_its_last_state() -> None:
    builder = JournalBuilder().event("run", "r", "begin")
    builder.event("fault", "cut", "intent", {"fault": "cut", "params": {"from": ["node-4"], "to": ["node-6"]}})
    builder.event("fault", "cut", "proven", {"how": "refused"})
    for isr in ([6, 4], [6], [6, 4], [6], [6, 4], [6]):
        builder.event("state", "log", "seen", {**_VIEW, "isr": isr})
    cause = cause_of(builder.event("run", "r", "end").journal(), broken(2.0))
    assert cause is not None
    assert cause.course == (
        "While node-4 was cut off from node-6 (proven at 0.30 s), the ISR of u-0 shrank to 6 at 0.90 s, and"
    )


_VIEW = {"what": "partition", "topic": "u", "partition": 0, "leader": 6, "leader_epoch": 1}


def test_the_decisive_step_is_that_of_the_finding_or_the_one_under_way() -> None:
    assert (cause := cause_of(lost_journal(), broken(24.0))) is not None
    assert cause.step == "healed"
    assert (cause := cause_of(lost_journal(), broken(24.0, "during"))) is not None
    assert cause.step == "during"


def test_the_page_links_the_moment_and_the_step_and_states_the_rule() -> None:
    verdict = judge(lost_plan(), lost_journal())
    page = render(lost_plan(), lost_journal(), verdict, replay="r")
    assert 'and at <a href="#moment">20.60 s</a> <b>ACK-01</b> was broken' in page
    assert "“No record acknowledged at acks=all is lost.”" in page
