"""Verdicts as pytest and Allure outcomes: a violation is a failed test, any other failure a broken one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

import pytest

from fencepost.harness.conformance.options import InconclusiveAs
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.replay_command import replay_command
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict

WIDTH = 110
MARGIN = 10
_FAULT_ENDS = {
    "proven": "proven",
    "unproven": "not proven",
    "healed": "healed",
    "unhealed": "not proven healed",
}


class NotPassed(Exception):
    """A run that did not pass. Its text stands alone: no frame of the harness adds to it."""


class Violation(NotPassed, AssertionError):
    """A rule was broken, or a listed difference no longer shows."""


class Infrastructure(NotPassed):
    """The harness or the machine failed; the run says nothing about the target."""


class Inconclusive(NotPassed):
    """The scenario did not happen as planned: a fault was not proven, a step not reached, or coverage not met."""


class NotBegun(NotPassed):
    """The test asks for a cluster that cannot be: a wrong target, a wrong argument."""


for _kind in (Violation, Infrastructure, Inconclusive, NotBegun):
    _kind.__module__ = "fencepost"  # the name by which pytest and Allure show it

_RAISED: dict[Verdict, type[NotPassed]] = {
    Verdict.VIOLATION: Violation,
    Verdict.INFRASTRUCTURE: Infrastructure,
    Verdict.INCONCLUSIVE: Inconclusive,
}


def raise_unless_passed(
    verdict: RunVerdict, folder: RunFolder, inconclusive: InconclusiveAs = InconclusiveAs.ERROR
) -> None:
    """Raise the exception for the verdict unless it is a pass, with every finding of that kind.

    Skip the test instead if it is inconclusive, and `inconclusive` is `skip`.
    """
    raised = _RAISED.get(verdict.verdict)
    if raised is None:
        return
    if raised is Inconclusive and inconclusive is InconclusiveAs.SKIP:
        pytest.skip(f"inconclusive: {explanation(verdict, folder)}")
    raise raised(explanation(verdict, folder))


def explanation(verdict: RunVerdict, folder: RunFolder) -> str:
    """Return the headline, the broken rules in words, the faults, the path of the report and the replay command."""
    lines = [verdict.headline]
    stated: set[str] = set()
    for finding in verdict.shown(verdict.verdict):
        lines += _finding(finding, verdict, stated)
    for text in _faults_in_words(folder.journal):
        lines += _entry("fault", text)
    # Not wrapped: a path or a command that is cut into lines cannot be copied.
    lines += [f"{'report':<{MARGIN}}{folder.report}", f"{'replay':<{MARGIN}}{replay_command(folder)}"]
    return "\n".join(lines)


def _finding(finding: Finding, verdict: RunVerdict, stated: set[str]) -> Iterator[str]:
    """Yield its rules, except those that an earlier finding `stated`, and its message, unless the headline has it."""
    for name in finding.requirements:
        rule = verdict.requirement(name)
        if rule is not None and rule.says is not None and name not in stated:
            stated.add(name)
            yield from _entry(name, rule.rule)
    if not verdict.headline.endswith(finding.message):
        name = finding.requirement or finding.check
        yield from _entry("" if name in stated else name, finding.message)


def _entry(name: str, text: str) -> Iterator[str]:
    """Yield the text in lines beside its name; a name that is too long stands on a line of its own."""
    if len(name) >= MARGIN:
        yield name
        name = ""
    for line in wrap(text, WIDTH - MARGIN):
        yield f"{name:<{MARGIN}}{line}"
        name = ""


def _faults_in_words(journal: Path) -> list[str]:
    """Return a line for each fault of the journal: `cut: cut from node-6 to node-1, proven at 2.42 s`.

    Return none if there is no journal.
    """
    if not journal.is_file():
        return []
    # Only here: the plugin is loaded in every session, and only a run that did not pass needs it.
    from fencepost.results.records.journal import read_journal

    intents: dict[str, str] = {}
    ends: dict[str, list[str]] = {}
    for event in read_journal(journal).of("fault"):
        if event.phase == "intent":
            intents[event.id] = " ".join([event.data["fault"], *_parameters(event.data.get("params", {}))])
        elif event.phase in _FAULT_ENDS:
            ends.setdefault(event.id, []).append(f"{_FAULT_ENDS[event.phase]} at {event.t:.2f} s")
    return [f"{name}: {', '.join([what, *ends.get(name, [])])}" for name, what in intents.items()]


def _parameters(params: Mapping[str, Any]) -> Iterator[str]:
    for key, value in params.items():
        if value not in (None, "", [], {}):
            yield f"{key} {', '.join(map(str, value)) if isinstance(value, list) else value}"
