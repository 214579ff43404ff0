"""What a story is, and what it may know about the target it is told for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from faults.capabilities import Capability
from harness.plan.base import Expect
from harness.plan.model import Plan
from harness.targets.target import Dialect, load_file

DOCUMENT = "KIP-631"
ALWAYS = ("ACK-01", "ACK-02", "ACK-03", "ACK-04", "ACK-05", "ACK-06", "ACK-07", "ISR-01", "ISR-02", "ISR-03", "HW-03")
"""What is judged in every run, whatever its story."""
_Claim = TypeVar("_Claim", bound=Expect)


@dataclass(frozen=True)
class TargetFacts:
    """All that a plan may depend on: who is asked, in which dialect, what can be done to it, where it differs."""

    reference: str
    """`apache-kafka:4.3.1`."""
    dialect: Dialect
    capabilities: frozenset[Capability]
    differences: frozenset[str]

    @classmethod
    def of(cls, reference: str) -> TargetFacts:
        """Of the target that `quorum`, or with a version `apache-kafka:4.3.1`, stands for."""
        name, _, version = reference.partition(":")
        file = load_file(name)
        return cls(
            reference=f"{name}:{version or file.version}",
            dialect=file.dialect,
            capabilities=file.capabilities,
            differences=frozenset(difference.id for difference in file.differences),
        )

    def differs(self, difference: str) -> bool:
        return difference in self.differences

    def unless(self, difference: str, document: _Claim, instead: _Claim) -> _Claim:
        """The document's claim, or what is claimed of a target that lists this difference."""
        if not self.differs(difference):
            return document
        return instead.model_copy(update={"difference": difference})


@dataclass(frozen=True, repr=False)
class Story:
    """One rule of the document, or a few that belong together, and how to make a plan that shows them.

    `needs` is what a target must be capable of; `seconds` about how long it runs on the reference cluster: the suite
    starts with the longest.
    """

    slug: str
    title: str
    requirements: tuple[str, ...]
    needs: frozenset[Capability]
    seconds: int
    build: Callable[[Story, TargetFacts, int], Plan]

    def __repr__(self) -> str:
        """Short and always the same: reports tell the histories of tests apart by it."""
        return self.slug

    def plan(self, target: TargetFacts, seed: int) -> Plan:
        """The same plan for the same target and seed, whenever and wherever it is asked for."""
        return self.build(self, target, seed)

    def lacking(self, target: TargetFacts) -> str | None:
        """Why the story cannot be told for this target, or None."""
        missing = sorted(each.value for each in self.needs - target.capabilities)
        return f"{target.reference} is not capable of {', '.join(missing)}" if missing else None
