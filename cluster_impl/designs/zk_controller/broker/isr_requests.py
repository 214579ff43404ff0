"""ISR changes at the level of KIP-343: the leader sends IsrChange to the controller (Initiating ISR Changes)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fencepost.cluster_impl.designs.shared.isr_proposals import by_topic, outcomes_of
from fencepost.cluster_impl.designs.zk_controller.broker.link import ControllerLink
from fencepost.cluster_impl.replication.control_plane import (
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    IsrUnknown,
    TopicPartition,
)
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error


class IsrChangeRequests:
    """Sends IsrChange to the controller. `incarnation` returns the incarnation of this process.

    IsrChange names no version, but within a leader epoch only the leader changes the state. So a request without a
    response can be repeated, and a granted change raises the version by one.
    """

    def __init__(self, broker_id: int, incarnation: Callable[[], int], link: ControllerLink) -> None:
        self._broker_id = broker_id
        self._incarnation = incarnation
        self._link = link

    async def send(self, proposals: Sequence[IsrProposal], timeout: float) -> Mapping[TopicPartition, IsrOutcome]:
        """Send one request, wait `timeout` seconds at most, and return the outcome of each proposal."""
        topics = by_topic(proposals)
        request = m.IsrChangeRequest(
            broker_id=self._broker_id,
            incarnation_id=self._incarnation(),
            topics=[
                m.IsrChangeRequest.TopicData(topic_name=name, partitions=list(map(_partition, of_topic)))
                for name, of_topic in topics.items()
            ],
        )
        in_order = [proposal for of_topic in topics.values() for proposal in of_topic]
        return await outcomes_of(
            proposals,
            request,
            self._link,
            timeout,
            error_code=lambda reply: reply.top_level_error_code,
            mistaken=self._link.mistaken,
            outcomes=lambda reply: _outcomes(in_order, reply.results),
        )


def _outcomes(
    proposals: Sequence[IsrProposal], results: Sequence[m.IsrChangeResponse.Result]
) -> Mapping[TopicPartition, IsrOutcome]:
    """Return no outcome if there are too few results, or too many: only their order says to what they belong."""
    if len(results) != len(proposals):
        return {}
    return {
        proposal.topic_partition: outcome_of(proposal, result)
        for proposal, result in zip(proposals, results, strict=True)
    }


def _partition(proposal: IsrProposal) -> m.IsrChangeRequest.PartitionData:
    return m.IsrChangeRequest.PartitionData(
        leader_epoch=proposal.leader_epoch, partition_index=proposal.partition, isr_nodes=list(proposal.isr)
    )


def outcome_of(proposal: IsrProposal, result: m.IsrChangeResponse.Result) -> IsrOutcome:
    error = Error(result.error_code)
    if error is Error.NOT_CONTROLLER:
        return IsrUnknown("the controller was deposed while it changed the ISR")
    if error:
        return IsrRefused(error)
    return IsrAccepted(isr=proposal.isr, leader_epoch=proposal.leader_epoch, version=proposal.version + 1)
