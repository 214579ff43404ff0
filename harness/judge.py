"""The verdict of a run, from its plan, its journal and the logs of its nodes. The same give the same, at any time.

What may be held against the target when something else went wrong:

- A violation stands above everything: it is the verdict whatever else was infrastructure or inconclusive.
- But it must deserve to stand. One that rests on a fault (its time, its effect) is withdrawn when faults are in doubt:
  after the harness or the machinery under it failed, and after a fault that was not proven or not proven healed.
- One that rests on something missing is withdrawn when lines of the journal are missing, and when the run was broken
  off while a fault was at work: a replica whose directory was emptied has not had the time to leave the ISR.
- One made of events that contradict each other stands always. So does a lost record in a whole journal, whatever the
  links did: acks=all promises to keep it under any fault.
- A deadline that was missed while a node had no processor is withdrawn (see `harness.checkers.starvation`).
- What is withdrawn becomes inconclusive and is still shown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

from harness.checkers import DATA_CHECKERS, expectations
from harness.checkers.check import Check
from harness.checkers.control import ControlHistory, TopicPartition, read_control
from harness.checkers.coverage import check_coverage
from harness.checkers.history import History, read_history
from harness.checkers.leadership import (
    lawful_isr,
    leader_epochs_grow,
    one_controller,
    one_leader,
)
from harness.checkers.log_files import check_log_files
from harness.checkers.mechanisms import CUT, Reach, copies_without, reaches, undated, without
from harness.checkers.record_table import RecordTable
from harness.checkers.replica_logs import read_replicas
from harness.checkers.replicas import check_replicas
from harness.checkers.staleness import stale_metadata
from harness.checkers.starvation import excuse_starved
from harness.checkers.zookeeper import controller_epochs_grow, no_old_controller_writes
from harness.plan.file import load_plan
from harness.plan.hash import plan_hash
from harness.plan.model import Plan
from harness.targets.target import Dialect, load_file
from results.records.events import CONVERGE, TROUBLE
from results.records.folder import RunFolder
from results.records.journal import Journal, read_journal
from results.records.verdict import Basis, Finding, RunVerdict, Verdict

_PRODUCED = Check("produced", "Something was acknowledged", "ACK-01", Basis.ABSENCE)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Violations of these bases that showed at `since` or later are not held against the target."""

    reason: str
    bases: frozenset[Basis]
    since: float = -inf

    def covers(self, finding: Finding) -> bool:
        late = finding.at is None or finding.at >= self.since
        return finding.verdict is Verdict.VIOLATION and finding.basis in self.bases and late


def judge_folder(folder: RunFolder) -> RunVerdict:
    """Judge a run from its files and write `verdict.json`."""
    verdict = judge(load_plan(folder.plan), read_journal(folder.journal), folder.nodes)
    verdict.save(folder.verdict)
    return verdict


def judge(plan: Plan, journal: Journal, nodes: Path | None = None) -> RunVerdict:
    """All checkers, expectations and coverage together. Linear in the journal.

    With `nodes`, the folder of the nodes' own folders, the logs that they left are held against it too.
    """
    troubles = list(_troubles(journal))
    history = read_history(journal)
    claims = [
        *_data_plane(plan, journal, history, nodes),
        *_leadership(plan, journal),
        *excuse_starved(plan, journal, expectations.check(plan, journal)),
    ]
    coverage = [*check_coverage(plan, journal), *_produced(plan, history)]
    claims += _out_of_date(plan, claims, coverage)
    doubts = list(_doubts(journal, [*troubles, *(each for each in claims if each.verdict is Verdict.INFRASTRUCTURE)]))
    claims = _explained(plan, journal, history, nodes, claims)
    claims = [_held_back(_as_listed(plan, finding), doubts) for finding in claims]
    findings = (*troubles, *claims, *_unproven(journal), *coverage)
    verdict = Verdict.worst(finding.verdict for finding in findings)
    return RunVerdict(
        verdict=verdict,
        headline=_headline(plan, verdict, findings),
        story=plan.story,
        target=plan.target,
        plan_hash=plan_hash(plan),
        duration=journal.duration,
        events=len(journal.events),
        torn=journal.torn,
        findings=findings,
    )


