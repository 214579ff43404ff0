"""The report page of a run: one HTML file that needs no other file."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Template, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from fencepost.harness.catalogue import Requirement, describe
from fencepost.harness.checkers.history import History, SendOutcome, read_history
from fencepost.harness.checkers.starvation import read_waits
from fencepost.harness.judge import judge
from fencepost.harness.plan.base import Level
from fencepost.harness.plan.file import load_plan
from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.prose import claim_in_words
from fencepost.harness.report.cause import find_cause
from fencepost.harness.report.record_rows import shown_before
from fencepost.harness.report.shapes import Bars, Density, Lane, Rows, Timeline
from fencepost.harness.report.state_change_rows import broker_rows, state_change_rows, watch_rows
from fencepost.harness.report.state_changes import StateChanges, read_state_changes
from fencepost.harness.report.svg import draw
from fencepost.harness.report.timeline import build_timeline
from fencepost.results.pages import page_environment
from fencepost.results.records.folder import Manifest, RunFolder, short_digest
from fencepost.results.records.journal import Journal, read_journal
from fencepost.results.records.replay_command import replay_command
from fencepost.results.records.requirements import RequirementResult, RequirementState
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict

LOG_LINES = 20

_LEGEND: Final = {
    "s-fault": "fault in effect, proven",
    "s-pending": "fault requested, or healing",
    "s-doubtful": "not proven",
    "s-ensemble": "leads the ensemble",
    "s-controller": "active controller",
    "s-believes": "reports itself active, outdated",
    "s-standby": "standby",
    "s-active": "active, in the ISR",
    "s-leader": "leads",
    "s-fenced": "out of service: fenced, inactive, not registered",
    "s-offline": "replica offline",
    "s-starting": "starting",
    "s-paused": "paused",
    "s-duplicate": "second process with the same id",
    "s-waiting": "state changes in its queue",
    "s-completed": "completed",
    "s-ignored": "ignored, old epoch",
    "s-failed": "failed",
    "s-move": "step of a reassignment done",
    "s-stale": "answers with outdated metadata",
    "s-served": "serves a direct request",
    "s-refused": "refuses a direct request",
    "s-silent": "does not answer a direct request",
    "d-ok": "acknowledged",
    "d-unknown": "outcome unknown",
    "d-failed": "refused",
}


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log file beside the page, with its last lines."""

    href: str
    lines: int
    tail: tuple[str, ...]


def write_report(folder: RunFolder, plan: Plan | None = None) -> Path:
    """Write `report.html` of a run and return its path. A run without a verdict is judged now.

    Pass the plan to save the time to parse it. Raises FileNotFoundError without a plan or a journal.
    """
    plan, journal = plan or load_plan(folder.plan), read_journal(folder.journal)
    page = render(
        plan,
        journal,
        RunVerdict.load(folder.verdict) if folder.verdict.exists() else judge(plan, journal, folder.nodes),
        Manifest.load(folder.manifest) if folder.manifest.exists() else None,
        replay=replay_command(folder),
        logs=tuple(_logs(folder)),
        state_changes=read_state_changes(folder, journal),
    )
    folder.report.write_text(page, encoding="utf-8")
    return folder.report


