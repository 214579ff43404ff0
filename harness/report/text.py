"""A verdict in a few lines, for a terminal. Plain text: whoever prints it adds the colours."""

from textwrap import wrap

from harness.report.page import numbered_findings
from harness.report.record_rows import rows_for_terminal
from harness.reproduction.command import replay_command
from results.records.folder import RunFolder
from results.records.verdict import RunVerdict, Verdict

MARGIN = 15
MOST = 3
"""Findings that are written out; the page has all."""


def summarise(verdict: RunVerdict, folder: RunFolder, *, width: int = 110) -> str:
    """What happened, what it means, how to see it again. One line for a pass that has nothing to tell."""
    lines = [_line(verdict.verdict.value, f"{verdict.story} on {verdict.target}, {verdict.duration:.1f} s")]
    if verdict.verdict is not Verdict.PASS or numbered_findings(verdict):
        lines += _wrapped("", verdict.headline, width)
    told = [finding for finding in numbered_findings(verdict) if finding.sentence != verdict.headline]
    for finding in told[:MOST]:
        name = finding.requirement or finding.check
        lines += _wrapped(
            name if finding.difference is None else f"{name} {finding.difference}", finding.sentence, width
        )
    if len(told) > MOST:
        lines.append(_line("", f"and {len(told) - MOST} more on the page"))
    lines += _records(verdict, width)
    if verdict.verdict is not Verdict.PASS:
        lines.append(_line("again", replay_command(folder)))
        if folder.report.exists():
            lines.append(_line("look", str(folder.report)))
    return "\n".join(lines)


def _records(verdict: RunVerdict, width: int) -> list[str]:
    """Of the tables of records on replicas the one that shows most: what the others show is mostly part of it."""
    tables = [each.counterexample for each in numbered_findings(verdict) if each.counterexample]
    shown = [(table.total, lines) for table in tables if (lines := list(rows_for_terminal(table, width)))]
    return max(shown, key=lambda each: each[0])[1] if shown else []


def _line(name: str, text: str) -> str:
    return f"{name:<{MARGIN}}{text}".rstrip()


def _wrapped(name: str, text: str, width: int) -> list[str]:
    first, *rest = wrap(text, max(20, width - MARGIN)) or [""]
    return [_line(name, first), *(_line("", line) for line in rest)]