def _data_plane(
    plan: Plan, journal: Journal, history: History, nodes: Path | None, taken: Sequence[Reach] = ()
) -> list[Finding]:
    """What clients saw, and what the nodes' files say of it. Every record in doubt is shown on every replica. Records
    that are `taken` are left out."""
    replicas = read_replicas(plan, nodes) if nodes is not None and nodes.is_dir() else None
    if taken:
        replicas = replicas and copies_without(replicas, history, taken)
        history = without(history, taken)
    if replicas is not None:
        history = replace(history, session=replicas.session)
    seen = [checker(history) for checker in DATA_CHECKERS]
    if replicas is None:
        return seen
    table = RecordTable(history, replicas)
    return [
        *(table.show(finding) for finding in seen),
        *check_replicas(history, replicas),
        *check_log_files(replicas, journal),
    ]


def _leadership(plan: Plan, journal: Journal) -> list[Finding]:
    control = read_control(journal)
    dialect = load_file(plan.target.partition(":")[0]).dialect
    assigned: dict[TopicPartition, tuple[int, ...]] = {
        (topic.name, number): replicas for topic in plan.topics for number, replicas in enumerate(topic.assignments)
    }
    return [
        one_leader(control),
        leader_epochs_grow(control),
        lawful_isr(control, assigned, may_outlast=not dialect.has_controllers),
        *_controllers(control, dialect),
        stale_metadata(journal),
    ]


def _controllers(control: ControlHistory, dialect: Dialect) -> tuple[Finding, ...]:
    if not dialect.has_controllers:
        return ()
    if not dialect.around_zookeeper:
        return (one_controller(control),)
    return one_controller(control, "INT-01"), controller_epochs_grow(control), no_old_controller_writes(control)


def _troubles(journal: Journal) -> Iterator[Finding]:
    """What makes the run worth nothing, or part of it."""
    if journal.damaged:
        lines = "; ".join(map(str, journal.damaged[:5]))
        yield _infrastructure("journal", f"{len(journal.damaged)} lines of the journal are damaged: {lines}.")
    if not journal.finished:
        last = f"event {journal.events[-1].seq} at {journal.duration:.1f} s" if journal.events else "nothing"
        yield _infrastructure("unfinished", f"The run did not come to its end; the last it recorded is {last}.")
    for event in journal.of("note"):
        if event.data.get("what") == TROUBLE:
            yield replace(_infrastructure("harness", event.data["sentence"]), at=event.t)


def _infrastructure(check: str, sentence: str) -> Finding:
    title = {
        "journal": "The journal is damaged",
        "unfinished": "The run was cut short",
        "harness": "The harness failed",
    }[check]
    return Finding(Verdict.INFRASTRUCTURE, check, title, sentence)


def _unproven(journal: Journal) -> Iterator[Finding]:
    for event in journal.of("fault", "unproven", "unhealed"):
        effect = "take effect" if event.phase == "unproven" else "heal"
        yield Finding(
            verdict=Verdict.INCONCLUSIVE,
            check="faults",
            title="A fault was not what the plan asked for",
            sentence=f"The fault {event.id} could not be shown to {effect}: {event.data.get('how', 'no measurement')}.",
            at=event.t,
        )


def _doubts(journal: Journal, troubles: list[Finding]) -> Iterator[Doubt]:
    for trouble in troubles:
        lost_lines = trouble.check == "journal"
        bases = {Basis.FAULT, Basis.ABSENCE} if lost_lines else {Basis.FAULT}
        since = trouble.at if trouble.check == "nodes" else None
        yield Doubt(trouble.sentence, frozenset(bases), since=-inf if since is None else since)
    begun = {"unproven": "intent", "unhealed": "recovering"}
    for event in journal.of("fault", *begun):
        starts = [
            each.t for each in journal.of("fault", begun[event.phase]) if each.id == event.id and each.t <= event.t
        ]
        state = "working" if event.phase == "unproven" else "healed"
        reason = f"the fault {event.id} was not proven {state}."
        yield Doubt(reason, frozenset({Basis.FAULT}), since=max(starts, default=event.t))
    yield from _broken_off(journal)


def _broken_off(journal: Journal) -> Iterator[Doubt]:
    """A run that comes to its end heals whatever is left, and only then converges."""
    if any(event.id == CONVERGE for event in journal.of("step", "begin")):
        return
    begun: dict[str, float] = {}
    for event in journal.of("fault"):
        if event.phase in ("healed", "unhealed"):
            begun.pop(event.id, None)
        else:
            begun.setdefault(event.id, event.t)
    for name, since in begun.items():
        reason = f"the run was broken off while the fault {name} was at work."
        yield Doubt(reason, frozenset({Basis.FAULT, Basis.ABSENCE}), since)


def _held_back(finding: Finding, doubts: list[Doubt]) -> Finding:
    for doubt in doubts:
        if doubt.covers(finding):
            return finding.withdrawn(doubt.reason)
    return finding


