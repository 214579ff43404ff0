"""The index page of a suite, a campaign or a folder of runs: verdicts, rules, the slowest runs, what was left out.

One HTML file that needs nothing beside it but the reports that it links, by relative paths.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup, escape

from fencepost.harness.catalogue import CatalogueError, describe
from fencepost.harness.report.index_runs import PAGE, Index, IndexedRun, Met, Part, read_index
from fencepost.results.pages import page_environment, relative_link
from fencepost.results.records.folder import short_digest
from fencepost.results.records.replay_command import replay_command
from fencepost.results.records.requirements import RequirementResult, RequirementState
from fencepost.results.records.verdict import Verdict

GLYPHS: Final = {
    RequirementState.BROKEN: "✕",
    RequirementState.NOT_COVERED: "?",
    RequirementState.AS_LISTED: "≈",
    RequirementState.HELD: "✓",
    RequirementState.NOT_EXERCISED: "–",
}
SKIPPED: Final = "skipped"
"""The state of a rule that only skipped scenarios name."""
ORDER: Final = (Verdict.VIOLATION, Verdict.INFRASTRUCTURE, Verdict.INCONCLUSIVE, None, Verdict.PASS)
NOT_JUDGED: Final = "not judged"
"""The state of a run without a verdict, for the filter."""
SLOWEST: Final = 10
MARKS: Final = 24
"""Marks of one state in one cell; further ones are counted."""


Judged = tuple[IndexedRun, RequirementResult]
"""A run, and the state of one rule in it."""


@dataclass(frozen=True)
class Mark:
    """One run in a cell of the rules. `href` is empty if the run left no report."""

    state: RequirementState
    tip: str
    href: str

    @property
    def glyph(self) -> str:
        return GLYPHS[self.state]


@dataclass(frozen=True)
class RuleRow:
    """One rule, with a cell for each target. A cell has marks, and the number of further marks by state."""

    id: str
    state: str
    says: str
    source: str
    url: str
    cells: tuple[tuple[tuple[Mark, ...], Mapping[RequirementState, int]], ...]

    @property
    def weight(self) -> int:
        states = list(RequirementState)
        return states.index(RequirementState(self.state)) if self.state != SKIPPED else len(states)


def write_index(folder: Path) -> Path:
    """Write `index.html` of a suite, a campaign or a folder of runs; return the path.

    FolderError if the folder is none of these.
    """
    index = read_index(folder)
    index.page.write_text(render(index), encoding="utf-8")
    return index.page


def write_indexes(folder: Path) -> list[Path]:
    """Write the page of a folder, and those of the suites and campaigns in it; return their paths, its own first."""
    parts = [write_index(part.folder) for part in read_index(folder).parts if part.verdict is not None]
    return [write_index(folder), *parts]  # last, because it links the others


def render(index: Index) -> str:
    runs = sorted(index.runs, key=lambda run: ORDER.index(run.verdict))  # stable: otherwise in the order that was given
    systems = list(dict.fromkeys(run.system for run in runs if run.verdict is not None))
    environment = page_environment("fencepost.harness.report")
    environment.filters["code"] = _code
    return environment.get_template("index.html.j2").render(
        index=index,
        runs=[_row(index, run) for run in runs],
        states_of_runs=(*(verdict.value for verdict in Verdict), NOT_JUDGED),
        states_of_rules=(*(state.value for state in RequirementState), SKIPPED),
        some_ids=any(run.broken or run.differences for run in runs),
        several_targets=len({(run.target, run.backend) for run in runs}) > 1,
        several_seeds=len({run.seed for run in runs}) > 1,
        systems=systems,
        rules=_rules(index, systems),
        planted=Counter(run.planted_defect for run in runs if run.planted_defect),
        latest=_latest(index.runs) != list(index.runs),
        slowest=_slowest(index, runs),
        identities=list(_identities(index.runs)),
        parts=[_part(index, part) for part in index.parts],
        roles=list(dict.fromkeys(each.role for each in index.met)),
        faults=_by_fault(index.met),
        glyphs=GLYPHS,
        above="../index.html" if index.is_part else "",
        written=_time(time.time()),
    )


def _row(index: Index, run: IndexedRun) -> dict[str, Any]:
    return {
        "run": run,
        "state": run.verdict.value if run.verdict is not None else NOT_JUDGED,
        "word": run.verdict.value if run.verdict is not None else run.state,
        "weight": ORDER.index(run.verdict),
        "broken": [(rule, _in_words(rule)) for rule in run.broken],
        "started": _time(run.started) if run.started is not None else "",
        "href": _href(index, run),
        "replay": replay_command(run.folder) if run.folder is not None else "",
    }


def _href(index: Index, run: IndexedRun) -> str:
    return relative_link(run.folder.report, index.folder) if run.folder is not None else ""


def _part(index: Index, part: Part) -> dict[str, Any]:
    return {
        "title": part.title,
        "name": part.folder.name,
        "href": relative_link(part.folder / PAGE, index.folder),
        "verdict": part.verdict.value if part.verdict is not None else "not ended",
        "counts": ", ".join(f"{number} {verdict.value}" for verdict, number in part.counts.items() if number),
        "facts": " · ".join(part.facts),
    }


def _latest(runs: Sequence[IndexedRun]) -> list[IndexedRun]:
    """Return the newest run of each scenario on each target and backend; two seeds of one scenario count as one."""
    newest: dict[tuple[str, str], IndexedRun] = {}
    for run in runs:
        key = run.scenario, run.system
        if key not in newest or (run.started or 0) > (newest[key].started or 0):
            newest[key] = run
    return list(newest.values())


def _rules(index: Index, systems: Sequence[str]) -> list[RuleRow]:
    """Return all rules that a run judged or a scenario names, the broken ones first."""
    of: dict[str, list[Judged]] = {}
    for run in _latest(index.runs):
        for rule in run.rules:
            of.setdefault(rule.id, []).append((run, rule))
    rows = [_rule_row(index, name, found, systems) for name, found in of.items()]
    for name in dict.fromkeys(rule for each in index.not_run for rule in each.requirements if rule not in of):
        says, source, url = _text(RequirementResult(name, RequirementState.NOT_EXERCISED))
        rows.append(RuleRow(name, SKIPPED, says, source, url, tuple(((), {}) for _ in systems)))
    return sorted(rows, key=lambda row: (row.weight, row.id))


def _real(index: Index, found: Sequence[Judged]) -> Sequence[Judged]:
    """Return the runs that decide the state of a rule: those with a planted defect only if the page has no others."""
    if all(run.planted_defect for run in index.runs):
        return found
    return [(run, rule) for run, rule in found if not run.planted_defect]


def _rule_row(
    index: Index,
    name: str,
    found: Sequence[Judged],
    systems: Sequence[str],
) -> RuleRow:
    states = list(RequirementState)
    text = next((rule for _, rule in found if rule.says), found[0][1])
    cells = []
    for system in systems:
        here = sorted(
            ((run, rule) for run, rule in found if run.system == system),
            key=lambda each: states.index(each[1].state),
        )
        marks: list[Mark] = []
        more: dict[RequirementState, int] = {}
        for run, rule in here:
            if sum(mark.state is rule.state for mark in marks) < MARKS:
                marks.append(Mark(rule.state, f"{run.scenario}: {rule.state.value}", _href(index, run)))
            else:
                more[rule.state] = more.get(rule.state, 0) + 1
        cells.append((tuple(marks), more))
    state = min(
        (rule.state for run, rule in _real(index, found)), key=states.index, default=RequirementState.NOT_EXERCISED
    )
    return RuleRow(name, state.value, *_text(text), tuple(cells))


def _in_words(rule: RequirementResult) -> str:
    says, source, _ = _text(rule)
    return f"{says} ({source})" if source else says


def _text(rule: RequirementResult) -> tuple[str, str, str]:
    """Return the rule in words, its source and its address: as the run has them, else as the catalogue has them."""
    if rule.says:
        return rule.says, ", ".join(filter(None, (rule.document, rule.section))), rule.url or ""
    try:
        row = describe(rule.id)
    except CatalogueError:
        row = None
    return ("", "", "") if row is None else (row.says, f"{row.document}, {row.section}", "")


def _slowest(index: Index, runs: Iterable[IndexedRun]) -> list[dict[str, Any]]:
    timed = sorted((run for run in runs if run.seconds), key=lambda run: -(run.seconds or 0))[:SLOWEST]
    longest = max((run.seconds or 0 for run in timed), default=1)
    return [
        {"run": run, "share": f"{100 * (run.seconds or 0) / longest:.1f}", "href": _href(index, run)} for run in timed
    ]


def _identities(runs: Iterable[IndexedRun]) -> Iterator[dict[str, Any]]:
    """Yield each combination of target, build, defect, job and harness that ran, with the number of its runs."""
    counted: dict[tuple[Any, ...], int] = {}
    for run in runs:
        manifest = run.manifest
        if manifest is None:
            continue
        ci = manifest.ci
        key = (
            run.target,
            short_digest(manifest.target_digest),
            tuple(manifest.programs.items()),
            manifest.target_commit,
            run.planted_defect,
            manifest.commit[:12] + ("-dirty" if manifest.commit.endswith("-dirty") else ""),
            " · ".join(filter(None, (ci.get("system"), ci.get("job"), ci.get("branch")))),
            ci.get("url", ""),
        )
        counted[key] = counted.get(key, 0) + 1
    names = ("target", "digest", "programs", "commit", "planted_defect", "fencepost", "ci", "url")
    for key, number in counted.items():
        yield dict(zip(names, key, strict=True)) | {"runs": number}


def _by_fault(met: Iterable[Met]) -> dict[str, dict[str, list[tuple[str, int]]]]:
    """Return for each fault and role how often they met, by the state of the node."""
    faults: dict[str, dict[str, list[tuple[str, int]]]] = {}
    for meeting in met:
        faults.setdefault(meeting.fault, {}).setdefault(meeting.role, []).append((meeting.state, meeting.times))
    return faults


def _code(text: str) -> Markup:
    """Return a message as HTML, with names in backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))
