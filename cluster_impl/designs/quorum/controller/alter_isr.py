"""AlterIsr: a leader asks for a new ISR of a partition that it leads.

KIP-631 names the request and says that it is answered only once the change is persisted; its checks are decisions
(error codes). They are an ordered list, so that a request that is wrong twice gets the error of the earlier one:

    whole request   77  the sender's broker epoch is not the registered one
    each partition   3  no such topic or partition; 42 a change of it is already part of this request
                     then GUARDS
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cluster_impl.designs.quorum.controller.elections import isr_change
from cluster_impl.designs.quorum.controller.state import ControllerState, Outcome
from cluster_impl.designs.quorum.image import Partition
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error

PartitionData = m.AlterIsrRequest.PartitionData
PartitionReply = m.AlterIsrResponse.PartitionData


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a sender proposes for a partition, beside what the controller knows of it."""

    sender: int
    asked: PartitionData
    partition: Partition
    may_join: Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class Guard:
    """Refuses with `error` what `refuses` is true of."""

    error: Error
    refuses: Callable[[Proposal], bool]


def _is_ahead(proposal: Proposal) -> bool:
    """The sender knows a newer state than this controller, so a newer controller must have made it."""
    known = proposal.partition.leader_epoch
    return proposal.asked.leader_epoch > known or proposal.asked.current_isr_version > known


def _is_of_an_earlier_tenure(proposal: Proposal) -> bool:
    return proposal.asked.leader_epoch < proposal.partition.tenure_epoch


def _does_not_lead(proposal: Proposal) -> bool:
    return proposal.sender != proposal.partition.leader


def _has_an_old_version(proposal: Proposal) -> bool:
    """Decision: the leader epoch grows with each ISR change and is the version that AlterIsr compares."""
    return proposal.asked.current_isr_version < proposal.partition.leader_epoch


def _is_no_isr_of_this_partition(proposal: Proposal) -> bool:
    isr = proposal.asked.new_isr
    members = set(isr)
    return len(members) != len(isr) or proposal.sender not in members or not members <= set(proposal.partition.replicas)


def _adds_who_may_not_join(proposal: Proposal) -> bool:
    """Who joins must be registered and active, with a live lease. Who is in already has just been found to be so."""
    return not all(proposal.may_join(member) for member in set(proposal.asked.new_isr) - set(proposal.partition.isr))


GUARDS = (
    Guard(Error.NOT_CONTROLLER, _is_ahead),
    Guard(Error.FENCED_LEADER_EPOCH, _is_of_an_earlier_tenure),
    Guard(Error.INVALID_REQUEST, _does_not_lead),
    Guard(Error.INVALID_UPDATE_VERSION, _has_an_old_version),
    Guard(Error.INVALID_REQUEST, _is_no_isr_of_this_partition),
    Guard(Error.INELIGIBLE_REPLICA, _adds_who_may_not_join),
)


def alter_isr(state: ControllerState, request: m.AlterIsrRequest, now: float) -> Outcome[m.AlterIsrResponse]:
    """Decide a whole request; its partitions are independent of each other."""
    if comes_from_a_stale_process(state, request):
        return Outcome(m.AlterIsrResponse(error_code=Error.STALE_BROKER_EPOCH))
    records: dict[tuple[str, int], m.IsrChangeRecord] = {}
    topics = []
    for topic in request.topics:
        replies = []
        for asked in topic.partitions:
            partition = state.image.partition(topic.name, asked.partition_index)
            if partition is None:
                replies.append(_refused(asked, Error.UNKNOWN_TOPIC_OR_PARTITION))
                continue
            proposal = Proposal(request.broker_id, asked, partition, lambda member: state.leases.may_lead(member, now))
            twice = (topic.name, partition.index) in records
            error = Error.INVALID_REQUEST if twice else refusal(proposal)
            if error is not Error.NONE:
                replies.append(_refused(asked, error))
                continue
            isr = [replica for replica in partition.replicas if replica in asked.new_isr]
            change = isr_change(partition, isr, partition.leader)
            records[topic.name, partition.index] = change
            replies.append(_accepted(change))
        topics.append(m.AlterIsrResponse.TopicData(name=topic.name, partitions=replies))
    return Outcome(m.AlterIsrResponse(topics=topics), list(records.values()))


def comes_from_a_stale_process(state: ControllerState, request: m.AlterIsrRequest) -> bool:
    """Whether the sender's broker epoch is not the one at which its id is registered now."""
    registered = state.image.brokers.get(request.broker_id)
    return registered is None or registered.epoch != request.broker_epoch


def refusal(proposal: Proposal) -> Error:
    """The error of the first guard that refuses, NONE if none does."""
    return next((guard.error for guard in GUARDS if guard.refuses(proposal)), Error.NONE)


def _accepted(change: m.IsrChangeRecord) -> PartitionReply:
    return PartitionReply(
        partition_index=change.partition_id,
        leader_id=change.leader,
        leader_epoch=change.leader_epoch,
        isr=change.isr,
        current_isr_version=change.leader_epoch,
    )


def _refused(asked: PartitionData, error: Error) -> PartitionReply:
    return PartitionReply(
        partition_index=asked.partition_index, error_code=error, leader_id=-1, leader_epoch=-1, current_isr_version=-1
    )
