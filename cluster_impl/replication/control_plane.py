"""The interface between the data plane and a control plane.

The data plane (replicas, client APIs) is shared by all designs; the control plane, which decides on leaders, in-sync
replicas and broker epochs, differs. The data plane calls `ControlPlane`, and the control plane calls `DataPlane`. Both
run on one event loop: no method here is called from another thread.
"""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from uuid import UUID

from fencepost.cluster_impl.replication.progress import Progress
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error

NO_LEADER = -1
NO_EPOCH = -1


@dataclass(frozen=True, slots=True)
class TopicPartition:
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OfPartition:
    """A message about one partition."""

    topic: str
    partition: int

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionAssignment(OfPartition):
    """The committed state of one partition, of which this broker is a replica.

    `leader_epoch` grows with each change of leader or ISR; `leader_term_epoch` is the leader epoch at which the present
    leader's term began, so a change of ISR alone leaves it as it is. `version` is what AlterIsr compares: the leader
    epoch itself in the `quorum` design, the version of the state's znode in the ZooKeeper designs. `leader` is
    NO_LEADER while no replica can lead. `config` holds the topic's own settings, and below them those that this broker
    was given at run time, both under their names as topic settings; not the defaults.

    `is_new` says that this broker never had the replica: the control plane has made sure that nothing is lost if the
    replica begins empty. Without it the replica may exist. If a log dir that could hold it is offline, it is then not
    created in another one but reported as offline. A broker cannot know this by itself: after a restart it cannot read
    the failed log dir.

    `serves_clients`: a leader without it leads for its followers only. It answers their fetches and counts them,
    refuses clients with NOT_LEADER_OR_FOLLOWER, and asks for no ISR. `leaving` are replicas that were asked to close:
    one that has not fetched for the lag limit leaves the ISR also if it has all records, and none joins. Both,
    `replicas` and `config` may change at the same leader epoch and version: the latest ones count.
    """

    topic_id: UUID
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    leader_term_epoch: int
    version: int
    config: Mapping[str, str] = field(default_factory=dict)
    is_new: bool = False
    serves_clients: bool = True
    leaving: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaStopped(OfPartition):
    """The replica neither leads nor follows until it is assigned again; its folder stays.

    The next assignment is adopted also at the version that was stopped, but not at an older one. Without a `topic_id`
    the replica may belong to any topic of the name.
    """

    topic_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRemoved(OfPartition):
    """This broker no longer holds the partition: its topic was deleted, or the replica was assigned elsewhere.

    The folder is removed. A restart replays nothing of a topic deleted long ago: a folder whose topic id differs from
    the assigned one is removed by the data plane on its own. Without a `topic_id` the replica may belong to any topic
    of the name.
    """

    topic_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsChanged(OfPartition):
    """The settings of a replica have changed and nothing else. `config` as in PartitionAssignment."""

    topic_id: UUID
    config: Mapping[str, str]


Change = PartitionAssignment | ReplicaStopped | PartitionRemoved | SettingsChanged


@dataclass(frozen=True, slots=True, kw_only=True)
class IsrProposal(OfPartition):
    """A leader's request for a new ISR, on condition that `leader_epoch` and `version` are still the committed ones.

    The leader knows the log of the process that was registered when it fetched. A later process may have an empty disk
    (KAFKA-14139, KIP-903): when a replica registers again, in the ISR or outside it, the control plane makes a new
    version, so that earlier proposals are refused.
    """

    topic_id: UUID
    leader_epoch: int
    isr: tuple[int, ...]
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IsrAccepted:
    """The change is committed. The same state also arrives as a PartitionAssignment, before this reply or after it."""

    isr: tuple[int, ...]
    leader_epoch: int
    version: int


@dataclass(frozen=True, slots=True)
class IsrRefused:
    """The change was not made and never will be: no earlier attempt at the same proposal is in doubt either."""

    error: Error


@dataclass(frozen=True, slots=True)
class IsrUnknown:
    """No answer arrived: the change may have been made, or may still be made. `reason` is a message for the log."""

    reason: str


IsrOutcome = IsrAccepted | IsrRefused | IsrUnknown


