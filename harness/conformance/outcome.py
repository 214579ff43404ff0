"""What a run says, as pytest and Allure tell it: a violation is a failed test, everything else a broken one."""

from __future__ import annotations

from harness.reproduction.command import replay_command
from results.records.folder import RunFolder
from results.records.verdict import RunVerdict, Verdict


class Violation(AssertionError):
    """A rule was broken, or a listed difference no longer shows."""


class Infrastructure(Exception):
    """The harness or the machine failed; the run says nothing about the target."""


class Inconclusive(Exception):
    """The story could not be told: a fault not proven, a step not reached, coverage not met."""


_RAISED: dict[Verdict, type[Exception]] = {
    Verdict.VIOLATION: Violation,
    Verdict.INFRASTRUCTURE: Infrastructure,
    Verdict.INCONCLUSIVE: Inconclusive,
}


def raise_unless_passed(verdict: RunVerdict, folder: RunFolder) -> None:
    """Raise the exception that belongs to the verdict, with every finding of that kind and what to do next."""
    raised = _RAISED.get(verdict.verdict)
    if raised is not None:
        raise raised(explanation(verdict, folder))


def explanation(verdict: RunVerdict, folder: RunFolder) -> str:
    """The headline, what was found, how to see it again, where to look."""
    found = [
        f"  {finding.level or ''} {finding.requirement or finding.check}: {finding.sentence}".replace("   ", "  ")
        for finding in verdict.of(verdict.verdict)
    ]
    return "\n".join([verdict.headline, *found, f"  again  {replay_command(folder)}", f"  look   {folder.report}"])
