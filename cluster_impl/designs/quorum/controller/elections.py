"""Choosing the leader of a partition when a broker goes, comes back, or shuts down. No I/O: image in, records out.

Each change of leader or ISR is one IsrChange record with the leader epoch plus one (KIP-631, IsrChange). The leader is
the first replica, in preferred order, that is in the ISR and eligible. The last member of an ISR is never removed: no
other broker is known to hold every acknowledged record, so the partition waits for it without a leader.

`eligible` is the set of brokers that may lead now.
"""

from __future__ import annotations

from collections.abc import Collection

from fencepost.cluster_impl.designs.quorum.image import NO_LEADER, MetadataImage, PartitionRegistration
from fencepost.cluster_impl.wire import messages as m


def changes_when_broker_goes(
    image: MetadataImage, broker_id: int, eligible: Collection[int]
) -> list[m.IsrChangeRecord]:
    """Remove a broker from every ISR and from every leadership (KIP-631, DeleteBroker).

    A partition with the broker as a replica outside the ISR gets a new leader epoch as well. Its leader may just have
    asked to add the broker, for records that an earlier process had fetched. That request may arrive after the next
    process took over the id, perhaps with an empty directory, and its version must be stale by then (KAFKA-15221,
    KIP-903).
    """
    changes = []
    for partition in image.all_partitions():
        if broker_id not in partition.replicas:
            continue
        isr = tuple(member for member in partition.isr if member != broker_id) or partition.isr
        leader = _successor(partition, eligible) if partition.leader == broker_id else partition.leader
        if partition.leader != NO_LEADER or isr != partition.isr:
            changes.append(isr_change(partition, isr, leader))
    return changes


def changes_when_broker_is_active(image: MetadataImage, broker_id: int) -> list[m.IsrChangeRecord]:
    """Make the broker, which became active, the leader of partitions that wait for a member of their ISR."""
    return [
        isr_change(partition, partition.isr, broker_id)
        for partition in image.all_partitions()
        if partition.leader == NO_LEADER and broker_id in partition.isr
    ]


def changes_when_broker_steps_down(
    image: MetadataImage, broker_id: int, eligible: Collection[int]
) -> list[m.IsrChangeRecord]:
    """Take every leadership from a broker and keep it in the ISRs: the process and its log are the same."""
    return [
        isr_change(partition, partition.isr, _successor(partition, eligible))
        for partition in image.all_partitions()
        if partition.leader == broker_id
    ]


def changes_to_move_leaders_off(
    image: MetadataImage, broker_id: int, eligible: Collection[int]
) -> list[m.IsrChangeRecord]:
    """Move the broker's leaderships to other ISR members where one is eligible (KIP-631, Controlled Shutdown)."""
    changes = changes_when_broker_steps_down(image, broker_id, eligible)
    return [change for change in changes if change.leader != NO_LEADER]


def isr_change(partition: PartitionRegistration, isr: Collection[int], leader: int) -> m.IsrChangeRecord:
    """Return the record that gives a partition this ISR and leader at the next leader epoch."""
    return m.IsrChangeRecord(
        partition_id=partition.index,
        topic_id=partition.topic_id,
        isr=list(isr),
        leader=leader,
        leader_epoch=partition.leader_epoch + 1,
    )


def _successor(partition: PartitionRegistration, eligible: Collection[int]) -> int:
    """Return the next leader among the other ISR members, NO_LEADER if none is eligible."""
    able = (replica for replica in partition.replicas if replica in partition.isr and replica in eligible)
    return next((replica for replica in able if replica != partition.leader), NO_LEADER)
