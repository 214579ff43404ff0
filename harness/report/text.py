"""A verdict in a few lines of plain text for a terminal, without colours."""

from textwrap import wrap

from fencepost.harness.report.page import numbered_findings
from fencepost.harness.report.record_rows import rows_for_terminal
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.replay_command import replay_command
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict

MARGIN = 15
MOST = 3
"""Findings that are printed; the page has all."""


def summarise(verdict: RunVerdict, folder: RunFolder, *, width: int = 110) -> str:
    """Return the verdict with its findings, the rule of each, and the replay command.

    A pass without numbered findings has one line, and a second one for requirements that were not exercised.
    """
    target = verdict.target
    if verdict.planted_defect:
        target += f" with the planted defect {verdict.planted_defect}"
    lines = [_line(verdict.verdict.value, f"{verdict.scenario} on {target}, {verdict.duration:.1f} s")]
    findings = numbered_findings(verdict)
    named: set[str] = set()
    if verdict.verdict is not Verdict.PASS or findings:
        lines += _wrapped("", verdict.headline, width)
        first = next((each for each in verdict.findings if verdict.headline.endswith(each.message)), None)
        lines += _rule(verdict, first, named, width)
    findings = [finding for finding in findings if not verdict.headline.endswith(finding.message)]
    for finding in findings[:MOST]:
        name = finding.requirement or finding.check
        lines += _wrapped(
            name if finding.difference is None else f"{name} {finding.difference}", finding.message, width
        )
        lines += _rule(verdict, finding, named, width)
    if len(findings) > MOST:
        lines.append(_line("", f"and {len(findings) - MOST} more on the page"))
    lines += _records(verdict, width)
    if verdict.not_exercised:
        lines += _wrapped("", f"named by the scenario, and not exercised: {' '.join(verdict.not_exercised)}", width)
    if verdict.verdict is not Verdict.PASS:
        lines.append(_line("replay", replay_command(folder)))
        if folder.report.exists():
            lines.append(_line("report", str(folder.report)))
    return "\n".join(lines)


def _rule(verdict: RunVerdict, finding: Finding | None, named: set[str], width: int) -> list[str]:
    """Return the text of each requirement of the finding with its source, unless it is in `named`; add it there."""
    lines: list[str] = []
    for name in finding.requirements if finding is not None else ():
        found = verdict.requirement(name)
        if found is not None and found.says is not None and name not in named:
            named.add(name)
            lines += _wrapped("", f"rule {name}: {found.rule}", width)
    return lines


def _records(verdict: RunVerdict, width: int) -> list[str]:
    """Return the counterexample table with the most rows; the others mostly repeat it."""
    tables = [each.counterexample for each in numbered_findings(verdict) if each.counterexample]
    shown = [(table.total, lines) for table in tables if (lines := list(rows_for_terminal(table, width)))]
    return max(shown, key=lambda each: each[0])[1] if shown else []


def _line(name: str, text: str) -> str:
    return f"{name:<{MARGIN}}{text}".rstrip()


def _wrapped(name: str, text: str, width: int) -> list[str]:
    """Return a text in lines of at most `width` columns; one that is indented, as of a log, stays as it is."""
    room = max(20, width - MARGIN)
    lines = [part for line in text.splitlines() for part in ([line] if line.startswith(" ") else wrap(line, room))]
    first, *rest = lines or [""]
    return [_line(name, first), *(_line("", line) for line in rest)]
