"""All bugs of the gallery, which their functions declare, in the order of its page."""

from __future__ import annotations

from importlib import import_module

from fencepost.suites.released_bugs.bug import DECLARED, ReleasedBug

THEMES = (
    "replication",
    "controllers",
    "offsets",
    "membership",
    "shares",
    "transactions",
    "disks",
    "administration",
    "upgrades",
)
BUGS: tuple[ReleasedBug, ...] = tuple(
    bug for theme in THEMES for bug in DECLARED[import_module(f"{__package__}.{theme}").__name__]
)

BY_SLUG = {bug.slug: bug for bug in BUGS}
