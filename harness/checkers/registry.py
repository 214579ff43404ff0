"""All checkers of this package: each module is imported, and the checkers and checks that it defines are found."""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from fencepost.harness.checkers.added import AddedChecker
from fencepost.harness.checkers.check import Check, RunCheck, extent
from fencepost.harness.checkers.checker import Checker
from fencepost.harness.checkers.recorded_run import RecordedRun

ADDED_RANK = 49
"""The rank of the checkers of other packages: after those of records."""
_PACKAGE = __name__.rpartition(".")[0]


@functools.cache
def checkers() -> tuple[Checker[Any, Any], ...]:
    """Return the checkers of this package, the most severe first.

    TypeError if one reads what no run has, or can follow from a loss and does not say which offsets it is about.
    """
    defined = [checker for module in _modules() for checker in vars(module).values() if isinstance(checker, Checker)]
    parts = {*dir(RecordedRun), *RecordedRun.__dataclass_fields__}
    for checker in defined:
        if unknown := [name for name in checker.reads if name not in parts]:
            raise TypeError(f"{checker.module}: a recorded run has no part {', '.join(unknown)}")
        if checker.loss and not _gives_extent(checker.function):
            check = checker.checks[0].name
            raise TypeError(f"{checker.module}: a loss breaks the rule of {check}, whose findings have no extent")
    return tuple(sorted(dict.fromkeys(defined), key=lambda checker: (checker.rank, checker.module)))


def _gives_extent(function: Callable[..., Any]) -> bool:
    """Return whether the function calls `extent`, itself or by functions of its module."""
    module = vars(import_module(function.__module__))
    code: list[CodeType] = [function.__code__]
    for part in code:  # grows meanwhile
        called = [module.get(name) for name in part.co_names]
        if extent in called:
            return True
        functions = [callee for callee in called if isinstance(callee, FunctionType)]
        own = [callee.__code__ for callee in functions if callee.__module__ == function.__module__]
        nested = [constant for constant in part.co_consts if isinstance(constant, CodeType)]
        code += [callee for callee in (*own, *nested) if callee not in code]
    return False


def checkers_and(added: Iterable[AddedChecker]) -> list[Checker[Any, Any]]:
    """Return the checkers of this package with those of other packages, which take the history."""
    others = [Checker(function, (), rank=ADDED_RANK) for function in added]
    return sorted((*checkers(), *others), key=lambda checker: checker.rank)


@functools.cache
def checks() -> Mapping[Check, str]:
    """Return each check that judges a rule, with the module of its checker, the most severe first."""
    return {check: checker.module for checker in checkers() for check in checker.checks if isinstance(check, Check)}


@functools.cache
def run_checks() -> Mapping[str, RunCheck]:
    """Return the checks that judge no rule of their own, by name."""
    defined = [check for module in _modules() for check in vars(module).values() if isinstance(check, RunCheck)]
    return {check.name: check for check in defined}


def _modules() -> Iterator[ModuleType]:
    for name in sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])):
        yield import_module(f"{_PACKAGE}.{name}")
