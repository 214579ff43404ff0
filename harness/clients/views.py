"""The observed state of a cluster at one instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fencepost.harness.clients.metadata.image import Image
from fencepost.harness.clients.zookeeper.connection import Znode


class Answer(StrEnum):
    """How a node took the last question."""

    SERVING = "serving"
    REFUSING = "refusing"
    """It answered, but not what was asked for."""
    SILENT = "silent"
    CLOSED = "closed"
    """The connection was refused or ended."""
    STANDBY = "standby"
    """A controller that says it does not lead."""
    UNKNOWN = "unknown"
    """Not asked yet."""


@dataclass(frozen=True)
class PartitionView:
    """A partition as a broker describes it. Leader -1 is no leader; without an id the topic has none."""

    topic: str
    partition: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    offline: tuple[int, ...] = ()
    topic_id: str | None = None
    replicas: tuple[int, ...] = ()


@dataclass(frozen=True)
class BrokerView:
    """The answer of a broker to Metadata: live brokers and leaders."""

    answer: Answer = Answer.UNKNOWN
    brokers: frozenset[int] = frozenset()
    partitions: Mapping[str, PartitionView] = field(default_factory=dict)


@dataclass(frozen=True)
class ControllerView:
    """The answer of a controller to DescribeQuorum. Shipped Kafka names a leader only at the leader: -1 elsewhere.

    Where ZooKeeper holds the state, what /controller and /controller_epoch say of the broker that holds them.
    """

    answer: Answer = Answer.UNKNOWN
    leader: int = -1
    epoch: int = -1
    high_watermark: int = field(default=-1, compare=False)
    """The end of the committed part of the metadata log."""

    @property
    def says_it_itself(self) -> bool:
        return self.answer is not Answer.UNKNOWN


@dataclass(frozen=True)
class ServerView:
    """The answer of a ZooKeeper server. `mode` is leader, follower, observer or standalone; empty unless it
    serves: without a quorum it refuses."""

    answer: Answer = Answer.UNKNOWN
    mode: str = ""

    @property
    def leads(self) -> bool:
        return self.mode in ("leader", "standalone")


@dataclass(frozen=True)
class Observation:
    """All that is known at one instant, by node name; `image` is the controllers' committed log, or ZooKeeper's tree.

    Where no control plane is visible, `image` is what brokers describe to clients (`clients.described`).

    The rest is there only where ZooKeeper holds the state: its servers, whether any gave news when last asked, the
    pending requests of the administrator (paths), the requested znodes, None for a missing one, and
    how many requests wait in the queue of each broker, where brokers have queues.
    """

    brokers: Mapping[str, BrokerView] = field(default_factory=dict)
    controllers: Mapping[str, ControllerView] = field(default_factory=dict)
    image: Image = field(default_factory=Image)
    servers: Mapping[str, ServerView] = field(default_factory=dict)
    news: bool = True
    pending: tuple[str, ...] = ()
    znodes: Mapping[str, Znode | None] = field(default_factory=dict)
    queues: Mapping[int, int] = field(default_factory=dict)
    coordinators: Mapping[str, int] = field(default_factory=dict)
    """The id of the broker that was named last for each `coordinator:GROUP` and `transaction-coordinator:ID`. Only
    where no control plane is visible."""


def active_controller(now: Observation, names: Mapping[int, str]) -> str | None:
    """Return the controller that claims to lead at the highest known epoch; None if there is none."""
    newest = max((view.epoch for view in now.controllers.values()), default=-1)
    for name, view in now.controllers.items():
        if view.epoch == newest >= 0 and names.get(view.leader) == name:
            return name
    return None
