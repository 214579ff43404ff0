"""Reassignment of partitions (KIP-631, PartitionRecord; decision 0070).

    begin       one PartitionRecord: the target replicas, then the removed ones; lists of the added and the removed ones
    wait        until the ISR has every target replica, by AlterIsr of the leader; if no replica is removed, only the
                added ones, because one that stays and is away is no better off by the wait (KAFKA-19975)
    complete    one PartitionRecord: the target replicas alone, led by one of them
    cancel      one PartitionRecord: the replicas before, without the added ones

All of it is in the metadata log, so a new active controller goes on where its predecessor ended. Each record raises the
leader epoch, so an AlterIsr that was made for the replicas before is refused. A replica that is no longer assigned is
deleted by its broker when it replays the record, or, if it was down, when it has registered again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.designs.quorum.image import NO_LEADER, MetadataImage, PartitionRegistration
from fencepost.cluster_impl.designs.shared.partition_requests import unknown_partition
from fencepost.cluster_impl.designs.shared.reassignment_requests import (
    check_target,
    moving,
    named_twice,
    none_in_sync,
    nothing_to_cancel,
    reassigned,
    requested_targets,
)
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m


def alter_reassignments(
    state: ControllerState, request: m.AlterPartitionReassignmentsRequest, now: float
) -> ControllerResult[m.AlterPartitionReassignmentsResponse]:
    """Begin, change or cancel reassignments; the partitions of a request are independent of each other."""
    targets, twice = requested_targets(request)
    same_factor = not request.allow_replication_factor_change
    eligible = state.leases.eligible(now)
    refused: dict[TopicPartition, RequestError] = {}
    records: list[m.PartitionRecord] = []
    for at, target in targets.items():
        try:
            if at in twice:
                raise named_twice()
            partition = state.image.partition(at.topic, at.partition)
            if partition is None:
                raise unknown_partition(at)
            origin = origin_of(partition)
            if target is None:
                if not partition.is_reassigned:
                    raise nothing_to_cancel()
                target = origin
            else:
                check_target(target, origin, state.image.brokers, "registered", same_factor=same_factor)
            change = towards(partition, target, eligible)
        except RequestError as error:
            refused[at] = error
            continue
        if change is not None:
            records.append(change)
    return ControllerResult(reassigned(request, refused), records)


def list_reassignments(
    state: ControllerState, request: m.ListPartitionReassignmentsRequest
) -> ControllerResult[m.ListPartitionReassignmentsResponse]:
    """Describe the reassignments under way."""
    under_way = {
        TopicPartition(state.image.topic_names[partition.topic_id], partition.index): (
            partition.replicas,
            partition.adding,
            partition.removing,
        )
        for partition in _under_way(state.image)
    }
    return ControllerResult(moving(request, under_way))


def complete_reassignments(state: ControllerState, now: float) -> list[m.PartitionRecord]:
    """Return a record for each reassignment whose replicas are in sync as needed, and of which one can lead."""
    if not state.image.reassigned:
        return []
    eligible = state.leases.eligible(now)
    changes = (_completion(partition, eligible) for partition in _under_way(state.image))
    return [change for change in changes if change is not None]


def origin_of(partition: PartitionRegistration) -> tuple[int, ...]:
    """Return the replicas without those that a reassignment adds."""
    return tuple(replica for replica in partition.replicas if replica not in partition.adding)


def towards(
    partition: PartitionRegistration, target: Sequence[int], eligible: Collection[int]
) -> m.PartitionRecord | None:
    """Return the record that begins the move to `target`, None if that is the present state.

    An earlier target is given up: replicas that belong to neither leave at once. Raises RequestError if only they are
    in sync.
    """
    origin = origin_of(partition)
    adding = [replica for replica in target if replica not in origin]
    removing = [replica for replica in origin if replica not in target]
    replicas = [*target, *removing]
    if (tuple(replicas), tuple(adding), tuple(removing)) == (
        partition.replicas,
        partition.adding,
        partition.removing,
    ):
        return None
    isr = [replica for replica in partition.isr if replica in replicas]
    if not isr:
        raise none_in_sync(replicas)
    leader = partition.leader
    if leader not in replicas:
        leader = next((replica for replica in replicas if replica in isr and replica in eligible), NO_LEADER)
    return _record(partition, replicas, isr, leader, adding, removing)


def _under_way(image: MetadataImage) -> list[PartitionRegistration]:
    """Return the partitions that are reassigned, without those of topics that are being deleted."""
    return [image.partitions[topic][index] for topic, index in image.reassigned if topic not in image.deleting]


def _completion(partition: PartitionRegistration, eligible: Collection[int]) -> m.PartitionRecord | None:
    target = [replica for replica in partition.replicas if replica not in partition.removing]
    needed = target if partition.removing else partition.adding
    if not set(needed) <= set(partition.isr):
        return None
    leader = partition.leader
    if leader not in target:
        leader = next((replica for replica in target if replica in eligible), NO_LEADER)
        if leader == NO_LEADER:
            return None
    return _record(partition, target, [replica for replica in partition.isr if replica in target], leader)


def _record(
    partition: PartitionRegistration,
    replicas: Sequence[int],
    isr: Sequence[int],
    leader: int,
    adding: Sequence[int] = (),
    removing: Sequence[int] = (),
) -> m.PartitionRecord:
    return m.PartitionRecord(
        partition_id=partition.index,
        topic_id=partition.topic_id,
        replicas=list(replicas),
        isr=list(isr),
        adding_replicas=list(adding),
        removing_replicas=list(removing),
        leader=leader,
        leader_epoch=partition.leader_epoch + 1,
    )
