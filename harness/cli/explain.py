"""`fencepost explain`: a rule or a check, the scenarios that ask it, what judges it, and the last evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from textwrap import wrap

from fencepost.harness.catalogue.model import RequirementKind
from fencepost.harness.cli.commands.scenarios import ExplainOptions
from fencepost.harness.cli.explaining import Asked, Evidence, Explainer, KnownCheck, Rule
from fencepost.harness.terminal import terminal, width_for_text

MARGIN = 12
MOST = 4
"""Scenarios of a target, and unit tests, that are printed; `--json` has all."""
KINDS = {
    RequirementKind.DOCUMENT: "",
    RequirementKind.DECISION: " (how we read an open place)",
    RequirementKind.GUARANTEE: " (owed by every design)",
}
BASES = {
    "presence": "events that contradict each other, so that a violation always stands",
    "absence": "an event that is missing, so that a damaged journal withdraws a violation",
    "fault": "the time or the effect of a fault, so that a fault in doubt withdraws a violation",
}


def explain(options: ExplainOptions) -> None:
    """Print each id. UsageError for the first that does not exist."""
    explainer = Explainer(options.runs, options.target)
    found = [explainer.explain(each) for each in options.ids]
    if options.as_json:
        print(json.dumps([each.to_json() for each in found], indent=2))
        return
    console = terminal()
    for number, each in enumerate(found):
        lines = _of_rule(each, options) if isinstance(each, Rule) else _of_check(each, options)
        text = "\n".join(line for name, said in lines for line in _wrapped(name, said, width_for_text(console)))
        console.print(f"\n{text}" if number else text, soft_wrap=True, markup=False)


def _of_rule(rule: Rule, options: ExplainOptions) -> Iterator[tuple[str, str]]:
    row = rule.row
    yield row.id, row.says
    yield "document", rule.document.title
    if rule.document.url is not None:
        yield "", rule.document.url
    yield "section", row.section
    yield "level", f"{row.level.value}{KINDS[row.kind]}"
    if row.note is not None:
        yield "note", row.note
    yield from _list("read with", [f"{each.id}: {each.says}" for each in rule.readings])
    yield from _asked(rule.asked)
    yield from _list("checks", [f"{each.name}, in every run: {each.anomaly}" for each in rule.checks])
    more = [f"and {len(rule.tests) - MOST} more"] if len(rule.tests) > MOST else []
    yield from _list("unit tests", [*rule.tests[:MOST], *more])
    if row.untested is not None:
        yield "untested", row.untested
    if row.unseen is not None:
        yield "unseen", row.unseen
    yield from _evidence(rule.evidence, options.runs, _command(rule, options.target))


def _asked(asked: Sequence[Asked]) -> Iterator[tuple[str, str]]:
    lines = [] if asked else ["no step of a scenario"]
    for target, group in groupby(asked, key=lambda each: each.target):
        scenarios = list(group)
        lines.append(f"{len(scenarios)} scenario{'s'[: len(scenarios) != 1]} on {target}")
        lines += [f"  {each.scenario}: {'; '.join(each.claims)}" for each in scenarios[:MOST]]
        if len(scenarios) > MOST:
            lines.append(f"  and {', '.join(each.scenario for each in scenarios[MOST:])}")
    yield from _list("asked by", lines)


def _command(rule: Rule, target: str | None) -> str | None:
    """Return the command that exercises the rule, if there is one: on a target that follows it rather than not."""
    if rule.asked:
        first = min(rule.asked, key=lambda each: any(" as " in claim for claim in each.claims))
        return f"fencepost run {first.scenario} --target {target or first.target}"
    return _suites(target) if rule.checks else None


def _suites(target: str | None) -> str:
    return " ".join(filter(None, ("fencepost conformance", target)))


def _of_check(check: KnownCheck, options: ExplainOptions) -> Iterator[tuple[str, str]]:
    yield check.name, check.says
    yield from _list("judges", [f"{each.id}: {each.says} ({each.document}, {each.section})" for each in check.rules])
    if check.basis is not None:
        yield "evidence", BASES[check.basis]
    if check.place is not None:
        yield "code", check.place
    yield from _evidence(check.evidence, options.runs, _suites(options.target))


def _evidence(evidence: Evidence | None, runs: Path, command: str | None) -> Iterator[tuple[str, str]]:
    if evidence is None:
        yield "last run", f"no run in {runs} exercised it"
        if command is not None:
            yield "try", command
        return
    yield (
        "last run",
        f"{evidence.state} in {evidence.scenario} on {evidence.target}; verdict of the run: {evidence.verdict}",
    )
    yield "report", evidence.report


def _list(name: str, entries: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield entries, the first with the name before it."""
    yield from ((name if not number else "", each) for number, each in enumerate(entries))


def _wrapped(name: str, text: str, width: int) -> Iterator[str]:
    """Yield the lines of an entry. A word that is longer than a line, such as an address, stays whole."""
    indent = " " * (len(text) - len(text.lstrip()))
    further = f"{indent}  " if indent else ""
    room = max(20, width - MARGIN)
    lines = wrap(text, room, break_long_words=False, break_on_hyphens=False, subsequent_indent=further)
    for number, line in enumerate(lines or [""]):
        yield f"{'' if number else name:<{MARGIN - 1}} {line}".rstrip()
