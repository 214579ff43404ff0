"""The senders of Fetch: what each may read, and where else it should read (KIP-392)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from fencepost.cluster_impl.api.metadata import reachable
from fencepost.cluster_impl.api.serving import fencing_error
from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.replication.partition import Partition
from fencepost.cluster_impl.replication.progress import ReplicaRole
from fencepost.cluster_impl.replication.replica import Read, Replica
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

Wanted = m.FetchRequest.FetchPartition


class Reader(Protocol):
    def fencing_error(self) -> Error:
        """Return NONE if the answer may have records now, else the error to answer with."""
        ...

    def read(self, replica: Replica, partition: Wanted, max_bytes: int) -> Read:
        """Return what this sender may have. Raises PartitionError."""
        ...

    def better_replica(self, replica: Replica, partition: Wanted) -> int | None:
        """Return the replica from which this sender should read instead, if there is one."""
        ...

    def lacks(self, replica: Replica) -> bool:
        """Return True if this sender has to have an answer also if there are too few bytes for it."""
        ...

    def answered(self, replica: Replica, high_watermark: int) -> None:
        """Note the high watermark that an answer carries."""
        ...


@dataclass(frozen=True, slots=True)
class Client:
    """A client: it gets committed records, of followers only with `of_followers`. Its `rack` may be empty."""

    control: ControlPlane
    listener: str
    rack: str
    of_followers: bool

    def fencing_error(self) -> Error:
        return fencing_error(self.control)

    def read(self, replica: Replica, partition: Wanted, max_bytes: int) -> Read:
        return replica.read(
            partition.fetch_offset,
            partition.current_leader_epoch,
            partition.last_fetched_epoch,
            max_bytes,
            committed=True,
            of_follower=self.of_followers,
        )

    def better_replica(self, replica: Replica, partition: Wanted) -> int | None:
        """Return a replica in this client's rack. The rack of a broker that the client cannot reach does not count."""
        if not self.rack or replica.core.role is not ReplicaRole.LEADER:
            return None
        racks = {broker: rack for broker, _, rack in reachable(self.control.cluster(), self.listener)}
        return replica_in_rack(replica.core, self.rack, partition.fetch_offset, racks)

    def lacks(self, replica: Replica) -> bool:
        return False

    def answered(self, replica: Replica, high_watermark: int) -> None:
        """Do nothing: no answer to a client changes the next one."""


@dataclass(frozen=True, slots=True)
class Follower:
    """A follower: it gets all records.

    One that clients may read from `hears_of_commits` when they happen: otherwise they would wait for the last records
    until the leader answers the next fetch, whose wait is longest when nothing is produced.
    """

    replica_id: int
    hears_of_commits: bool

    def fencing_error(self) -> Error:
        return Error.NONE

    def read(self, replica: Replica, partition: Wanted, max_bytes: int) -> Read:
        return replica.read(
            partition.fetch_offset,
            partition.current_leader_epoch,
            partition.last_fetched_epoch,
            max_bytes,
            committed=False,
        )

    def better_replica(self, replica: Replica, partition: Wanted) -> int | None:
        return None

    def lacks(self, replica: Replica) -> bool:
        follower = replica.core.followers.get(self.replica_id)
        return (
            self.hears_of_commits
            and follower is not None
            and follower.sent_high_watermark < replica.core.high_watermark
        )

    def answered(self, replica: Replica, high_watermark: int) -> None:
        follower = replica.core.followers.get(self.replica_id)
        if follower is not None:
            follower.sent_high_watermark = high_watermark


def replica_in_rack(leader: Partition, rack: str, offset: int, racks: Mapping[int, str | None]) -> int | None:
    """Return the follower from which a client in `rack` should read at `offset`, None if from the leader.

    `racks` has the live brokers that the client can reach. The leader is read in its own rack, and where no in-sync
    follower in the client's rack has the offset: one outside the ISR may lag for ever, and the client with it
    (KAFKA-14372). Of several the one with the most records is chosen, then the one that was in step last, as by Kafka's
    RackAwareReplicaSelector.
    """
    if not rack or racks.get(leader.broker_id) == rack:
        return None
    near = [
        (follower.log_end_offset, follower.last_caught_up, replica)
        for replica, follower in leader.followers.items()
        if racks.get(replica) == rack
        and replica in leader.isr.committed
        and follower.log_start_offset <= offset <= follower.log_end_offset
    ]
    return max(near)[2] if near else None
