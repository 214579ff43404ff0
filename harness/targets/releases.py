"""Ranges of releases, such as `>=3.3,<4.0`, as Python packages write them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Annotated

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from fencepost.harness.plan.base import release_range

_NUMBERS = re.compile(r"\d+(\.\d+)*")


def _checked(text: str) -> str:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise PydanticCustomError("releases", "Input should be a range like `>=3.3,<4.0`") from None
    return text


Releases = Annotated[str, AfterValidator(_checked)]
"""A range of releases. A build such as `3.9.1-acme-2` counts as the release that it begins with, 3.9.1."""


def nearest(version: str, published: Sequence[str]) -> list[str]:
    """Return the published releases next to a version: the last before it and the first after it."""
    release = _release(version)
    releases = sorted(published, key=Version)
    if release is None:
        return releases[-1:]
    return [
        *[other for other in releases if Version(other) < release][-1:],
        *[other for other in releases if Version(other) > release][:1],
    ]


def line_before(version: str, published: Sequence[str]) -> str | None:
    """Return the newest published release of an earlier minor version than this one; None if there is none."""
    release = _release(version)
    if release is None:
        return None
    earlier = [other for other in published if Version(other).release[:2] < release.release[:2]]
    return max(earlier, key=Version, default=None)


def never_run(published: Iterable[str], tested: Collection[str]) -> list[str]:
    """Return the releases that were never run: newer than the newest that was run of their line, such as 4.3.

    Of a line of which none was run they are newer than all that were: old lines may be left out.
    """
    ran = [Version(release) for release in tested]
    missing = []
    for release in sorted(published, key=Version):
        version = Version(release)
        line = [run for run in ran if run.release[:2] == version.release[:2]]
        if not ran or version > max(line or ran):
            missing.append(release)
    return missing


def is_build(version: str) -> bool:
    """Return whether a version is a build of its own, such as `3.9.1-acme-2`, and not a published release."""
    return _NUMBERS.fullmatch(version) is None


def within(version: str, releases: Releases | None) -> bool:
    """Return whether a version is in the range. None is all; a version without numbers is in no other range.

    Of a target that is upgraded, `3.9.2..4.4.0`, one of the two releases has to be.
    """
    if releases is None:
        return True
    if both := release_range(version):
        return any(within(release, releases) for release in both)
    release = _release(version)
    return release is not None and SpecifierSet(releases).contains(release, prereleases=True)


def _release(version: str) -> Version | None:
    try:
        return Version(version)
    except InvalidVersion:
        numbers = _NUMBERS.match(version)
        return Version(numbers[0]) if numbers else None
