"""The verdict of a run, from its plan, its journal and the logs of its nodes. The same give the same, at any time.

What may be held against the target when something else went wrong:

- A violation stands above everything: it is the verdict whatever else was infrastructure or inconclusive.
- A violation with doubtful evidence is withdrawn. One that is based on a fault (its time, its effect) is withdrawn
  after the harness or its infrastructure failed, and after a fault that was not proven, or not proven healed.
- A fatal error that ended a client of the workload may be the target's doing: inconclusive (decision 0047). What was
  seen before stands, and so do the answers to requests that had a connection of their own. A condition that was awaited
  until later is withdrawn: it may have needed the client's records.
- A violation that is based on an absence is withdrawn if lines of the journal are missing, and if the run was
  interrupted while a fault was active: a replica with an emptied directory had no time to leave the ISR.
- A violation made of events that contradict each other always stands. So does a lost record in a complete journal,
  whatever the links did: acks=all promises to keep it under any fault.
- A deadline that was missed while a node had no processor is withdrawn (see `fencepost.harness.checkers.starvation`).
- A withdrawn violation becomes inconclusive and is still shown.
"""

from collections.abc import Iterable
from pathlib import Path

from fencepost.harness.catalogue import catalogue, describe
from fencepost.harness.checkers.added import added_checkers
from fencepost.harness.checkers.differences import attributed, listed, missing_differences
from fencepost.harness.checkers.doubts import find_doubts, withdrawn
from fencepost.harness.checkers.infrastructure import (
    ended_clients,
    infrastructure_failures,
    missing_records,
    unproven_faults,
)
from fencepost.harness.checkers.loss import name_parts
from fencepost.harness.checkers.recorded_run import RecordedRun
from fencepost.harness.checkers.registry import checkers_and
from fencepost.harness.checkers.rules import judge_rules
from fencepost.harness.plan.file import load_plan
from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.plan.model import Plan
from fencepost.harness.targets.registry import load_file
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import Journal, read_journal
from fencepost.results.records.requirements import RequirementResult, RequirementState
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict, requirement_states


def judge_folder(folder: RunFolder, plan: Plan | None = None) -> RunVerdict:
    """Judge a run from its files and write `verdict.json`. The plan is read from the folder unless it is given."""
    verdict = judge(plan or load_plan(folder.plan), read_journal(folder.journal), folder.nodes)
    verdict.save(folder.verdict)
    return verdict


def judge(plan: Plan, journal: Journal, nodes: Path | None = None) -> RunVerdict:
    """Judge a run by all checkers, expectations and coverage. Linear in the journal.

    `nodes` is the folder of the nodes' own folders; with it the logs that they left are judged, too.
    """
    file = load_file(plan.target)
    run = RecordedRun(
        plan,
        journal,
        nodes,
        file.dialect,
        broker_settings=file.settings.of_brokers,
        promises=file.promises,
        log_files=file.log_files == "kafka",
        pre_vote="pre-vote" not in file.missing_features,
    )
    checkers = checkers_and(added_checkers(file.checkers, file.beside))
    rules = [each for each in checkers if not each.coverage]
    failures = list(infrastructure_failures(journal))
    judged = judge_rules(run, rules)
    coverage = [finding for each in checkers if each.coverage for finding in run.judged_by(each)]
    judged += missing_differences(plan, judged, coverage)
    failed = [*failures, *(each for each in judged if each.verdict is Verdict.INFRASTRUCTURE)]
    doubts = list(find_doubts(plan, journal, failed))
    judged = attributed(run, rules, judged)
    judged = name_parts(withdrawn(listed(plan, finding), doubts) for finding in judged)
    findings = (
        *failures,
        *ended_clients(journal, judged),
        *judged,
        *unproven_faults(journal),
        *missing_records(plan, journal),
        *coverage,
    )
    verdict = Verdict.worst(finding.verdict for finding in findings)
    defect = _planted_defect(journal)
    return RunVerdict(
        verdict=verdict,
        headline=_with_defect(defect, _headline(plan, verdict, findings)),
        scenario=plan.scenario,
        target=plan.target,
        plan_hash=plan_hash(plan),
        duration=journal.duration,
        events=len(journal.events),
        torn=journal.torn,
        findings=findings,
        requirements=tuple(
            _requirement(each, state) for each, state in requirement_states(findings, plan.requirements).items()
        ),
        planted_defect=defect,
    )


def _requirement(name: str, state: RequirementState) -> RequirementResult:
    row = describe(name)
    if row is None:
        return RequirementResult(name, state)
    url = catalogue().document(row.document).url
    return RequirementResult(name, state, row.says, row.document, row.section, url, row.note)


def _planted_defect(journal: Journal) -> str:
    """Return the names of the mutants that nodes were started with; empty if all nodes were healthy."""
    return ", ".join(sorted({d for each in journal.of("node", "started") if (d := each.data.get("planted_defect"))}))


def _with_defect(defect: str, headline: str) -> str:
    return f"With the planted defect {defect}: {headline}" if defect else headline


def _headline(plan: Plan, verdict: Verdict, findings: Iterable[Finding]) -> str:
    """Return the message of the first finding with the run's verdict; for a pass, the number of rules judged."""
    findings = list(findings)
    if verdict is not Verdict.PASS:
        return next(finding.message for finding in findings if finding.verdict is verdict)
    shown = [finding for finding in findings if finding.difference and finding.counterexample]
    if shown:
        return shown[0].message
    held = list(requirement_states(findings).values()).count(RequirementState.HELD)
    return f"All {held} rules that this run could judge held."
