"""Checkers that other packages and target files add to those of this package."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.history import History
from fencepost.harness.extensions import ExtensionError, installed, load_reference
from fencepost.results.records.verdict import Finding, Verdict

GROUP = "fencepost.checkers"
"""The group of entry points that name checkers: `acme = "acme_fencepost.checkers:CHECKERS"`."""

AddedChecker = Callable[[History], Finding]


def added_checkers(references: Iterable[str], beside: Sequence[Path]) -> tuple[AddedChecker, ...]:
    """Return the checkers of installed packages, and those that `references` name in modules also `beside` a file.

    ExtensionError if one cannot be loaded.
    """
    of_packages = [each for point in installed(GROUP).values() for each in _load(point.value, ())]
    return (*of_packages, *(each for reference in references for each in _load(reference, beside)))


def identities(checkers: Iterable[AddedChecker]) -> dict[Check, str]:
    """Return the constants of the type `Check` that the modules of these checkers define, with these modules."""
    names = dict.fromkeys(str(getattr(checker, "__module__", "")) for checker in checkers)
    modules = [module for name in names if (module := sys.modules.get(name)) is not None]
    return {each: module.__name__ for module in modules for each in vars(module).values() if isinstance(each, Check)}


def _load(reference: str, beside: Sequence[Path]) -> tuple[AddedChecker, ...]:
    loaded = load_reference(reference, beside)
    checkers = tuple(loaded) if isinstance(loaded, tuple | list) else (loaded,)
    if not all(callable(each) for each in checkers):
        raise ExtensionError(f"{reference} is {loaded!r}: a function from a history to a finding is needed")
    return tuple(_guarded(each, reference) for each in checkers)


def _guarded(checker: AddedChecker, reference: str) -> AddedChecker:
    """Let a checker that fails end in a finding, so that the others still judge the run."""

    @functools.wraps(checker)
    def judge(history: History) -> Finding:
        try:
            found = checker(history)
        except Exception as error:
            return _failed(reference, f"The checker {reference} failed: {error!r}.")
        if not isinstance(found, Finding):
            return _failed(reference, f"The checker {reference} returned {found!r}, which is no finding.")
        return found

    return judge


def _failed(reference: str, message: str) -> Finding:
    return Finding(Verdict.INFRASTRUCTURE, reference, "A checker failed", message)
