"""New partitions: their replicas, first ISR and first leader.

Only brokers that this controller itself has made active count as active. A broker that an earlier controller registered
may not know its epoch. If its process came back with an older one, a partition created under the new epoch would wait
for a process that never existed.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from fencepost.cluster_impl.designs.quorum.controller.state import ControllerState
from fencepost.cluster_impl.designs.shared.placement import place_as_neighbours
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error


class NotHeardYet(Exception):
    """Too few brokers are active, but others may be that have not sent a heartbeat yet. Retry soon."""


def available(state: ControllerState, now: float) -> list[int]:
    """Return the brokers that are active, or may be."""
    return [broker_id for broker_id in state.image.brokers if state.leases.may_lead(broker_id, now)]


def placed(state: ControllerState, partitions: int, factor: int, first_place: int, now: float) -> list[tuple[int, ...]]:
    """Return the replicas of each of so many new partitions. `first_place` is the number of partitions before them.

    Raises NotHeardYet if fewer than `factor` of the available brokers are known to be active.
    """
    active = [broker_id for broker_id in available(state, now) if state.leases.is_active(broker_id, now)]
    if factor > len(active):
        raise NotHeardYet
    racks = {broker_id: state.image.brokers[broker_id].rack for broker_id in active}
    return place_as_neighbours(active, partitions, factor, first_place, racks)


def new_partition(
    state: ControllerState, topic_id: UUID, index: int, replicas: Sequence[int], epoch: int, now: float
) -> m.PartitionRecord:
    """Return the record of a partition with all active replicas in its ISR, led by the first of them.

    Raises NotHeardYet, or RequestError if no replica is active.
    """
    isr = [replica for replica in replicas if state.leases.is_active(replica, now)]
    if not isr:
        if any(state.leases.may_lead(replica, now) for replica in replicas):
            raise NotHeardYet
        message = f"None of the brokers {list(replicas)} of partition {index} is active."
        raise RequestError(Error.INVALID_REPLICA_ASSIGNMENT, message)
    return m.PartitionRecord(
        partition_id=index, topic_id=topic_id, replicas=list(replicas), isr=isr, leader=isr[0], leader_epoch=epoch
    )