@dataclass(frozen=True, slots=True)
class Endpoint:
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class BrokerView:
    """A broker that is alive; `endpoints` are the advertised ones by listener name."""

    broker_id: int
    endpoints: Mapping[str, Endpoint]
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class PartitionView:
    """`offline_replicas` are known to be offline though their broker may live; responses add those of dead brokers."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    offline_replicas: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class TopicView:
    name: str
    topic_id: UUID
    partitions: Mapping[int, PartitionView]
    config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClusterView:
    """The cluster as this broker knows it. Brokers that are not alive (no lease, no session) are absent.

    `controller_id` is a broker id that clients may be sent to for administration, or NO_LEADER if there is none.
    """

    cluster_id: str
    controller_id: int
    brokers: Mapping[int, BrokerView]
    topics: Mapping[str, TopicView]
    broker_configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Settings of brokers that were changed at run time, by broker id as text; those of all brokers by the empty name.
    """


class ControlPlane(Protocol):
    """The calls of the data plane. Methods that are not awaited answer at once, from the state of this broker."""

    @property
    def broker_id(self) -> int: ...

    def serving(self) -> bool:
        """Return True if a client's request may be processed now: the broker is active and its lease not over.

        Reads the monotonic clock. Called when the processing of a request begins, never cached: a request that waited
        in the socket of a paused process is judged after the pause.
        """
        ...

    def completes_begun(self) -> bool:
        """Return True if requests that began while this broker served are completed after that.

        True where fencing only refuses new requests (KIP-343); False where a broker that lost its lease sends no more
        data in responses (KIP-631).
        """
        ...

    def broker_epoch(self) -> int:
        """Return this process's own broker epoch, NO_EPOCH before one was granted. Followers send it in Fetch."""
        ...

    def registered_epoch(self, broker_id: int) -> int | None:
        """Return the epoch at which a broker is registered as far as this broker knows; None if it is not."""
        ...

    def alter_isr(self, proposal: IsrProposal) -> Awaitable[IsrOutcome]:
        """Ask for a new ISR. Does not raise (cancellation apart): no answer within the deadline is `IsrUnknown`.

        The data plane proposes nothing else for the partition until this has an outcome, and repeats the same proposal
        after `IsrUnknown`.
        """
        ...

    def new_producer_id(self) -> int:
        """Return a producer id that no broker of this cluster ever gave out, also before a restart.

        Raises `ProducerIdsUnavailable` if there is none at present.
        """
        ...

    async def forward(self, request: Message, version: int) -> Message:
        """Send an administrative request (CreateTopics, AlterConfigs) to its decider, and return the response.

        Raises ConnectionError or TimeoutError, each with a message, if there is no response.
        """
        ...

    def log_dir_failed(self, path: Path, lost: Sequence[TopicPartition]) -> None:
        """Report that a log dir of this broker had an I/O error; it and its replicas are not used any more.

        Called once for each dir, on the loop, with all replicas that were open in it. `lost` may be empty: then there
        is nothing to report, and a report without topics would say too much. Other replicas in the dir become known by
        `DataPlane.apply` when they are assigned.
        """
        ...

    def cluster(self) -> ClusterView:
        """Return the view for Metadata, DescribeCluster and DescribeConfigs, and for followers in search of leaders.

        The brokers are always those that this broker knows; topics may be out of date, or absent, until `look`.
        """
        ...

    async def load_settings(self, topics: Collection[str]) -> None:
        """Bring the settings of these topics in `cluster` up to date. Awaited before a response shows them.

        As `look`: it does not raise, and settings that cannot be read in time stay as they were.
        """
        ...

    async def look(self, topics: Collection[str] | None) -> None:
        """Bring these topics in `cluster`, or all of them, up to date. Awaited before a response shows them.

        A broker that is notified of every change has nothing to do here. Does not raise (cancellation apart), and takes
        no longer than a client waits: topics that cannot be read stay as they were.
        """
        ...


class ProducerIdsUnavailable(Exception):
    """No producer id can be given out now; the client should ask again."""


class DataPlane(Protocol):
    """The calls of a control plane."""

    def apply(self, changes: Sequence[Change]) -> Mapping[TopicPartition, Error]:
        """Adopt committed changes, in order. Only partitions of which this broker is, or was, a replica are passed.

        Returns the error of each partition whose change could not be carried out: KAFKA_STORAGE_ERROR for a replica
        that is in an offline log dir, or would be. Such a change is not tried again until it is passed again.

        After a start the whole present state is passed once, as assignments, and not before it contains this process's
        own registration: an older state may name this broker a leader, which its previous incarnation was. Passing the
        same state again, or an older one, changes nothing.
        """
        ...

    def progress(self, name: TopicPartition) -> Progress | None:
        """Return the progress of a replica of this broker; None if it has no usable replica of the partition."""
        ...
