from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fencepost.harness.campaign.deviations import deviations
from fencepost.harness.catalogue import catalogue
from fencepost.harness.checkers import expectations
from fencepost.harness.judge import judge, judge_folder
from fencepost.harness.plan.file import dump_plan
from fencepost.harness.report.text import summarise
from fencepost.harness.targets.registry import load_file
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import Damage, JournalWriter
from fencepost.results.records.requirements import RequirementResult, RequirementState
from fencepost.results.records.verdict import Basis, Finding, RunVerdict, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

DAMAGE = (Damage(3, "not an event"),)


@pytest.fixture(autouse=True)
def claims(monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    """The findings of the steps' expectations; none unless a test adds one."""
    found: list[Finding] = []
    monkeypatch.setattr(expectations, "check", lambda plan, journal: list(found))
    return found


def served_after_a_fault(at: float = 0.5) -> Finding:
    return Finding(
        verdict=Verdict.VIOLATION,
        check="expectations",
        title="A fenced broker serves",
        message="node-4 served after its lease had ended.",
        requirement="K631-13",
        level="never",
        at=at,
        basis=Basis.FAULT,
    )


def good() -> JournalBuilder:
    return JournalBuilder().event("run", "r", "begin").send("p-0", 0).poll((0, "p-0")).final((0, "p-0"))


def lost() -> JournalBuilder:
    return JournalBuilder().event("run", "r", "begin").send("p-0", 0).send("p-1", 1).final((1, "p-1"))


def ended(builder: JournalBuilder) -> JournalBuilder:
    return builder.event("run", "r", "end")


def of_check(verdict: RunVerdict, check: str) -> Finding:
    [finding] = [finding for finding in verdict.findings if finding.check == check]
    return finding


def test_a_node_that_did_not_come_back_is_the_headline_and_its_fault_is_not() -> None:
    """A harness that started the node did its part: that it does not answer is the target's doing (LIVE-07)."""
    run = good().event("step", "kill", "begin")
    for node in plan().topology.nodes:
        run.event("node", node.name, "started")
    run.event("fault", "kill", "intent", {"fault": "kill", "nodes": ["node-4"]})
    run.event("fault", "kill", "recovering")
    run.at(70).event(
        "node", "node-4", "silent", {"seconds": 60.0, "address": "a:1", "reach": "silent", "error": "ERROR stuck"}
    )
    run.event("fault", "kill", "unhealed", {"how": "node-4 does not answer"})
    run.event("step", "end:converge", "begin")
    verdict = judge(plan(), ended(run).journal())
    assert verdict.verdict is Verdict.VIOLATION
    assert verdict.headline.startswith("node-4 was started, and neither serves nor ends within 60 s")
    assert "takes connections and answers nothing" in verdict.headline
    assert verdict.headline.endswith("The last error in its log: ERROR stuck.")


def test_a_fault_that_was_not_proven_is_reported_by_what_was_seen_in_its_place() -> None:
    """An effect that was not seen is never reported as if it were so."""
    how = "the process table: each ended by itself, on request"
    run = good().event("fault", "ended", "intent", {"fault": "terminate", "nodes": ["node-4"]})
    run.event("fault", "ended", "unproven", {"how": how, "missed": "after SIGTERM node-4 ended with exit code 2"})
    headline = judge(plan(), ended(run).journal()).headline
    assert headline == "The fault ended was not proven to take effect: after SIGTERM node-4 ended with exit code 2."


def test_a_run_in_which_everything_held_passes() -> None:
    verdict = judge(plan(), ended(good()).journal())
    assert verdict.verdict is Verdict.PASS, verdict.headline
    assert {finding.verdict for finding in verdict.findings} == {Verdict.PASS}


def test_every_requirement_stands_in_the_verdict_with_its_text_its_source_and_its_state(
    claims: list[Finding],
) -> None:
    claims.append(served_after_a_fault())
    verdict = judge(plan(requirements=("K631-32", "ACME-01")), ended(good()).journal())
    broken = verdict.requirement("K631-13")
    assert broken is not None
    row = catalogue()["K631-13"]
    assert broken == RequirementResult(
        "K631-13",
        RequirementState.BROKEN,
        row.says,
        "KIP-631",
        row.section,
        catalogue().document("KIP-631").url,
        row.note,
    )
    states = {each.id: each.state for each in verdict.requirements}
    assert states["ACK-01"] is RequirementState.HELD
    assert states["ISR-01"] is RequirementState.NOT_EXERCISED, "it had nothing to judge"
    assert states["K631-32"] is RequirementState.NOT_EXERCISED
    assert verdict.requirement("ACME-01") == RequirementResult("ACME-01", RequirementState.NOT_EXERCISED)


def test_the_same_journal_is_judged_the_same() -> None:
    journal = ended(lost()).journal()
    assert judge(plan(), journal).to_json() == judge(plan(), journal).to_json()


def test_a_lost_record_is_a_violation_and_the_headline() -> None:
    verdict = judge(plan(), ended(lost()).journal())
    assert verdict.verdict is Verdict.VIOLATION
    assert verdict.headline == of_check(verdict, "unseen").message


def test_a_run_cut_short_is_infrastructure() -> None:
    verdict = judge(plan(), good().journal(torn=1))
    assert verdict.verdict is Verdict.INFRASTRUCTURE
    assert verdict.torn == 1


def test_a_torn_tail_of_a_finished_run_takes_nothing_back() -> None:
    assert judge(plan(), ended(good()).journal(torn=1)).verdict is Verdict.PASS


def test_the_harness_can_say_that_a_run_is_worth_nothing(claims: list[Finding]) -> None:
    claims.append(served_after_a_fault())
    note = {"what": "infrastructure", "message": "node-4 spoke to node-5 past its link."}
    verdict = judge(plan(), ended(good().event("note", "audit", "seen", note)).journal())
    assert verdict.verdict is Verdict.INFRASTRUCTURE
    assert verdict.headline == note["message"]
    withdrawn = of_check(verdict, "expectations")
    assert withdrawn.verdict is Verdict.INCONCLUSIVE
    assert note["message"] in withdrawn.message


def test_a_lost_record_is_held_against_the_target_whatever_the_links_did() -> None:
    note = {"what": "infrastructure", "message": "node-4 spoke to node-5 past its link."}
    verdict = judge(plan(), ended(lost().event("note", "audit", "seen", note)).journal())
    assert verdict.verdict is Verdict.VIOLATION


@pytest.mark.parametrize(("at", "verdict"), [(4.0, Verdict.VIOLATION), (6.0, Verdict.INFRASTRUCTURE)])
def test_what_showed_before_the_time_of_a_run_was_up_stands(claims: list[Finding], at: float, verdict: Verdict) -> None:
    claims.append(served_after_a_fault(at=at))
    note = {"what": "overrun", "message": "at the step move: the run was not over after 5 s"}
    judged = judge(plan(), ended(good().at(5.0).event("note", "overrun", "seen", note)).journal())
    assert judged.verdict is verdict
    assert note["message"] in of_check(judged, "overrun").message


@pytest.mark.parametrize(("at", "verdict"), [(4.0, Verdict.VIOLATION), (6.0, Verdict.INFRASTRUCTURE)])
def test_what_showed_before_a_call_hung_stands(claims: list[Finding], at: float, verdict: Verdict) -> None:
    """The call was noted at 9 s, and had been under way for 4 s."""
    claims.append(served_after_a_fault(at=at))
    message = "Consumer.close() of c1 has not returned for 4.0 s"
    note = {"what": "hangs", "message": message, "seconds": 4.0}
    judged = judge(plan(), ended(good().at(9.0).event("note", "hangs", "seen", note)).journal())
    assert judged.verdict is verdict
    assert message in of_check(judged, "hangs").message


def test_a_damaged_journal_proves_no_loss() -> None:
    verdict = judge(plan(), ended(lost()).journal(damaged=DAMAGE))
    assert verdict.verdict is Verdict.INFRASTRUCTURE
    assert of_check(verdict, "lost-write").verdict is Verdict.INCONCLUSIVE
    assert "line 3" in verdict.headline


def test_two_records_at_one_offset_are_a_violation_even_in_a_damaged_journal() -> None:
    builder = good().poll((0, "other"), process="d")
    assert judge(plan(), ended(builder).journal(damaged=DAMAGE)).verdict is Verdict.VIOLATION


@pytest.mark.parametrize(("begun", "doubtful"), [("intent", "unproven"), ("recovering", "unhealed")])
def test_what_shows_after_a_fault_that_was_not_proven_is_not_held_against_the_target(
    claims: list[Finding], begun: str, doubtful: str
) -> None:
    builder = good().at(5.0).event("fault", "cut", begun).event("fault", "cut", doubtful, {"how": "it answered"})
    claims.append(served_after_a_fault(at=6.0))
    verdict = judge(plan(), ended(builder).journal())
    assert verdict.verdict is Verdict.INCONCLUSIVE
    assert "it answered" in of_check(verdict, "faults").message


@pytest.mark.parametrize(
    ("end", "verdict"),
    [("intent", Verdict.INFRASTRUCTURE), ("recovering", Verdict.INFRASTRUCTURE), ("healed", Verdict.VIOLATION)],
)
def test_what_is_missing_in_a_run_that_was_broken_off_may_be_a_fault_s_doing(end: str, verdict: Verdict) -> None:
    builder = (
        JournalBuilder().event("run", "r", "begin").event("fault", "emptied", "intent").event("fault", "emptied", end)
    )
    builder = builder.send("p-0", 0).send("p-1", 1).final((1, "p-1"))
    builder = builder.event("note", "harness", "seen", {"what": "infrastructure", "message": "the run was interrupted"})
    assert judge(plan(), ended(builder).journal()).verdict is verdict


def test_what_is_missing_in_a_run_that_came_to_its_end_stands() -> None:
    builder = lost().event("fault", "emptied", "intent").event("step", "end:converge", "begin")
    assert judge(plan(), ended(builder).journal()).verdict is Verdict.VIOLATION


def test_what_showed_before_a_doubtful_fault_stands(claims: list[Finding]) -> None:
    builder = good().at(5.0).event("fault", "cut", "intent").event("fault", "cut", "unproven")
    claims.append(served_after_a_fault(at=4.0))
    assert judge(plan(), ended(builder).journal()).verdict is Verdict.VIOLATION


def test_what_showed_before_a_node_died_by_itself_stands(claims: list[Finding]) -> None:
    died = Finding(Verdict.INFRASTRUCTURE, "nodes", "A node ended by itself", "node-4 ended.", at=5.0)
    claims += [served_after_a_fault(at=4.0), died]
    assert judge(plan(), ended(good()).journal()).verdict is Verdict.VIOLATION
    claims[0] = served_after_a_fault(at=6.0)
    assert judge(plan(), ended(good()).journal()).verdict is Verdict.INFRASTRUCTURE


def client_ended(builder: JournalBuilder, client: str = "p") -> JournalBuilder:
    data = {
        "what": "client-ended",
        "client": client,
        "error": "OUT_OF_ORDER_SEQUENCE_NUMBER",
        "message": "desynchronised",
    }
    return builder.at(5.0).event("note", client, "seen", data)


def refused_in_the_log() -> JournalBuilder:
    run = JournalBuilder().event("run", "r", "begin").send("p-0", 0).send("p-1", outcome="info").poll((0, "p-0"))
    message = "ProduceRequest for t [0] with 1 message(s) failed due to sequence desynchronization"
    ended = {"what": "client-ended", "client": "p", "error": "OUT_OF_ORDER_SEQUENCE_NUMBER", "message": message}
    return run.event("note", "p", "seen", ended).final((0, "p-0"), (1, "p-1"))


def test_a_producer_that_was_refused_a_record_of_the_log_is_the_targets_doing_and_not_inconclusive() -> None:
    """So ended random-3905000005, which became finding 05."""
    verdict = judge(plan(), ended(refused_in_the_log()).journal())
    assert verdict.verdict is Verdict.VIOLATION
    assert verdict.headline.startswith("p was ended at 0.70 s by OUT_OF_ORDER_SEQUENCE_NUMBER, and 1 records")
    listed = plan(deviations=[{"difference": "AK-13", "requirement": "CRD-06", "level": "may"}])
    known = judge(listed, ended(refused_in_the_log()).journal())
    assert known.verdict is Verdict.PASS
    assert {each.id: each.state for each in known.requirements}["CRD-06"] is RequirementState.AS_LISTED


@pytest.mark.requirement("LIVE-07")
def test_an_end_by_itself_is_a_known_bug_if_the_log_of_the_node_says_so() -> None:
    """So ended random-111000008, which became finding 10; any other end of a broker is none."""

    def state(error: str) -> RequirementState:
        run = JournalBuilder().event("node", "node-4", "started").event("step", "first", "begin")
        data = {"exit_code": 1, "message": "node-4 ended with exit code 1.", "error": error}
        verdict = judge(listed, ended(run.event("node", "node-4", "exited", data)).journal())
        return {each.id: each.state for each in verdict.requirements}["LIVE-07"]

    listed = plan(
        deviations=[each.model_dump() for each in deviations(load_file("apache-kafka:4.4.0"), plan().topology)]
    )
    followed = "IllegalStateException: Expected to be Follower, but the current state is"
    assert state(f"{followed} UnattachedState(epoch=3)") is RequirementState.AS_LISTED
    assert state(f"{followed} CandidateState(epoch=3)") is RequirementState.BROKEN


def of_step(step: str, at: float, **evidence: Any) -> Finding:
    return replace(served_after_a_fault(at), evidence={"step": step, **evidence})


PROBED = {
    "steps": [
        {"do": "probe", "as": "ask", "request": "metadata", "node": "node-4"},
        {"do": "produce", "as": "burst", "topic": "t", "records": 1},
        {"do": "await", "as": "wait", "condition": "broker-fenced", "node": "node-4", "within_ms": 100},
    ]
}


@pytest.mark.parametrize(
    ("finding", "verdict"),
    [
        (of_step("wait", 4.0), Verdict.VIOLATION),
        (of_step("wait", 6.0), Verdict.INCONCLUSIVE),
        (of_step("ask", 4.0), Verdict.VIOLATION),
        (of_step("ask", 6.0), Verdict.VIOLATION),
        (of_step("burst", 6.0), Verdict.VIOLATION),
        (served_after_a_fault(4.0), Verdict.VIOLATION),
        (served_after_a_fault(6.0), Verdict.INCONCLUSIVE),
    ],
)
def test_what_was_seen_before_a_client_ended_or_without_it_stands(
    claims: list[Finding], finding: Finding, verdict: Verdict
) -> None:
    claims.append(finding)
    judged = judge(plan(**PROBED), ended(client_ended(good())).journal())
    assert of_check(judged, "expectations").verdict is verdict
    assert judged.verdict is verdict


@pytest.mark.parametrize(("only_late", "verdict"), [(True, Verdict.INCONCLUSIVE), (False, Verdict.VIOLATION)])
def test_records_of_a_burst_that_a_fatal_error_ended_prove_nothing_without_an_answer(
    claims: list[Finding], only_late: bool, verdict: Verdict
) -> None:
    claims.append(of_step("burst", 4.0, only_late=only_late))
    assert judge(plan(**PROBED), ended(client_ended(good(), "burst")).journal()).verdict is verdict


def test_a_fatal_error_of_a_client_is_shown_once_and_is_no_failure_of_the_harness(claims: list[Finding]) -> None:
    claims += [of_step("wait", 6.0), served_after_a_fault(7.0)]
    judged = judge(plan(**PROBED), ended(client_ended(good())).journal())
    assert judged.verdict is Verdict.INCONCLUSIVE, "a doubt is no pass"
    assert judged.headline == (
        "The client p was ended at 5.00 s by OUT_OF_ORDER_SEQUENCE_NUMBER, a fatal error that the target's answers can "
        "cause: desynchronised."
    )
    assert sum("desynchronised" in finding.message for finding in judged.findings) == 1
    assert not judged.of(Verdict.INFRASTRUCTURE)
    for finding in judged.findings:
        if finding.check == "expectations":
            assert finding.message.endswith(
                "Not held against the target: the client p was ended at 5.00 s by OUT_OF_ORDER_SEQUENCE_NUMBER."
            )


def test_a_client_that_the_harness_lost_stays_infrastructure(claims: list[Finding]) -> None:
    claims.append(of_step("ask", 4.0))
    note = {"what": "infrastructure", "message": "the client p of the workload failed: ValueError: a defect of ours"}
    judged = judge(plan(**PROBED), ended(good().at(5.0).event("note", "infrastructure", "seen", note)).journal())
    assert judged.verdict is Verdict.INFRASTRUCTURE
    assert of_check(judged, "expectations").verdict is Verdict.INCONCLUSIVE


def test_a_workload_of_which_nothing_was_acknowledged_is_inconclusive() -> None:
    verdict = judge(plan(), ended(JournalBuilder().event("run", "r", "begin").send("p-0", outcome="info")).journal())
    assert verdict.verdict is Verdict.INCONCLUSIVE
    assert of_check(verdict, "produced").evidence["judged"] == 0


def test_without_a_final_read_the_run_is_inconclusive() -> None:
    builder = JournalBuilder().event("run", "r", "begin").send("p-0", 0).poll((0, "p-0"))
    assert judge(plan(), ended(builder).journal()).verdict is Verdict.INCONCLUSIVE


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
    assert verdict.headline == finding.message


def test_a_listed_difference_that_does_not_show_is_a_violation() -> None:
    verdict = judge(plan(deviations=[DEVIATION]), ended(good()).journal())
    assert verdict.verdict is Verdict.VIOLATION
    assert of_check(verdict, "deviation").difference == "AK-06"


def test_a_listed_difference_that_does_not_show_in_a_scenario_that_stopped_says_nothing(claims: list[Finding]) -> None:
    claims.append(Finding(Verdict.INCONCLUSIVE, "scenario", "The scenario did not run to its end", "At `leads`: late."))
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


def test_a_run_folder_is_judged_from_its_files_and_keeps_its_verdict(tmp_path: Path) -> None:
    folder = RunFolder.create_at(tmp_path / "run")
    folder.plan.write_text(dump_plan(plan()))
    with JournalWriter(folder.journal) as journal:
        for event in ended(good()).events:
            journal.write(event.type, event.id, event.phase, event.data, node=event.node)
    assert judge_folder(folder).verdict is Verdict.PASS
    assert RunVerdict.load(folder.verdict).verdict is Verdict.PASS


def test_without_the_logs_of_a_node_that_ran_their_rules_are_inconclusive(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes"
    ran = good().event("node", "node-4", "started", {"pid": 7}, "node-4")
    for name in ("node-4", "node-5"):
        (nodes / name / "data").mkdir(parents=True)
    assert judge(plan(), ended(ran).journal(), nodes).verdict is Verdict.PASS
    (nodes / "node-5" / "data").rmdir()
    (nodes / "node-5").rmdir()
    assert judge(plan(), ended(ran).journal(), nodes).verdict is Verdict.PASS, "node-5 never ran"
    (nodes / "node-4").rename(tmp_path / "elsewhere")
    verdict = judge(plan(), ended(ran).journal(), nodes)
    assert verdict.verdict is Verdict.INCONCLUSIVE
    assert of_check(verdict, "committed-kept").message.startswith("The logs of node-4 are missing from the run folder.")
    nodes.rmdir()
    assert "node-4, node-5" in of_check(judge(plan(), ended(ran).journal(), nodes), "committed-kept").message


def test_a_note_that_is_no_problem_of_the_infrastructure_takes_nothing_back() -> None:
    builder = good().event("note", "when-cut", "seen", {"what": "anchor"})
    assert judge(plan(), ended(builder).journal()).verdict is Verdict.PASS


def test_a_journal_without_events_is_infrastructure() -> None:
    verdict = judge(plan(), JournalBuilder().journal(torn=1))
    assert verdict.headline == "The run did not reach its end; the last recorded event is none."


def test_no_verdict_over_a_planted_defect_reads_like_that_of_a_real_target(tmp_path: Path) -> None:
    started = good().event("node", "node-4", "started", {"pid": 1, "planted_defect": "no_self_fence"})
    verdict = judge(plan(), ended(started).journal())
    assert verdict.planted_defect == "no_self_fence"
    assert verdict.headline.startswith("With the planted defect no_self_fence: All ")
    assert "on quorum" in summarise(verdict, RunFolder(tmp_path))
    assert "with the planted defect no_self_fence" in summarise(verdict, RunFolder(tmp_path))
    assert judge(plan(), ended(good()).journal()).planted_defect == ""


def test_a_finding_in_the_headline_of_a_planted_defect_stands_once(tmp_path: Path) -> None:
    started = lost().event("node", "node-4", "started", {"planted_defect": "no_self_fence"})
    shown = summarise(judge(plan(), ended(started).journal()), RunFolder(tmp_path), width=500)
    assert shown.count("acknowledged with acks=all is gone") == 1, shown