def render(
    plan: Plan,
    journal: Journal,
    verdict: RunVerdict,
    manifest: Manifest | None = None,
    *,
    replay: str,
    logs: Sequence[LogFile] = (),
    state_changes: StateChanges | None = None,
) -> str:
    """Return the page. The same arguments give the same page."""
    history = read_history(journal)
    numbered = numbered_findings(verdict)
    state_changes = state_changes or StateChanges()
    titles = step_titles(plan, journal)
    cause = find_cause(plan, journal, history, numbered)
    timeline = build_timeline(plan, journal, history, numbered, state_changes, titles, 1 if cause else None)
    return _template().render(
        plan=plan,
        verdict=verdict,
        meta=list(_meta(plan, verdict, manifest)),
        headline=_headline(verdict.headline),
        cause=cause,
        titles=titles,
        rule_of=lambda name: _rule(verdict, name),
        replay=replay,
        timeline=Markup(draw(timeline)),
        legend=_legend(timeline),
        numbered=numbered,
        same=shown_before(numbered),
        differences=sorted({finding.difference for finding in numbered if finding.difference}),
        failures=verdict.of(Verdict.INFRASTRUCTURE),
        doubts=verdict.shown(Verdict.INCONCLUSIVE),
        requirements=list(_requirements(plan, verdict)),
        steps=list(_steps(plan, journal, titles, verdict)),
        producers=list(_producers(history)),
        reads=_reads(history),
        stale=list(_stale(verdict)),
        lives=state_change_rows(state_changes),
        brokers=broker_rows(state_changes),
        watches=watch_rows(journal),
        coverage=[finding for finding in verdict.findings if finding.check == "coverage"],
        judged=[finding for finding in verdict.findings if finding.check != "coverage"],
        environment=[*_environment(plan, manifest), *_waited(journal)],
        logs=logs,
    )


def numbered_findings(verdict: RunVerdict) -> list[Finding]:
    """Return the findings with a number on the page: violations, then listed differences that showed."""
    differences = [each for each in verdict.shown(Verdict.PASS) if each.difference and each.counterexample]
    return [*verdict.shown(Verdict.VIOLATION), *differences]


def step_titles(plan: Plan, journal: Journal) -> dict[str, str]:
    """Return each step in prose, by its name, with the nodes and values that the run bound."""
    bound = {event.id: event.data["bound"] for event in journal.of("step", "end") if "bound" in event.data}
    return {plan.step_name(number): claim_in_words(step, bound) for number, step in enumerate(plan.steps)}


@cache
def _template() -> Template:
    environment = page_environment("fencepost.harness.report")
    environment.filters["step_links"] = step_links
    return environment.get_template("page.html.j2")


@pass_context
def step_links(context: Context, text: str) -> Markup:
    """A filter for messages: each name between backquotes of a step, of those in `titles`, becomes a link to it."""

    def link(match: re.Match[str]) -> str:
        name = match[1]
        is_step = name in context["titles"]
        return f'<a class="step" href="#step-{name}">{name}</a>' if is_step else f"<code>{name}</code>"

    return Markup(re.sub("`([^`]+)`", link, str(_whole_names(text))))


def _whole_names(text: str) -> Markup:
    """Return the text with short names that have a hyphen, such as `node-4`, in elements that no line breaks."""
    return Markup(
        re.sub(r"(?<![\w`-])\w{1,12}-\d{1,3}(?![\w`-])", r'<span class="name">\g<0></span>', str(escape(text)))
    )


def _headline(text: str) -> tuple[str, str]:
    """Split a headline at its first full stop."""
    first, separator, rest = text.partition(". ")
    return (f"{first}.", rest) if separator else (text, "")


def _meta(plan: Plan, verdict: RunVerdict, manifest: Manifest | None) -> Iterator[str]:
    roles = Counter(
        "duplicate" if node.duplicate_of else "+".join(node.roles).replace("zookeeper", "ZooKeeper server")
        for node in plan.topology.nodes
    )
    yield plan.document
    yield plan.target.replace(":", " ")
    if manifest is not None and manifest.target_digest:
        yield f"digest {short_digest(manifest.target_digest)}"
    if manifest is not None:
        yield f"{manifest.backend} backend"
    yield f"plan {plan_hash(plan)[:8]}"
    yield f"seed {plan.seed}"
    yield f"{verdict.duration:.1f} s"
    yield ", ".join(f"{count} {role}{'s'[: count != 1]}" for role, count in roles.items())


def _legend(timeline: Timeline) -> list[tuple[str, str]]:
    """Return the kinds that this timeline has, with their meanings."""
    used = {kind for group in timeline.groups for lane in group.lanes for kind in _kinds(lane)}
    return [(kind, meaning) for kind, meaning in _LEGEND.items() if kind in used]


