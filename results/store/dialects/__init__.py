"""The dialects of JUnit XML, a file each: all classes of these modules that are a `Dialect`."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from fencepost.results.store.dialects.dialect import Dialect, ReportFile

UNKNOWN = Dialect()


@cache
def dialects() -> tuple[Dialect, ...]:
    """Return one of each dialect, in the order of their files."""
    names = sorted(each.name for each in pkgutil.iter_modules(__path__))
    modules = [import_module(f"{__name__}.{name}") for name in names]
    classes = [
        each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Dialect) and each.__module__ == module.__name__
    ]
    return tuple(each() for each in classes if each is not Dialect)


def dialect_of(report: ReportFile) -> Dialect:
    """Return the dialect that recognizes a file, else the one of unknown runners."""
    return next((each for each in dialects() if each.recognizes(report)), UNKNOWN)
