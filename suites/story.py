"""What a story is, and what it may know about the target it is told for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from faults.capabilities import Capability
from harness.backends import lacking
from harness.plan.base import Expect
from harness.plan.model import Plan
from harness.targets.target import Dialect, load_file

ALWAYS = (
    "ACK-01",
    "ACK-02",
    "ACK-03",
    "ACK-04",
    "ACK-05",
    "ACK-06",
    "ACK-07",
    "ISR-01",
    "ISR-02",
    "ISR-03",
    "HW-03",
    "SEG-01",
    "SEG-02",
    "SEG-03",
    "SEG-04",
    "SEG-05",
    "CTRL-01",
)
"""What is judged in every run, whatever its story."""

WITHOUT_ZOOKEEPER = frozenset({Dialect.KIP_631, Dialect.KRAFT})
AROUND_ZOOKEEPER = frozenset({Dialect.ZOOKEEPER})
"""With the controller in ZooKeeper."""
LEADER_DRIVEN = frozenset({Dialect.LEADER_DRIVEN})
"""With ZooKeeper and without a controller."""
EVERYWHERE = WITHOUT_ZOOKEEPER | AROUND_ZOOKEEPER | LEADER_DRIVEN

_OF_DIALECT = (
    dict.fromkeys(("K631", "D631"), WITHOUT_ZOOKEEPER)
    | dict.fromkeys(("INT", "DINT", "K343", "D343", "RSE", "DRSE"), AROUND_ZOOKEEPER)
    | dict.fromkeys(("LD", "DLD"), LEADER_DRIVEN)
    | {"CTRL": WITHOUT_ZOOKEEPER | AROUND_ZOOKEEPER}
)
"""By the prefix of a requirement: who is asked for it. What is not here is asked of everybody."""

_Claim = TypeVar("_Claim", bound=Expect)


@dataclass(frozen=True)
class TargetFacts:
    """All that a plan may depend on: who is asked, in which dialect, what can be done to it, where it differs."""

    reference: str
    """`apache-kafka:4.3.1`."""
    dialect: Dialect
    capabilities: frozenset[Capability]
    differences: frozenset[str]
    levels: tuple[str, ...] = ()
    """The protocol levels that its nodes can be started at, the lowest first."""
    stretch: int = 1
    """How many times as long its protocol timeouts are as those of the reference cluster."""

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
            levels=tuple(file.levels),
            stretch=file.stretch,
        )

    @property
    def name(self) -> str:
        return self.reference.partition(":")[0]

    @property
    def around_zookeeper(self) -> bool:
        """Does ZooKeeper hold the state, whoever decides it?"""
        return self.dialect in AROUND_ZOOKEEPER | LEADER_DRIVEN

    @property
    def leader_driven(self) -> bool:
        return self.dialect in LEADER_DRIVEN

    def owes(self, requirement: str) -> bool:
        """Is the document that the requirement belongs to one that this target implements?"""
        return self.dialect in _OF_DIALECT.get(requirement.partition("-")[0], EVERYWHERE)

    @property
    def follows_its_documents(self) -> bool:
        """Whatever is listed of it is what its document itself brings (`LF-`), not a departure from it."""
        return all(difference.startswith("LF-") for difference in self.differences)

    def differs(self, difference: str) -> bool:
        return difference in self.differences

    def unless(self, difference: str, document: _Claim, instead: _Claim) -> _Claim:
        """The document's claim, or what is claimed of a target that lists this difference."""
        if not self.differs(difference):
            return document
        return instead.model_copy(update={"difference": difference})

    def rule(self, without_zookeeper: str, around_zookeeper: str, leader_driven: str) -> str:
        """The requirement that a step belongs to, where several documents say the same of their designs."""
        if self.leader_driven:
            return leader_driven
        return around_zookeeper if self.around_zookeeper else without_zookeeper


@dataclass(frozen=True, repr=False)
class Story:
    """One rule of a document, or a few that belong together, and how to make a plan that shows them.

    `requirements` are those that it proves besides what its steps claim. `needs` is what a target must be capable of;
    `seconds` about how long it runs on the reference cluster: the suite starts with the longest. `levels` are the
    protocol levels that it can be told at, the first that the target has; none named: whatever the target runs at.
    """

    slug: str
    title: str
    requirements: tuple[str, ...]
    needs: frozenset[Capability]
    seconds: int
    build: Callable[[Story, TargetFacts, int], Plan]
    document: str = "KIP-631"
    dialects: frozenset[Dialect] = WITHOUT_ZOOKEEPER
    levels: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Short and always the same: reports tell the histories of tests apart by it."""
        return self.slug

    def applies(self, target: TargetFacts) -> bool:
        """Does the document of the story describe this target, at a level that it has?"""
        at_some_level = not self.levels or not target.around_zookeeper or self.level(target) is not None
        return target.dialect in self.dialects and at_some_level

    def level(self, target: TargetFacts) -> str | None:
        """The level that nodes are started at; None: the target's own."""
        return next((level for level in self.levels if level in target.levels), None)

    def plan(self, target: TargetFacts, seed: int) -> Plan:
        """The same plan for the same target and seed, whenever and wherever it is asked for."""
        return self.build(self, target, seed)

    def lacking(self, target: TargetFacts, backend: str | None = None) -> str | None:
        """Why the story cannot be told for this target, or None. With a backend: on it, and on this machine, too."""
        missing = sorted(each.value for each in self.needs - target.capabilities)
        if missing:
            return f"{target.reference} is not capable of {', '.join(missing)}"
        needs = sorted(self.needs, key=lambda each: each.value) if backend else ()
        return next((reason for each in needs if (reason := lacking(backend or "", each)) is not None), None)


def around_zookeeper(
    slug: str,
    title: str,
    build: Callable[[Story, TargetFacts, int], Plan],
    seconds: int,
    *requirements: str,
    document: str,
    levels: tuple[str, ...] = (),
    needs: Iterable[Capability] = (),
    dialects: frozenset[Dialect] = AROUND_ZOOKEEPER,
) -> Story:
    """A story of a document about a cluster that keeps its state in ZooKeeper; without levels, at the target's own."""
    return Story(
        slug=slug,
        title=title,
        requirements=(*requirements, "LIVE-01", "LIVE-03"),
        needs=frozenset(needs),
        seconds=seconds,
        build=build,
        document=document,
        dialects=dialects,
        levels=levels,
    )
