"""The report page of a run: one HTML file that needs nothing beside it."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from harness.checkers.history import History, Outcome, read_history
from harness.checkers.starvation import read_waits
from harness.judge import judge
from harness.plan.file import load_plan
from harness.plan.hash import plan_hash
from harness.plan.model import Plan
from harness.report.draw import draw
from harness.report.fault_lanes import may_miss
from harness.report.record_rows import shown_before
from harness.report.shapes import Bars, Density, Lane, Rows, Timeline
from harness.report.state_change_rows import broker_rows, state_change_rows, watch_rows
from harness.report.state_changes import StateChanges, read_state_changes
from harness.report.timeline import build_timeline
from harness.reproduction.command import replay_command
from results.records.folder import Manifest, RunFolder
from results.records.journal import Journal, read_journal
from results.records.verdict import Finding, RunVerdict, Verdict

LOG_LINES = 20

_LEGEND: Final = {
    "s-fault": "a fault works, proven",
    "s-pending": "ordered, or healing",
    "s-doubtful": "not proven",
    "s-ensemble": "leads the ensemble",
    "s-controller": "active controller",
    "s-believes": "thinks that it is active",
    "s-standby": "standby",
    "s-active": "active, in the ISR",
    "s-leader": "leads",
    "s-fenced": "out of service: fenced, inactive, not registered",
    "s-offline": "replica offline",
    "s-starting": "starting",
    "s-paused": "paused",
    "s-duplicate": "second process of an id",
    "s-waiting": "state changes wait in its queue",
    "s-completed": "completed",
    "s-ignored": "ignored, of an old epoch",
    "s-failed": "failed",
    "s-move": "a step of a reassignment is done",
    "s-stale": "hands out old metadata",
    "s-served": "asked directly, it serves",
    "s-refused": "refuses",
    "s-silent": "does not answer",
    "d-ok": "acknowledged",
    "d-unknown": "outcome unknown",
    "d-failed": "refused",
}


@dataclass(frozen=True, slots=True)
class Log:
    """A log file beside the page, and how it ends."""

    href: str
    lines: int
    tail: tuple[str, ...]


def write_report(folder: RunFolder) -> Path:
    """Write `report.html` of a run; one that died before it was judged is judged now.

    Raises FileNotFoundError without a plan or a journal.
    """
    plan, journal = load_plan(folder.plan), read_journal(folder.journal)
    page = render(
        plan,
        journal,
        RunVerdict.load(folder.verdict) if folder.verdict.exists() else judge(plan, journal, folder.nodes),
        Manifest.load(folder.manifest) if folder.manifest.exists() else None,
        replay=replay_command(folder),
        logs=tuple(_logs(folder)),
        told=read_state_changes(folder, journal),
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
    logs: Sequence[Log] = (),
    told: StateChanges | None = None,
) -> str:
    """The page. The same arguments give the same page."""
    environment = Environment(
        loader=PackageLoader("harness.report", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    history = read_history(journal)
    numbered = numbered_findings(verdict)
    told = told or StateChanges()
    timeline = build_timeline(plan, journal, numbered, told)
    return environment.get_template("page.html.j2").render(
        plan=plan,
        verdict=verdict,
        meta=list(_meta(plan, verdict, manifest)),
        headline=_headline(verdict.headline),
        replay=replay,
        style=Markup(_source("style.css")),
        script=Markup(_source("page.js")),
        timeline=Markup(draw(timeline)),
        legend=_legend(timeline),
        numbered=numbered,
        same=shown_before(numbered),
        differences=sorted({finding.difference for finding in numbered if finding.difference}),
        troubles=[*verdict.of(Verdict.INFRASTRUCTURE), *verdict.of(Verdict.INCONCLUSIVE)],
        requirements=list(_requirements(plan, verdict)),
        steps=list(_steps(plan, journal)),
        producers=list(_producers(history)),
        reads=_reads(history),
        stale=list(_stale(verdict)),
        lives=state_change_rows(told),
        brokers=broker_rows(told),
        watches=watch_rows(journal),
        coverage=[finding for finding in verdict.findings if finding.check == "coverage"],
        judged=[finding for finding in verdict.findings if finding.check != "coverage"],
        environment=[*_environment(plan, manifest), *_waited(journal)],
        logs=logs,
    )


def numbered_findings(verdict: RunVerdict) -> list[Finding]:
    """Those with a number on the page: violations, then what the target is listed for and was shown."""
    known = [
        each for each in verdict.findings if each.verdict is Verdict.PASS and each.difference and each.counterexample
    ]
    return [*verdict.of(Verdict.VIOLATION), *known]


def _source(name: str) -> str:
    return Path(__file__).with_name(name).read_text()


def _headline(text: str) -> tuple[str, str]:
    """The first sentence, and the rest."""
    first, separator, rest = text.partition(". ")
    return (f"{first}.", rest) if separator else (text, "")


def _meta(plan: Plan, verdict: RunVerdict, manifest: Manifest | None) -> Iterator[str]:
    roles = Counter(
        "duplicate" if node.duplicate_of else "+".join(node.roles).replace("zookeeper", "ZooKeeper server")
        for node in plan.topology.nodes
    )
    yield plan.document
    yield plan.target.replace(":", " ")
    if manifest is not None:
        yield f"{manifest.backend} backend"
    yield f"plan {plan_hash(plan)[:8]}"
    yield f"seed {plan.seed}"
    yield f"{verdict.duration:.1f} s"
    yield ", ".join(f"{count} {role}{'s'[: count != 1]}" for role, count in roles.items())


def _legend(timeline: Timeline) -> list[tuple[str, str]]:
    """Only the kinds that this picture has."""
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


def _requirements(plan: Plan, verdict: RunVerdict) -> Iterator[dict[str, str]]:
    """One row a requirement: its worst finding, then those that the plan can prove and nothing judged."""
    findings: dict[str, list[Finding]] = defaultdict(list)
    for finding in verdict.findings:
        if finding.requirement:
            findings[finding.requirement].append(finding)
    order = [Verdict.VIOLATION, Verdict.INFRASTRUCTURE, Verdict.INCONCLUSIVE, Verdict.PASS]
    rows = [
        min(each, key=lambda finding: (order.index(finding.verdict), finding.difference is None))
        for each in findings.values()
    ]
    for finding in sorted(rows, key=lambda finding: (order.index(finding.verdict), finding.requirement or "")):
        level = finding.level or ""
        state, style = _state(finding)
        yield {
            "id": finding.requirement or "",
            "state": f"{level}, {state}" if level else state,
            "style": style,
            "says": finding.title,
            "sentence": finding.sentence,
        }
    for missing in sorted(set(plan.requirements) - set(findings)):
        yield {
            "id": missing,
            "state": "not judged",
            "style": "unjudged",
            "says": "",
            "sentence": "Nothing judged it here.",
        }


def _state(finding: Finding) -> tuple[str, str]:
    if finding.difference and finding.verdict is Verdict.PASS:
        return f"as listed ({finding.difference})", "known"
    if finding.verdict is Verdict.VIOLATION:
        return ("seen" if finding.level == "never" else "broken"), "violation"
    if finding.verdict is Verdict.INCONCLUSIVE:
        return "not covered", "inconclusive"
    if finding.evidence.get("judged") == 0:
        return "nothing to judge", "unjudged"
    return ("not seen" if finding.level == "never" else "held"), finding.verdict.value


def _steps(plan: Plan, journal: Journal) -> Iterator[dict[str, str]]:
    begun = {event.id: event.t for event in journal.of("step", "begin")}
    ended = {event.id: event for event in journal.of("step", "end")}
    for index, step in enumerate(plan.steps):
        name = plan.step_name(index)
        end = ended.get(name)
        outcome = str(end.data.get("outcome", "")) if end else ("not ended" if name in begun else "not reached")
        if outcome == "missed" and may_miss(step):
            outcome = "did not come"
        does = " ".join(str(part) for part in (step.do, _what(step)) if part)
        yield {
            "name": name,
            "does": does,
            "at": f"{begun[name]:.2f} s" if name in begun else "",
            "took": f"{end.t - begun[name]:.2f} s" if end and name in begun else "",
            "outcome": outcome,
            "style": "pass" if outcome in ("done", "did not come") else "inconclusive",
        }


def _what(step: object) -> str:
    return next(
        (str(value) for key in ("fault", "condition", "request", "action") if (value := getattr(step, key, None))), ""
    )


def _producers(history: History) -> Iterator[dict[str, Any]]:
    outcomes: dict[str, Counter[Outcome]] = defaultdict(Counter)
    errors: dict[str, Counter[str]] = defaultdict(Counter)
    for send in history.sends:
        outcomes[send.process][send.outcome] += 1
        if send.error:
            errors[send.process][send.error] += 1
    for name, counts in outcomes.items():
        yield {
            "name": name,
            "sent": counts.total(),
            "ok": counts[Outcome.OK],
            "failed": counts[Outcome.FAIL],
            "unknown": counts[Outcome.INFO],
            "errors": ", ".join(f"{error} × {count}" for error, count in errors[name].most_common(4)),
        }


def _stale(verdict: RunVerdict) -> Iterator[dict[str, Any]]:
    """Brokers that handed out old metadata, the oldest first."""
    measured = [each.evidence for each in verdict.findings if each.check == "stale-metadata"]
    figures: Mapping[str, Any] = measured[0].get("stale", {}) if measured else {}
    for node, figure in sorted(figures.items(), key=lambda each: -float(each[1]["oldest_s"])):
        yield {"node": node, **figure}


def _reads(history: History) -> str:
    along = sum(len(poll.records) for poll in history.polls if not poll.final)
    final = sum(len(read.values) for read in history.final.values())
    where = f"{len(history.final)} partition{'s'[: len(history.final) != 1]}"
    return f"{along} records were read while it ran, {final} in the final read of {where}."


def _environment(plan: Plan, manifest: Manifest | None) -> Iterator[tuple[str, str]]:
    yield "plan", plan_hash(plan)
    yield "seed", str(plan.seed)
    if manifest is None:
        return
    yield "run", manifest.run
    yield "target", f"{manifest.target} {manifest.target_version}"
    yield "commit", manifest.commit or "none"
    for part in (manifest.machine, manifest.versions, manifest.hashes):
        yield from _pairs(part)


def _waited(journal: Journal) -> Iterator[tuple[str, str]]:
    """Whether the machine had processors enough, where it was measured."""
    sums = {node: sum(wait.seconds for wait in waits) for node, waits in read_waits(journal).items()}
    if sums:
        worst = sorted(sums.items(), key=lambda each: -each[1])
        yield "waited for a processor", ", ".join(f"{node} {seconds:.1f} s" for node, seconds in worst)


def _pairs(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield from ((key, str(value)) for key, value in values.items())


def _logs(folder: RunFolder) -> Iterator[Log]:
    for path in sorted(folder.logs.glob("*.log")):
        lines = path.read_text(errors="replace").splitlines()
        yield Log(path.relative_to(folder.path).as_posix(), len(lines), tuple(lines[-LOG_LINES:]))
