"""All checkers of this package: each module is imported, and the checkers and checks that it defines are found."""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from fencepost.harness.checkers.added import AddedChecker
from fencepost.harness.checkers.check import Check, RunCheck
from fencepost.harness.checkers.checker import Checker
from fencepost.harness.checkers.recorded_run import RecordedRun

ADDED_RANK = 49
"""The rank of the checkers of other packages: after those of records."""
_PACKAGE = __name__.rpartition(".")[0]


@functools.cache
def checkers() -> tuple[Checker[Any, Any], ...]:
    """Return the checkers of this package, the most severe first. TypeError if one reads what no run has."""
    found = [each for module in _modules() for each in vars(module).values() if isinstance(each, Checker)]
    parts = {*dir(RecordedRun), *RecordedRun.__dataclass_fields__}
    for each in found:
        if unknown := [name for name in each.reads if name not in parts]:
            raise TypeError(f"{each.module}: a recorded run has no part {', '.join(unknown)}")
    return tuple(sorted(dict.fromkeys(found), key=lambda each: (each.rank, each.module)))


def checkers_and(added: Iterable[AddedChecker]) -> list[Checker[Any, Any]]:
    """Return the checkers of this package with those of other packages, which take the history."""
    others = [Checker(each, (), rank=ADDED_RANK) for each in added]
    return sorted((*checkers(), *others), key=lambda each: each.rank)


@functools.cache
def checks() -> Mapping[Check, str]:
    """Return each check that judges a rule, with the module of its checker, the most severe first."""
    return {check: each.module for each in checkers() for check in each.checks if isinstance(check, Check)}


@functools.cache
def run_checks() -> Mapping[str, RunCheck]:
    """Return the checks that judge no rule of their own, by name."""
    found = [each for module in _modules() for each in vars(module).values() if isinstance(each, RunCheck)]
    return {each.name: each for each in found}


def _modules() -> Iterator[ModuleType]:
    for each in sorted(found.name for found in pkgutil.iter_modules([str(Path(__file__).parent)])):
        yield import_module(f"{_PACKAGE}.{each}")
