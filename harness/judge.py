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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fencepost.harness.catalogue import catalogue, describe
from fencepost.harness.checkers import data_checkers, expectations
from fencepost.harness.checkers.added import added_checkers
from fencepost.harness.checkers.assignments import replicas_as_asked
from fencepost.harness.checkers.control import ControlHistory, TopicPartition, read_control
from fencepost.harness.checkers.convergence import check_convergence
from fencepost.harness.checkers.coverage import check_coverage
from fencepost.harness.checkers.deleted_records import deleted_before
from fencepost.harness.checkers.doubts import find_doubts, withdrawn
from fencepost.harness.checkers.exits import check_exits
from fencepost.harness.checkers.fatal_requests import fatal_requests
from fencepost.harness.checkers.history import History, read_history
from fencepost.harness.checkers.leadership import (
    ONE_CONTROLLER_IN_ZOOKEEPER,
    lawful_isr,
    leader_epochs_grow,
    one_controller,
    one_leader,
)
from fencepost.harness.checkers.log_files import check_log_files
from fencepost.harness.checkers.loss import name_parts, one_loss
from fencepost.harness.checkers.mechanisms import (
    CUT,
    AffectedRange,
    affected_ranges,
    history_without,
    nodes_with_undated_cuts,
    replicas_without,
)
from fencepost.harness.checkers.phantom import topics_of_known_senders
from fencepost.harness.checkers.record_table import RecordTable
from fencepost.harness.checkers.refused_retry import CHECK as REFUSED_RETRY
from fencepost.harness.checkers.refused_retry import refused_retries
from fencepost.harness.checkers.replica_logs import NO_REPLICAS, read_replicas
from fencepost.harness.checkers.replicas import check_replicas, compare_replicas
from fencepost.harness.checkers.run_records import missing_records
from fencepost.harness.checkers.silent_nodes import check_silent_nodes
from fencepost.harness.checkers.stability import Stability, brokers_stay, controller_stays, leaders_stay
from fencepost.harness.checkers.staleness import stale_metadata
from fencepost.harness.checkers.starvation import excuse_starved
from fencepost.harness.checkers.topic_lives import read_deletions, split_lives
from fencepost.harness.checkers.topics_at_end import TopicsAtEnd, partitions_as_asked, read_topics, topics_stay
from fencepost.harness.checkers.visible_end import visible_end
from fencepost.harness.checkers.workload_done import workload_done
from fencepost.harness.checkers.zookeeper import controller_epochs_grow, no_old_controller_writes
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.file import load_plan
from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.plan.model import Plan
from fencepost.harness.targets.registry import load_file
from fencepost.results.records.events import CLIENT_ENDED, HANGS, INFRASTRUCTURE, OVERRUN
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
    failures = list(_infrastructure_findings(journal))
    deletions = read_deletions(plan, journal)
    topics = TopicsAtEnd() if plan.shared else read_topics(plan, journal, deletions)
    history = split_lives(read_history(journal), deletions)
    defaults = load_file(plan.target).settings
    deleted = deleted_before(plan, journal, history, {**defaults.all, **defaults.broker})
    known_senders = topics_of_known_senders(plan)
    history = replace(history, deleted_before=deleted, vanished=topics.vanished, known_senders=known_senders)
    judged = [
        *_data_plane(plan, journal, history, nodes),
        topics_stay(topics),
        partitions_as_asked(plan, topics),
        replicas_as_asked(plan, journal, topics.forgotten_by),
        *_leadership(plan, journal),
        *refused_retries(journal, history),
        *check_exits(plan, journal),
        *check_silent_nodes(plan, journal),
        *excuse_starved(plan, journal, expectations.check(plan, journal)),
        *check_convergence(plan, journal),
    ]
    coverage = [*check_coverage(plan, journal), *workload_done(plan, journal, history)]
    judged += _missing_differences(plan, judged, coverage)
    doubts = list(
        find_doubts(plan, journal, [*failures, *(each for each in judged if each.verdict is Verdict.INFRASTRUCTURE)])
    )
    judged = _attributed(plan, journal, history, nodes, judged)
    judged = name_parts(withdrawn(_listed(plan, finding), doubts) for finding in judged)
    findings = (
        *failures,
        *_ended_clients(journal, judged),
        *judged,
        *_unproven(journal),
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


def _data_plane(
    plan: Plan, journal: Journal, history: History, nodes: Path | None, affected: Sequence[AffectedRange] = ()
) -> list[Finding]:
    """Judge the clients' history and the nodes' files, without the records in `affected` ranges.

    Counterexamples show their records on every replica.
    """
    replicas = read_replicas(plan, nodes) if nodes is not None else None
    if affected:
        replicas = replicas and replicas_without(replicas, history, affected)
        history = history_without(history, affected)
    if replicas is not None:
        history = replace(history, session=replicas.session)
    file = load_file(plan.target)
    seen = [checker(history) for checker in (*data_checkers(history), *added_checkers(file.checkers, file.beside))]
    seen.append(visible_end(journal, read_deletions(plan, journal), affected))
    if nodes is None or replicas is None:
        return one_loss(seen, history, NO_REPLICAS, ())
    table = RecordTable(history, replicas)
    comparison = compare_replicas(history, replicas)
    of_logs = [*check_replicas(comparison, table), *check_log_files(replicas, journal)]
    missing = list(_missing_logs(plan, journal, nodes))
    findings = [*map(table.show, seen), *(_over_all_logs(finding, missing) for finding in of_logs)]
    return one_loss(findings, history, replicas, comparison.missing)


def _missing_logs(plan: Plan, journal: Journal, nodes: Path) -> Iterator[str]:
    """Yield the brokers that ran, and whose folders are gone; all brokers if the folder of the nodes itself is gone."""
    ran = {event.node or event.id for event in journal.of("node", "started")}
    for node in plan.topology.nodes:
        if "broker" in node.roles and not (nodes / node.name).is_dir() and (node.name in ran or not nodes.is_dir()):
            yield node.name


def _over_all_logs(finding: Finding, missing: Sequence[str]) -> Finding:
    """Return a pass as inconclusive if logs are missing; a violation in the logs that are left stands."""
    if finding.verdict is not Verdict.PASS or not missing:
        return finding
    message = (
        f"The logs of {', '.join(missing)} are missing from the run folder. In those that are left: {finding.message}"
    )
    return replace(finding, verdict=Verdict.INCONCLUSIVE, message=message)


def _leadership(plan: Plan, journal: Journal) -> list[Finding]:
    control = read_control(journal)
    file = load_file(plan.target)
    dialect, pre_vote = file.dialect, "pre-vote" not in file.missing_features
    assigned: dict[TopicPartition, tuple[int, ...]] = {
        (topic.name, number): replicas for topic in plan.topics for number, replicas in enumerate(topic.assignments)
    }
    return [
        one_leader(control),
        leader_epochs_grow(control),
        lawful_isr(control, assigned, may_outlast=not dialect.has_controllers),
        *_controllers(control, dialect),
        *_stability(Stability(plan, dialect, journal, control, pre_vote=pre_vote)),
        stale_metadata(journal),
    ]


def _stability(run: Stability) -> tuple[Finding, ...]:
    if not run.dialect.has_controllers:
        return (leaders_stay(run),)
    return leaders_stay(run), brokers_stay(run), controller_stays(run), fatal_requests(run)


def _controllers(control: ControlHistory, dialect: Dialect) -> tuple[Finding, ...]:
    if not dialect.has_controllers:
        return ()
    if not dialect.uses_zookeeper:
        return (one_controller(control),)
    return (
        one_controller(control, ONE_CONTROLLER_IN_ZOOKEEPER),
        controller_epochs_grow(control),
        no_old_controller_writes(control),
    )


def _infrastructure_findings(journal: Journal) -> Iterator[Finding]:
    """Yield a finding for each failure of the infrastructure: the journal, the harness, the machinery around it."""
    if journal.damaged:
        lines = "; ".join(map(str, journal.damaged[:5]))
        yield _infrastructure("journal", f"{len(journal.damaged)} lines of the journal are damaged: {lines}.")
    for event in journal.of("note"):
        if event.data.get("what") == INFRASTRUCTURE:
            yield replace(_infrastructure("harness", event.data["message"]), at=event.t)
        if event.data.get("what") == OVERRUN:
            yield replace(_infrastructure("overrun", event.data["message"]), at=event.t)
        if event.data.get("what") == HANGS:
            yield replace(_infrastructure("hangs", event.data["message"]), at=event.t - event.data["seconds"])
    if not journal.finished:
        last = f"event {journal.events[-1].seq} at {journal.duration:.1f} s" if journal.events else "none"
        yield _infrastructure("unfinished", f"The run did not reach its end; the last recorded event is {last}.")


def _infrastructure(check: str, message: str) -> Finding:
    title = {
        "journal": "The journal is damaged",
        "unfinished": "The run was cut short",
        "harness": "The harness failed",
        "overrun": "The run was not over in time",
        "hangs": "A call into a client library did not return",
    }[check]
    return Finding(Verdict.INFRASTRUCTURE, check, title, message)


def _unproven(journal: Journal) -> Iterator[Finding]:
    for event in journal.of("fault", "unproven", "unhealed"):
        effect = "take effect" if event.phase == "unproven" else "heal"
        why = event.data.get("missed") or event.data.get("how", "no measurement")
        yield Finding(
            verdict=Verdict.INCONCLUSIVE,
            check="faults",
            title="A fault was not proven",
            message=f"The fault {event.id} was not proven to {effect}: {why}.",
            at=event.t,
        )


def _ended_clients(journal: Journal, judged: Iterable[Finding]) -> Iterator[Finding]:
    """Yield a finding for each client of the workload that a fatal error ended, and whose end no finding explains."""
    explained = {each.evidence.get("client") for each in judged if each.check == REFUSED_RETRY.name}
    for event in journal.of("note"):
        if event.data.get("what") == CLIENT_ENDED and event.data["client"] not in explained:
            yield Finding(
                verdict=Verdict.INCONCLUSIVE,
                check="clients",
                title="A fatal error ended a client",
                message=(
                    f"The client {event.data['client']} was ended at {event.t:.2f} s by {event.data['error']}, a fatal "
                    f"error that the target's answers can cause: {event.data['message']}."
                ),
                at=event.t,
            )


def _attributed(
    plan: Plan, journal: Journal, history: History, nodes: Path | None, judged: list[Finding]
) -> list[Finding]:
    """Attribute violations to the listed differences whose mechanism can have caused them; all others stand."""
    for mechanism in dict.fromkeys(each.mechanism for each in plan.deviations if each.mechanism is not None):
        listed = {each.requirement: each.difference for each in plan.deviations if each.mechanism == mechanism}
        if nodes is None or not any(
            each.verdict is Verdict.VIOLATION and each.requirement in listed for each in judged
        ):
            continue
        affected = affected_ranges(mechanism, plan, journal, history, nodes.parent / "logs")
        rest = {each.check: each for each in _data_plane(plan, journal, history, nodes, affected)} if affected else {}
        judged = [_attributed_finding(each, listed, rest.get(each.check), affected) for each in judged]
        if mechanism == CUT and (reason := _undated_cuts(plan, journal, nodes.parent / "logs")):
            judged = [
                each.withdrawn(reason) if each.verdict is Verdict.VIOLATION and each.requirement in listed else each
                for each in judged
            ]
    return judged


def _undated_cuts(plan: Plan, journal: Journal, logs: Path) -> str:
    """Return why the times are unknown at which replicas cut their logs; empty if they are known."""
    if not logs.is_dir():
        return f"the folder {logs.name} of the run is missing, so the cuts of the nodes are unknown."
    if clock_changed := nodes_with_undated_cuts(plan, journal, logs):
        return f"the clock of {', '.join(clock_changed)} was changed, so the times of its cuts are unknown."
    return ""


def _attributed_finding(
    finding: Finding, listed: Mapping[str, str], rest: Finding | None, affected: Sequence[AffectedRange]
) -> Finding:
    """Return the finding as attributed to its listed difference.

    `rest` is the finding of the same check without the affected records. If it is a violation, it stands.
    """
    difference = None if finding.requirement is None else listed.get(finding.requirement)
    if finding.verdict is not Verdict.VIOLATION or difference is None or rest is None:
        return finding
    if rest.verdict is Verdict.VIOLATION:
        return replace(rest, message=f"{rest.message} Known differences do not explain these.")
    if rest.verdict is not Verdict.PASS:
        return rest
    how = "; ".join(dict.fromkeys(each.how for each in affected))
    message = f"{finding.message} Known as {difference}: {how}."
    return replace(finding, verdict=Verdict.PASS, difference=difference, message=message)


def _listed(plan: Plan, finding: Finding) -> Finding:
    """Return a violation that is listed for the plan's target as a pass that names the difference."""
    for deviation in plan.deviations:
        if (
            finding.verdict is Verdict.VIOLATION
            and deviation.mechanism is None
            and finding.requirement == deviation.requirement
            and finding.difference is None
        ):
            message = f"{finding.message} Listed for {plan.target} as {deviation.difference}."
            return replace(finding, verdict=Verdict.PASS, difference=deviation.difference, message=message)
    return finding


def _missing_differences(plan: Plan, judged: Iterable[Finding], coverage: Iterable[Finding]) -> list[Finding]:
    """Return a violation for each listed difference that did not show, although the run covered it."""
    open_ = {finding.requirement for finding in judged if finding.verdict in (Verdict.VIOLATION, Verdict.INCONCLUSIVE)}
    covered = all(finding.verdict is Verdict.PASS for finding in coverage) and not any(
        finding.verdict in (Verdict.INFRASTRUCTURE, Verdict.INCONCLUSIVE) for finding in judged
    )
    return [
        Finding(
            verdict=Verdict.VIOLATION if covered else Verdict.INCONCLUSIVE,
            check="deviation",
            title="A listed difference no longer shows",
            message=f"{plan.target} is listed to break {each.requirement} here ({each.difference}); it did not.",
            requirement=each.requirement,
            level="must",
            difference=each.difference,
        )
        for each in plan.deviations
        if each.level == "must" and each.requirement not in open_
    ]


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
