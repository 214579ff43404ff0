"""The replica from which a client reads: a follower in its rack, or the leader (KIP-392)."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.cluster_impl.replication.partition import Partition


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
        (known.log_end_offset, known.last_caught_up, replica)
        for replica, known in leader.followers.items()
        if racks.get(replica) == rack
        and replica in leader.isr.committed
        and known.log_start_offset <= offset <= known.log_end_offset
    ]
    return max(near)[2] if near else None
