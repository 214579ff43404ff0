"""The facts about a target that a scenario may depend on, and the groups of designs that scenarios apply to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from fencepost.faults.capabilities import Capability
from fencepost.harness.plan.base import Expect, release_range
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.promises import Promises
from fencepost.harness.plan.security import PlannedSecurity
from fencepost.harness.plan.topologies import BROKER_IDS
from fencepost.harness.targets.registry import load, load_file
from fencepost.harness.targets.running import Running
from fencepost.harness.targets.upgrade_rules import RELEASES

WITHOUT_ZOOKEEPER = frozenset({Dialect.KIP_631, Dialect.KRAFT})
"""A quorum of controllers holds the metadata."""
SHIPPED_QUORUM = frozenset({Dialect.KRAFT})
"""A quorum of controllers holds the metadata, as in Apache Kafka."""
ZOOKEEPER_MODE = frozenset({Dialect.ZOOKEEPER})
"""ZooKeeper holds the metadata, and one broker is elected controller."""
LEADER_DRIVEN = frozenset({Dialect.LEADER_DRIVEN})
"""ZooKeeper holds the metadata, and there is no controller."""
ALL_DESIGNS = WITHOUT_ZOOKEEPER | ZOOKEEPER_MODE | LEADER_DRIVEN
"""The decided state can be read."""
ANY = ALL_DESIGNS | {Dialect.CLIENTS}
"""Any broker, also one that shows nothing but what it answers to clients."""

_DIALECTS_BY_PREFIX = (
    dict.fromkeys(("K631", "D631", "K853"), WITHOUT_ZOOKEEPER)
    | dict.fromkeys(("K1186", "K1066", "K1242"), SHIPPED_QUORUM)
    | dict.fromkeys(("INT", "DINT", "K343", "D343", "RSE", "DRSE"), ZOOKEEPER_MODE)
    | dict.fromkeys(("LD", "DLD"), LEADER_DRIVEN)
    | {"CTRL": WITHOUT_ZOOKEEPER | ZOOKEEPER_MODE, "SEC": WITHOUT_ZOOKEEPER}
)
"""The designs that a requirement binds, by the prefix of its id. A prefix that is absent binds all designs."""

_Claim = TypeVar("_Claim", bound=Expect)


@dataclass(frozen=True)
class TargetFacts:
    """The facts about a target that a plan may depend on: dialect, capabilities, listed differences, levels."""

    reference: str
    """Name and version: `apache-kafka:4.4.0`."""
    dialect: Dialect
    capabilities: frozenset[Capability]
    differences: frozenset[str]
    levels: tuple[str, ...] = ()
    """The protocol levels that its nodes can be started at, the lowest first."""
    releases: tuple[str, ...] = ()
    """Its release, or the old and the new one of a target that is upgraded."""
    workloads: frozenset[str] = frozenset()
    """The kinds of clients, beyond produce and fetch, that this release serves: groups, transactions ..."""
    timeout_factor: int = 1
    """Its protocol timeouts, as a multiple of those of the reference cluster."""
    brokers: tuple[int, ...] = BROKER_IDS
    """The ids of the brokers of its clusters."""
    front_ends: int = 1
    """The processes of each broker, which share its id."""
    services: tuple[str, ...] = ()
    promises: Promises = field(default_factory=Promises)
    topics_by_use: bool = False
    """Topics come into being by use, and not by CreateTopics."""
    missing_requests: frozenset[str] = frozenset()
    """The requests of clients that its brokers lack, by their names in Kafka's protocol."""
    running: Running | None = None
    """Its commands and bounds, if it is a cluster that runs elsewhere."""
    security: PlannedSecurity = "plaintext"
    """That of plans without one of their own."""
    missing_features: frozenset[str] = frozenset()
    """The features of clients (`features:` of the target file) that this release does not serve."""

    @classmethod
    def of(cls, reference: str) -> TargetFacts:
        """Return the facts about `quorum`, `apache-kafka:4.4.0` or the target file `path/to/acme.yaml`.

        Raises UsageError if there is no such target.
        """
        target = load(reference)  # the driver refuses a version that does not exist
        file, version = target.file, target.version
        releases = release_range(version) or (version,)
        # Nodes start with the old release, so a claim that a difference shows is about that one.
        shown = file.differences if len(releases) == 1 else load_file(f"{file.name}:{releases[0]}").differences
        return cls(
            reference=f"{file.name}:{version}",
            dialect=file.dialect,
            capabilities=file.capabilities,
            differences=frozenset(difference.id for difference in shown),
            levels=tuple(level for level in file.levels if len(releases) == 1 or level not in RELEASES),
            releases=releases,
            workloads=frozenset(kind for kind in file.workloads if file.without_workload(kind, version) is None),
            timeout_factor=file.timeout_factor,
            brokers=file.brokers.ids,
            front_ends=file.brokers.front_ends,
            services=tuple(file.services),
            promises=file.promises,
            topics_by_use=file.topics == "by use",
            missing_requests=frozenset(file.missing_requests),
            running=file.running,
            security=file.security,
            missing_features=file.missing_features,
        )

    @property
    def name(self) -> str:
        return self.reference.partition(":")[0]

    @property
    def uses_zookeeper(self) -> bool:
        """Return True if ZooKeeper holds the metadata, with or without a controller."""
        return self.dialect in ZOOKEEPER_MODE | LEADER_DRIVEN

    @property
    def leader_driven(self) -> bool:
        return self.dialect in LEADER_DRIVEN

    @property
    def has_kip_343(self) -> bool:
        """Return True if the target has the requests of KIP-343 and ReplicaStateEvent."""
        return "heartbeats" in self.levels

    def owes(self, requirement: str) -> bool:
        """Return True if the target implements the document that the requirement belongs to."""
        return self.dialect in _DIALECTS_BY_PREFIX.get(requirement.partition("-")[0], ANY)

    @property
    def follows_its_documents(self) -> bool:
        """Return True if every listed difference comes from the document itself (`LF-`), not from a departure."""
        return all(difference.startswith("LF-") for difference in self.differences)

    def lacks(self, feature: str) -> bool:
        return feature in self.missing_features

    def lacks_request(self, request: str) -> bool:
        return request in self.missing_requests

    def differs(self, difference: str) -> bool:
        return difference in self.differences

    def unless(self, difference: str, document: _Claim, instead: _Claim) -> _Claim:
        """Return the document's claim, or `instead` for a target that lists this difference."""
        if not self.differs(difference):
            return document
        return instead.model_copy(update={"difference": difference})

    def rule(self, quorum: str, zk_controller: str, leader_driven: str) -> str:
        """Return the requirement that binds this target's design, of three that say the same of their designs."""
        if self.leader_driven:
            return leader_driven
        return zk_controller if self.uses_zookeeper else quorum
