"""AlterIsr: the leader of a partition requests a new ISR for it.

KIP-631 names the request and says that it is answered only once the change is persisted; its checks are decisions
(error codes). They are an ordered list, so a request with two errors gets the earlier one:

    whole request   77  the sender's broker epoch is not the registered one
    each partition   3  no such topic or partition; 42 the request changes the partition twice
                     then ALTER_ISR_GUARDS
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from fencepost.cluster_impl.designs.quorum.controller.elections import isr_change
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.designs.quorum.image import PartitionRegistration
from fencepost.cluster_impl.designs.shared.guards import Guard, first_error
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

PartitionData = m.AlterIsrRequest.PartitionData
PartitionReply = m.AlterIsrResponse.PartitionData


@dataclass(frozen=True, slots=True)
class AlterIsrProposal:
    """The requested change of one partition, and the controller's state of that partition.

    `eligible` holds the brokers that may join an ISR now.
    """

    sender: int
    requested: PartitionData
    partition: PartitionRegistration
    eligible: Collection[int]


def _is_ahead(proposal: AlterIsrProposal) -> bool:
    """The sender knows a newer state than this controller, so a newer controller has made it."""
    known = proposal.partition.leader_epoch
    return proposal.requested.leader_epoch > known or proposal.requested.current_isr_version > known


def _is_of_an_earlier_leader_term(proposal: AlterIsrProposal) -> bool:
    return proposal.requested.leader_epoch < proposal.partition.leader_term_epoch


def _does_not_lead(proposal: AlterIsrProposal) -> bool:
    return proposal.sender != proposal.partition.leader


def _has_an_old_version(proposal: AlterIsrProposal) -> bool:
    """Decision: the leader epoch grows with each ISR change, and is the version that AlterIsr compares."""
    return proposal.requested.current_isr_version < proposal.partition.leader_epoch


def _is_no_isr_of_this_partition(proposal: AlterIsrProposal) -> bool:
    isr = proposal.requested.new_isr
    members = set(isr)
    return len(members) != len(isr) or proposal.sender not in members or not members <= set(proposal.partition.replicas)


def _adds_an_ineligible_broker(proposal: AlterIsrProposal) -> bool:
    """A broker that joins must be registered and active with a live lease. The present members were checked before."""
    joining = set(proposal.requested.new_isr) - set(proposal.partition.isr)
    return not joining.issubset(proposal.eligible)


AlterIsrGuard = Guard[[AlterIsrProposal]]

ALTER_ISR_GUARDS = (
    AlterIsrGuard(Error.NOT_CONTROLLER, _is_ahead),
    AlterIsrGuard(Error.FENCED_LEADER_EPOCH, _is_of_an_earlier_leader_term),
    AlterIsrGuard(Error.INVALID_REQUEST, _does_not_lead),
    AlterIsrGuard(Error.INVALID_UPDATE_VERSION, _has_an_old_version),
    AlterIsrGuard(Error.INVALID_REQUEST, _is_no_isr_of_this_partition),
    AlterIsrGuard(Error.INELIGIBLE_REPLICA, _adds_an_ineligible_broker),
)


def alter_isr(state: ControllerState, request: m.AlterIsrRequest, now: float) -> ControllerResult[m.AlterIsrResponse]:
    """Decide a whole request; its partitions are independent of each other."""
    if comes_from_a_stale_process(state, request):
        return ControllerResult(m.AlterIsrResponse(error_code=Error.STALE_BROKER_EPOCH))
    records: dict[tuple[str, int], m.IsrChangeRecord] = {}
    topics = []
    eligible = state.leases.eligible(now)
    for topic in request.topics:
        replies = []
        for requested in topic.partitions:
            partition = state.image.partition(topic.name, requested.partition_index)
            if partition is None:
                replies.append(_refused(requested, Error.UNKNOWN_TOPIC_OR_PARTITION))
                continue
            proposal = AlterIsrProposal(request.broker_id, requested, partition, eligible)
            twice = (topic.name, partition.index) in records
            error = Error.INVALID_REQUEST if twice else first_error(ALTER_ISR_GUARDS, proposal)
            if error is not Error.NONE:
                replies.append(_refused(requested, error))
                continue
            isr = [replica for replica in partition.replicas if replica in requested.new_isr]
            change = isr_change(partition, isr, partition.leader)
            records[topic.name, partition.index] = change
            replies.append(_accepted(change))
        topics.append(m.AlterIsrResponse.TopicData(name=topic.name, partitions=replies))
    return ControllerResult(m.AlterIsrResponse(topics=topics), list(records.values()))


def comes_from_a_stale_process(state: ControllerState, request: m.AlterIsrRequest) -> bool:
    """Return True if the sender's broker epoch is not the registered one of its id."""
    registered = state.image.brokers.get(request.broker_id)
    return registered is None or registered.epoch != request.broker_epoch


def _accepted(change: m.IsrChangeRecord) -> PartitionReply:
    return PartitionReply(
        partition_index=change.partition_id,
        leader_id=change.leader,
        leader_epoch=change.leader_epoch,
        isr=change.isr,
        current_isr_version=change.leader_epoch,
    )


def _refused(requested: PartitionData, error: Error) -> PartitionReply:
    return PartitionReply(
        partition_index=requested.partition_index,
        error_code=error,
        leader_id=-1,
        leader_epoch=-1,
        current_isr_version=-1,
    )
