"""Who leads a partition when a broker goes, comes back, or wants to stop. Pure: image in, records out.

Each change of leader or ISR is one IsrChange record with the leader epoch plus one (KIP-631, IsrChange). A leader is
the first replica, in preferred order, that is in the ISR and may lead. The last member of an ISR is never removed from
it: nobody else is known to hold everything that was acknowledged, so the partition waits, without a leader, for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from cluster_impl.designs.quorum.image import NO_LEADER, MetadataImage, Partition
from cluster_impl.wire import messages as m

MayLead = Callable[[int], bool]


def changes_when_broker_goes(image: MetadataImage, broker_id: int, may_lead: MayLead) -> list[m.IsrChangeRecord]:
    """Take a broker out of every ISR, and every leadership from it (KIP-631, DeleteBroker).

    A partition that has the broker as a replica outside the ISR gets a new leader epoch as well. Its leader may just
    have asked to let the broker join, for what an earlier process had fetched; the request may arrive after the next
    process took over, perhaps with an empty directory. Its version must be old by then (KAFKA-15221, KIP-903).
    """
    changes = []
    for partition in image.all_partitions():
        if broker_id not in partition.replicas:
            continue
        isr = tuple(member for member in partition.isr if member != broker_id) or partition.isr
        leader = partition.leader
        if leader == broker_id:
            leader = _elect(partition, isr, lambda member: member != broker_id and may_lead(member))
        if partition.leader != NO_LEADER or isr != partition.isr:
            changes.append(isr_change(partition, isr, leader))
    return changes


def changes_when_broker_is_active(image: MetadataImage, broker_id: int) -> list[m.IsrChangeRecord]:
    """Let a broker that became active lead what has no leader and waits for a member of its ISR."""
    return [
        isr_change(partition, partition.isr, broker_id)
        for partition in image.all_partitions()
        if partition.leader == NO_LEADER and broker_id in partition.isr
    ]


def changes_to_move_leaders_off(image: MetadataImage, broker_id: int, may_lead: MayLead) -> list[m.IsrChangeRecord]:
    """Pass on what a broker leads, as far as another member of the ISR may lead it (KIP-631, Controlled Shutdown)."""
    changes = []
    for partition in image.all_partitions():
        if partition.leader == broker_id:
            leader = _elect(partition, partition.isr, lambda member: member != broker_id and may_lead(member))
            if leader != NO_LEADER:
                changes.append(isr_change(partition, partition.isr, leader))
    return changes


def isr_change(partition: Partition, isr: Collection[int], leader: int) -> m.IsrChangeRecord:
    """The record that gives a partition this ISR and leader, at the next leader epoch."""
    return m.IsrChangeRecord(
        partition_id=partition.index,
        topic_id=partition.topic_id,
        isr=list(isr),
        leader=leader,
        leader_epoch=partition.leader_epoch + 1,
    )


def _elect(partition: Partition, isr: Collection[int], may_lead: MayLead) -> int:
    return next((replica for replica in partition.replicas if replica in isr and may_lead(replica)), NO_LEADER)
