"""Objects that other packages bring: named by entry points, or as `module:name`, also beside a file of the user."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path

from fencepost.harness.errors import UsageError


class ExtensionError(UsageError):
    """A reference that leads to no object. The message says which part of it is wrong."""


def installed(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by name. ExtensionError if two packages use one name."""
    found: dict[str, EntryPoint] = {}
    for point in sorted(_points(group, tuple(sys.path)), key=lambda point: (point.name, point.value)):
        other = found.setdefault(point.name, point)
        if other.value != point.value:
            raise ExtensionError(
                f"two installed packages have an entry point {point.name} in the group {group}: {other.value} and "
                f"{point.value}; uninstall one of them"
            )
    return found


@cache
def _points(group: str, folders: tuple[str, ...]) -> EntryPoints:
    """Return the entry points of all packages in these folders: each look reads the list of each package."""
    return entry_points(group=group)


def load_reference(reference: str, beside: Sequence[Path] = ()) -> object:
    """Return the object that `module:name` refers to; the module may be in one of the folders `beside`.

    ExtensionError if the module does not exist or fails to load, or has no such name.
    """
    module_name, colon, name = reference.partition(":")
    if not (module_name and colon and name):
        raise ExtensionError(f"{reference!r} is no reference to an object: write it as `module:name`")
    module = _imported(module_name, beside)
    try:
        return getattr(module, name)
    except AttributeError:
        near = difflib.get_close_matches(name, [each for each in vars(module) if not each.startswith("_")], n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ExtensionError(f"the module {module_name} has no {name}{hint}") from None


def module_file(reference: str, folder: Path) -> Path | None:
    """Return the file of the module of `module:name` in a folder; None if it is not a single file there."""
    path = folder / f"{reference.partition(':')[0]}.py"
    return path if path.is_file() else None


def _imported(name: str, beside: Sequence[Path]) -> object:
    for folder in beside:
        if str(folder) not in sys.path:
            sys.path.append(str(folder))  # last, so that it hides no installed module
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            where = " or in ".join([" installed", *map(str, beside)])
            raise ExtensionError(f"there is no module {error.name}{where}") from None
        raise ExtensionError(f"the module {name} does not load: {error}") from error
    except Exception as error:
        raise ExtensionError(f"the module {name} does not load: {error!r}") from error
