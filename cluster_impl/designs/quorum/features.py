"""The feature `metadata.format`: which records the controllers may write (KIP-631, Record Format Versions; KIP-584).

    level 1   the drafted records but AccessControlRecord, and HistoryRecord
    level 2   AccessControlRecord, and the record that removes one

A node that cannot read a record ends, so a record type needs a level that all nodes support. Each broker and controller
says in its heartbeats which levels it supports; one that says nothing supports level 1 (decision 0068).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from fencepost.cluster_impl.wire.codec import Malformed
from fencepost.cluster_impl.wire.server import FeatureReport

METADATA_FORMAT = "metadata.format"
ACCESS_CONTROL = 2
"""The level of metadata.format from which on the log may hold access control entries."""


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of a feature that a node supports, both included."""

    lowest: int = 1
    highest: int = 1

    def __contains__(self, level: int) -> bool:
        return self.lowest <= level <= self.highest


FIRST = Levels()
"""The levels of software that reports none."""

SUPPORTED: Mapping[str, Levels] = {METADATA_FORMAT: Levels(1, ACCESS_CONTROL)}
"""The levels that this software supports."""

Support = Mapping[str, Levels]


class _Reported(Protocol):
    name: str
    min_version: int
    max_version: int


def support_of(reported: Collection[_Reported]) -> Support:
    """Return the levels that a node reports, by feature."""
    return {feature.name: Levels(feature.min_version, feature.max_version) for feature in reported}


def missing_level(levels: Mapping[str, int], support: Support) -> str | None:
    """Return a message if a node with this support lacks the level of an enabled feature, else None."""
    for name, level in levels.items():
        has = support.get(name, FIRST)
        if level not in has:
            return f"it supports {name} {has.lowest} to {has.highest}, and the cluster has level {level}"
    return None


def check_readable(name: str, level: int) -> None:
    """Raise Malformed if the log may hold records from now on that this software cannot read."""
    has = SUPPORTED.get(name)
    if has is None or level not in has:
        support = "does not know it" if has is None else f"supports levels {has.lowest} to {has.highest}"
        raise Malformed(f"the feature {name} has level {level}, and this software {support}")


def report(levels: Mapping[str, int], offset: int) -> FeatureReport:
    """Return what ApiVersions says; `offset` is that of the last replayed record."""
    return FeatureReport(
        {name: (has.lowest, has.highest) for name, has in SUPPORTED.items()},
        {name: levels.get(name, 1) for name in SUPPORTED},
        max(offset, 0),
    )