def _kinds(lane: Lane) -> set[str]:
    match lane:
        case Bars():
            bars = {f"s-{each.kind}" for each in (*lane.segments, *lane.strip)}
            return bars | {f"s-{mark.kind}" for mark in lane.marks}
        case Rows():
            return {f"s-{each.kind}" for _, segments in lane.rows for each in segments}
        case Density():
            return {f"d-{fate}" for each in lane.bins for fate in each.counts}
        case _:
            return set()


def _requirements(plan: Plan, verdict: RunVerdict) -> Iterator[dict[str, str | int]]:
    """Yield one row for each requirement: its worst finding first, then requirements that no check judged."""
    findings: dict[str, list[Finding]] = defaultdict(list)
    for finding in verdict.findings:
        for rule in finding.requirements:
            findings[rule].append(finding)
    order = [Verdict.VIOLATION, Verdict.INFRASTRUCTURE, Verdict.INCONCLUSIVE, Verdict.PASS]

    def weight(finding: Finding) -> tuple[int, bool, bool]:
        return order.index(finding.verdict), finding.difference is None, _idle(finding)

    rows = [(name, min(judged, key=weight)) for name, judged in findings.items()]
    numbered = numbered_findings(verdict)
    for name, finding in sorted(rows, key=lambda row: (order.index(row[1].verdict), row[0])):
        state, style = _state(finding, verdict.requirement(name))
        number = numbered.index(finding) + 1 if finding in numbered else 0
        message = "" if finding.verdict is Verdict.INCONCLUSIVE else finding.message
        yield _requirement(verdict, name, state, style, message, number)
    for missing in sorted(set(plan.requirements) - set(findings)):
        yield _requirement(verdict, missing, "not exercised", "unjudged")


def _requirement(
    verdict: RunVerdict, name: str, state: str, style: str, message: str = "", number: int = 0
) -> dict[str, str | int]:
    """Return a row. `number` is that of its finding on the page, 0 if it has none there."""
    rule = _rule(verdict, name)
    says, source = ("", "") if rule is None else (rule.says or "", f"{rule.document}, {rule.section}")
    row: dict[str, str | int] = {"id": name, "state": state, "style": style, "says": says, "source": source}
    return row | {"message": message, "number": number}


def _rule(verdict: RunVerdict, name: str | None) -> RequirementResult | Requirement | None:
    """Return the text of a requirement as the verdict has it; older verdicts have none, and the catalogue is asked."""
    stored = verdict.requirement(name)
    return stored if stored is not None and stored.says else describe(name)


def _idle(finding: Finding) -> bool:
    return not finding.evidence.get("judged")


def _state(finding: Finding, result: RequirementResult | None) -> tuple[str, str]:
    if finding.difference and finding.verdict is Verdict.PASS:
        return f"as listed ({finding.difference})", "known"
    if finding.verdict is Verdict.VIOLATION:
        return "broken", "violation"
    if finding.verdict is not Verdict.PASS:
        return "not covered", "inconclusive"
    if _idle(finding) if result is None else result.state is RequirementState.NOT_EXERCISED:
        return "not exercised", "unjudged"
    return "held", "pass"


_MISSED: Final = {
    Level.MUST: ("did not happen, and must", "violation"),
    Level.MAY: ("did not happen, as it may", "unjudged"),
    Level.NEVER: ("never happened, as required", "pass"),
}


