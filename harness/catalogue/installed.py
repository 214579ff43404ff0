"""The catalogues of all installed packages, found by the entry point group `fencepost.catalogues`.

An entry point names a package, and the catalogue is the file `requirements.yaml` in it:

    [project.entry-points."fencepost.catalogues"]
    acme = "acme_conformance"
"""

from __future__ import annotations

import os
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from pathlib import Path

from fencepost.harness.catalogue.model import Catalogue, CatalogueError, Requirement, merge
from fencepost.harness.catalogue.reader import load

GROUP = "fencepost.catalogues"
FILE = "requirements.yaml"
VARIABLE = "FENCEPOST_CATALOGUES"
"""The environment variable for further catalogue files, separated by colons. It reaches the processes of a suite."""


def catalogue() -> Catalogue:
    """Return the requirements of all installed packages, and of the files that were added.

    Raise CatalogueError with every mistake in their files.
    """
    return read_catalogues(os.environ.get(VARIABLE, ""))


def add_catalogue(path: Path) -> None:
    """Add a catalogue file of the user, for this process and those that it starts.

    Do nothing if the same text is listed already: a run folder has a copy of the file.
    """
    listed = _listed(os.environ.get(VARIABLE, ""))
    if not any(each.is_file() and each.read_bytes() == path.read_bytes() for each in listed):
        os.environ[VARIABLE] = os.pathsep.join(map(str, [*listed, path]))


@cache
def read_catalogues(listed: str) -> Catalogue:
    """Return the requirements of all installed packages, and of the files that the variable lists."""
    return merge(map(load, catalogue_files(listed)))


def catalogue_files(listed: str | None = None) -> list[Path]:
    """Return the file of each installed package, the project's own first, and those that the variable lists.

    CatalogueError for an entry point that does not lead to a file, and for a listed file that is missing.
    """
    found = sorted(entry_points(group=GROUP), key=lambda point: (point.name != "fencepost", point.name))
    if not found:
        raise CatalogueError(
            f"no installed package has an entry point of the group {GROUP}; install fencepost itself again"
        )
    listed = os.environ.get(VARIABLE, "") if listed is None else listed
    added = _listed(listed)
    if missing := [each for each in added if not each.is_file()]:
        raise CatalogueError(f"there is no catalogue {missing[0]}, which {VARIABLE} lists")
    return [*map(_file, found), *added]


def _listed(text: str) -> list[Path]:
    return [Path(each) for each in text.split(os.pathsep) if each]


def describe(requirement: str | None) -> Requirement | None:
    """Return the row with this id, or None if no installed catalogue has it."""
    return None if requirement is None else catalogue().rows.get(requirement)


def _file(point: EntryPoint) -> Path:
    try:
        path = Path(str(files(point.value) / FILE))
    except (ImportError, TypeError) as error:
        raise CatalogueError(f"{_named(point)} names {point.value}, which is no package: {error}") from None
    if not path.is_file():
        raise CatalogueError(f"{_named(point)} names {point.value}, which has no file {FILE}: {path} is missing")
    return path


def _named(point: EntryPoint) -> str:
    owner = f" of {point.dist.name} {point.dist.version}" if point.dist is not None else ""
    return f"the entry point {point.name}{owner} in the group {GROUP}"
