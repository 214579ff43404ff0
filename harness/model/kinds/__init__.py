"""All kinds of state, by name. Each is a module of this package, which is found by itself.

The topics come first: questions about other kinds name those that are there.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module

from fencepost.harness.model.kind import Kind


def _kinds() -> Mapping[str, Kind]:
    modules = [import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    classes = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Kind) and value.__module__ == module.__name__
    ]
    named = [each for each in classes if hasattr(each, "name")]
    return {each.name: each() for each in sorted(named, key=lambda each: each.name != "topics")}


KINDS: Mapping[str, Kind] = _kinds()
CHANGING = frozenset(api for kind in KINDS.values() for api in kind.changed_by)
"""The requests that change an object of any kind."""
