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
        leader = _successor(partition, may_lead) if partition.leader == broker_id else partition.leader
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


def changes_when_broker_steps_down(image: MetadataImage, broker_id: int, may_lead: MayLead) -> list[m.IsrChangeRecord]:
    """Take every leadership from a broker and leave it in the ISRs: the process is the same, and has what it had."""
    return [
        isr_change(partition, partition.isr, _successor(partition, may_lead))
        for partition in image.all_partitions()
        if partition.leader == broker_id
    ]


def changes_to_move_leaders_off(image: MetadataImage, broker_id: int, may_lead: MayLead) -> list[m.IsrChangeRecord]:
    """Pass on what a broker leads, as far as another member of the ISR may lead it (KIP-631, Controlled Shutdown)."""
    changes = changes_when_broker_steps_down(image, broker_id, may_lead)
    return [change for change in changes if change.leader != NO_LEADER]


def isr_change(partition: Partition, isr: Collection[int], leader: int) -> m.IsrChangeRecord:
    """The record that gives a partition this ISR and leader, at the next leader epoch."""
    return m.IsrChangeRecord(
        partition_id=partition.index,
        topic_id=partition.topic_id,
        isr=list(isr),
        leader=leader,
        leader_epoch=partition.leader_epoch + 1,
    )


def _successor(partition: Partition, may_lead: MayLead) -> int:
    """Who leads after the present leader, among the ISR; NO_LEADER if nobody can."""
    able = (replica for replica in partition.replicas if replica in partition.isr and may_lead(replica))
    return next((replica for replica in able if replica != partition.leader), NO_LEADER)
