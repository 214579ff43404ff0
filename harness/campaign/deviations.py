"""The listed differences of a target that can show in any plan, with the mechanism that alone may explain them.

A random plan cannot say that a difference *must* show. It names the mechanism by which it *may*, and the judge
attributes to the difference only what that mechanism can have done in this run
(`fencepost.harness.checkers.mechanisms`). What the log of a node says names a known bug that ends it.
"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.harness.checkers.owed import broken_by_loss
from fencepost.harness.plan.model import Deviation, Topology
from fencepost.harness.targets.file import TargetFile

DEVIATING_REQUIREMENTS = ("ACK-01", *broken_by_loss())
"""The requirements that the loss of acknowledged records breaks."""

FORGETFUL_LEADERS = frozenset({"AK-13", "AZ-06"})
"""The differences by which a leader refuses a batch that it has, and so ends an idempotent producer. The checker of
CRD-06 finds nothing else, so no mechanism is needed."""


def deviations(target: TargetFile, topology: Topology) -> tuple[Deviation, ...]:
    """Return the deviations that a random plan for this target declares."""
    known_bugs = (
        Deviation(difference=bug.id, requirement=bug.requirement, level="may", says=bug.says)
        for bug in target.known_bugs
        if bug.says is not None
    )
    return (*_deviations(frozenset(each.id for each in target.differences), topology), *known_bugs)


def _deviations(listed: frozenset[str], topology: Topology) -> Iterator[Deviation]:
    for difference in sorted(listed & FORGETFUL_LEADERS):
        yield Deviation(difference=difference, requirement="CRD-06", level="may")
    for requirement in DEVIATING_REQUIREMENTS:
        if listed >= {"LF-01", "LF-02"}:
            difference = "LF-02" if requirement == "SEG-02" else "LF-01"
            yield Deviation(
                difference=difference, requirement=requirement, level="may", mechanism="cut-to-high-watermark"
            )
        if "AK-06" in listed and any(node.duplicate_of is not None for node in topology.nodes):
            yield Deviation(difference="AK-06", requirement=requirement, level="may", mechanism="refused-duplicate")