def _explained(
    plan: Plan, journal: Journal, history: History, nodes: Path | None, claims: list[Finding]
) -> list[Finding]:
    """What a listed difference can have done by its mechanism is put down to it; whatever is wrong besides stands."""
    for mechanism in dict.fromkeys(each.mechanism for each in plan.deviations if each.mechanism is not None):
        listed = {each.requirement: each.difference for each in plan.deviations if each.mechanism == mechanism}
        if nodes is None or not any(
            each.verdict is Verdict.VIOLATION and each.requirement in listed for each in claims
        ):
            continue
        taken = reaches(mechanism, plan, journal, history, nodes.parent / "logs")
        rest = {each.check: each for each in _data_plane(plan, journal, history, nodes, taken)} if taken else {}
        claims = [_put_down(each, listed, rest.get(each.check), taken) for each in claims]
        if mechanism == CUT and (nodes_of := undated(plan, journal, nodes.parent / "logs")):
            reason = f"the clock of {', '.join(nodes_of)} was changed, so its log does not say when it cut what."
            claims = [
                each.withdrawn(reason) if each.verdict is Verdict.VIOLATION and each.requirement in listed else each
                for each in claims
            ]
    return claims


def _put_down(finding: Finding, listed: Mapping[str, str], rest: Finding | None, taken: Sequence[Reach]) -> Finding:
    """`rest`: what the same check finds without the records that the mechanism can have taken."""
    difference = None if finding.requirement is None else listed.get(finding.requirement)
    if finding.verdict is not Verdict.VIOLATION or difference is None or rest is None:
        return finding
    if rest.verdict is Verdict.VIOLATION:
        return replace(rest, sentence=f"{rest.sentence} Known differences do not explain these.")
    if rest.verdict is not Verdict.PASS:
        return rest
    how = "; ".join(dict.fromkeys(reach.how for reach in taken))
    sentence = f"{finding.sentence} Known as {difference}: {how}."
    return replace(finding, verdict=Verdict.PASS, difference=difference, sentence=sentence)


def _as_listed(plan: Plan, finding: Finding) -> Finding:
    """A violation that the plan's target is listed for is what was expected, and stays visible as that."""
    for deviation in plan.deviations:
        if (
            finding.verdict is Verdict.VIOLATION
            and deviation.mechanism is None
            and finding.requirement == deviation.requirement
            and finding.difference is None
        ):
            sentence = f"{finding.sentence} Listed for {plan.target} as {deviation.difference}."
            return replace(finding, verdict=Verdict.PASS, difference=deviation.difference, sentence=sentence)
    return finding


def _out_of_date(plan: Plan, claims: Iterable[Finding], coverage: Iterable[Finding]) -> list[Finding]:
    """A listed difference that does not show is a violation too, if the run gave it the chance to."""
    open_ = {finding.requirement for finding in claims if finding.verdict in (Verdict.VIOLATION, Verdict.INCONCLUSIVE)}
    covered = all(finding.verdict is Verdict.PASS for finding in coverage) and not any(
        finding.verdict in (Verdict.INFRASTRUCTURE, Verdict.INCONCLUSIVE) for finding in claims
    )
    return [
        Finding(
            verdict=Verdict.VIOLATION if covered else Verdict.INCONCLUSIVE,
            check="deviation",
            title="A listed difference no longer shows",
            sentence=f"{plan.target} is listed to break {each.requirement} here ({each.difference}), and did not.",
            requirement=each.requirement,
            level="must",
            difference=each.difference,
        )
        for each in plan.deviations
        if each.level == "must" and each.requirement not in open_
    ]


def _produced(plan: Plan, history: History) -> Iterable[Finding]:
    """A workload that was to be acknowledged and never was says nothing about acknowledged records."""
    wanted = [producer.name for producer in plan.workload.producers if producer.acks == "all"]
    if not wanted:
        return ()
    if not history.promises:
        return (_PRODUCED.unjudged(f"Nothing that {', '.join(wanted)} sent was acknowledged: no promise to judge."),)
    return (_PRODUCED.held(len(history.promises), f"{len(history.promises)} records were acknowledged at acks=all."),)


def _headline(plan: Plan, verdict: Verdict, findings: Iterable[Finding]) -> str:
    """The first finding that made the verdict what it is; of a pass, what was judged."""
    findings = list(findings)
    if verdict is not Verdict.PASS:
        return next(finding.sentence for finding in findings if finding.verdict is verdict)
    shown = [finding for finding in findings if finding.difference and finding.counterexample]
    if shown:
        return shown[0].sentence
    requirements = {finding.requirement for finding in findings if finding.requirement}
    return f"All {len(requirements)} rules that this run could judge held."