def _steps(plan: Plan, journal: Journal, titles: Mapping[str, str], verdict: RunVerdict) -> Iterator[dict[str, str]]:
    broken = {finding.evidence.get("step") for finding in verdict.of(Verdict.VIOLATION)}
    begun = {event.id: event.t for event in journal.of("step", "begin")}
    ended = {event.id: event for event in journal.of("step", "end")}
    for index, step in enumerate(plan.steps):
        name = plan.step_name(index)
        end = ended.get(name)
        outcome = str(end.data.get("outcome", "")) if end else ("not ended" if name in begun else "not reached")
        expect = getattr(step, "expect", None)
        style = "pass" if outcome == "done" else "inconclusive"
        if outcome == "missed" and expect is not None:
            outcome, style = _MISSED[expect.level]
        elif name in broken:
            outcome, style = "done, claim broken", "violation"
        yield {
            "name": name,
            "does": titles[name],
            "requirement": "" if expect is None else expect.requirement,
            "at": f"{begun[name]:.2f} s" if name in begun else "",
            "took": f"{end.t - begun[name]:.2f} s" if end and name in begun else "",
            "outcome": outcome,
            "style": style,
        }


def _producers(history: History) -> Iterator[dict[str, Any]]:
    outcomes: dict[str, Counter[SendOutcome]] = defaultdict(Counter)
    errors: dict[str, Counter[str]] = defaultdict(Counter)
    for send in history.sends:
        outcomes[send.process][send.outcome] += 1
        if send.error:
            errors[send.process][send.error] += 1
    for name, counts in outcomes.items():
        yield {
            "name": name,
            "sent": counts.total(),
            "ok": counts[SendOutcome.OK],
            "failed": counts[SendOutcome.FAIL],
            "unknown": counts[SendOutcome.INFO],
            "errors": ", ".join(f"{error} × {count}" for error, count in errors[name].most_common(4)),
        }


def _stale(verdict: RunVerdict) -> Iterator[dict[str, Any]]:
    """Yield the brokers that answered with outdated metadata, the oldest first."""
    measured = [each.evidence for each in verdict.findings if each.check == "stale-metadata"]
    figures: Mapping[str, Any] = measured[0].get("stale", {}) if measured else {}
    for node, figure in sorted(figures.items(), key=lambda each: -float(each[1]["oldest_s"])):
        yield {"node": node, **figure}


def _reads(history: History) -> str:
    along = sum(len(poll.records) for poll in history.polls if not poll.final)
    final = sum(len(read.values) for read in history.final.values())
    where = f"{len(history.final)} partition{'s'[: len(history.final) != 1]}"
    return f"Consumers read {along} records during the run; the final read of {where} returned {final}."


def _environment(plan: Plan, manifest: Manifest | None) -> Iterator[tuple[str, str]]:
    yield "plan", plan_hash(plan)
    yield "seed", str(plan.seed)
    if manifest is None:
        return
    yield "run", manifest.run
    yield "target", f"{manifest.target} {manifest.target_version}"
    if manifest.planted_defect:
        yield "planted defect", " of ".join(filter(None, (manifest.planted_defect, ", ".join(manifest.planted_nodes))))
    yield "target's digest", manifest.target_digest or "not known"
    yield "target's commit", manifest.target_commit or "not known"
    yield "commit of fencepost", manifest.commit or "none"
    yield from ((f"CI {key}", value) for key, value in manifest.ci.items())
    for part in (manifest.programs, manifest.machine, manifest.versions, manifest.hashes):
        yield from _pairs(part)


def _waited(journal: Journal) -> Iterator[tuple[str, str]]:
    """Yield the time for which each node waited for a processor, if it was measured."""
    sums = {node: sum(wait.seconds for wait in waits) for node, waits in read_waits(journal).items()}
    if sums:
        worst = sorted(sums.items(), key=lambda each: -each[1])
        yield "waited for a processor", ", ".join(f"{node} {seconds:.1f} s" for node, seconds in worst)


def _pairs(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield from ((key, str(value)) for key, value in values.items())


def _logs(folder: RunFolder) -> Iterator[LogFile]:
    for path in sorted(folder.logs.glob("*.log")):
        lines = path.read_text(errors="replace").splitlines()
        yield LogFile(path.relative_to(folder.path).as_posix(), len(lines), tuple(lines[-LOG_LINES:]))
