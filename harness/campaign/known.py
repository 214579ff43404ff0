"""Listed differences of a target that can show in any plan, with the mechanism that alone may explain them.

A random plan cannot say that a difference *must* show. It says by which mechanism one *may*, and the judge puts down to
it what that mechanism can have done in this run, and nothing else (`harness.checkers.mechanisms`).
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.plan.model import Deviation, Topology
from harness.targets.target import TargetFile

CONSEQUENCES = ("ACK-01", "ACK-02", "ACK-04", "ACK-06", "ACK-07", "HW-01", "HW-03", "SEG-01", "SEG-02")
"""What a lost record brings with it: its offset is given to another, and who saw it sees it no more."""


def deviations(target: TargetFile, topology: Topology) -> tuple[Deviation, ...]:
    return tuple(_deviations(frozenset(each.id for each in target.differences), topology))


def _deviations(listed: frozenset[str], topology: Topology) -> Iterator[Deviation]:
    for requirement in CONSEQUENCES:
        if listed >= {"LF-01", "LF-02"}:
            difference = "LF-02" if requirement == "SEG-02" else "LF-01"
            yield Deviation(
                difference=difference, requirement=requirement, level="may", mechanism="cut-to-high-watermark"
            )
        if "AK-06" in listed and any(node.duplicate_of is not None for node in topology.nodes):
            yield Deviation(difference="AK-06", requirement=requirement, level="may", mechanism="refused-duplicate")
