"""The AlterIsr requests of a broker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder
from fencepost.cluster_impl.designs.quorum.broker.lifecycle import LeaseLifecycle
from fencepost.cluster_impl.designs.quorum.broker.link import ActiveControllerLink
from fencepost.cluster_impl.designs.shared.isr_proposals import by_topic, outcomes_of
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


class AlterIsrRequests:
    """Sends AlterIsr to the active controller.

    A request without a response can be repeated: if the change was made, its version has moved.
    """

    def __init__(
        self, broker_id: int, lifecycle: LeaseLifecycle, link: ActiveControllerLink, finder: ControllerFinder
    ) -> None:
        self._broker_id = broker_id
        self._lifecycle = lifecycle
        self._link = link
        self._finder = finder

    async def send(self, proposals: Sequence[IsrProposal], timeout: float) -> Mapping[TopicPartition, IsrOutcome]:
        """Send one request, wait `timeout` seconds at most, and return the outcome of each proposal."""
        request = m.AlterIsrRequest(
            broker_id=self._broker_id,
            broker_epoch=self._lifecycle.epoch,
            topics=[
                m.AlterIsrRequest.TopicData(name=name, partitions=list(map(_partition, of_topic)))
                for name, of_topic in by_topic(proposals).items()
            ],
        )
        return await outcomes_of(
            proposals,
            request,
            self._link,
            timeout,
            error_code=lambda reply: reply.error_code,
            mistaken=self._finder.failed,
            outcomes=_outcomes,
        )


def _partition(proposal: IsrProposal) -> m.AlterIsrRequest.PartitionData:
    return m.AlterIsrRequest.PartitionData(
        partition_index=proposal.partition,
        leader_epoch=proposal.leader_epoch,
        new_isr=list(proposal.isr),
        current_isr_version=proposal.version,
    )


def _outcomes(reply: m.AlterIsrResponse) -> Mapping[TopicPartition, IsrOutcome]:
    return {
        TopicPartition(topic.name, partition.partition_index): _outcome(partition)
        for topic in reply.topics
        for partition in topic.partitions
    }


def _outcome(answer: m.AlterIsrResponse.PartitionData) -> IsrOutcome:
    if answer.error_code == Error.NOT_CONTROLLER:
        return IsrUnknown("the controller is behind this broker")
    if answer.error_code:
        return IsrRefused(Error(answer.error_code))
    return IsrAccepted(isr=tuple(answer.isr), leader_epoch=answer.leader_epoch, version=answer.current_isr_version)
