"""The AlterIsr requests of a broker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder
from fencepost.cluster_impl.designs.quorum.broker.lifecycle import LeaseLifecycle
from fencepost.cluster_impl.designs.quorum.broker.link import ActiveControllerLink
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

        def all_are(outcome: IsrOutcome) -> Mapping[TopicPartition, IsrOutcome]:
            return {each.topic_partition: outcome for each in proposals}

        try:
            controller_id, reply = await self._link.request(self._request(proposals), 0, timeout)
        except (ConnectionError, TimeoutError) as failure:
            return all_are(IsrUnknown(str(failure)))
        if reply.error_code == Error.NOT_CONTROLLER:
            self._finder.failed(controller_id)
            return all_are(IsrUnknown(f"controller {controller_id} is not active"))
        if reply.error_code:
            return all_are(IsrRefused(Error(reply.error_code)))
        answers = {
            TopicPartition(topic.name, answer.partition_index): _outcome(answer, controller_id)
            for topic in reply.topics
            for answer in topic.partitions
        }
        return {**all_are(IsrUnknown(f"controller {controller_id} did not say")), **answers}

    def _request(self, proposals: Sequence[IsrProposal]) -> m.AlterIsrRequest:
        topics: dict[str, list[m.AlterIsrRequest.PartitionData]] = {}
        for each in proposals:
            partition = m.AlterIsrRequest.PartitionData(
                partition_index=each.partition,
                leader_epoch=each.leader_epoch,
                new_isr=list(each.isr),
                current_isr_version=each.version,
            )
            topics.setdefault(each.topic, []).append(partition)
        return m.AlterIsrRequest(
            broker_id=self._broker_id,
            broker_epoch=self._lifecycle.epoch,
            topics=[m.AlterIsrRequest.TopicData(name=name, partitions=of) for name, of in topics.items()],
        )


def _outcome(answer: m.AlterIsrResponse.PartitionData, controller_id: int) -> IsrOutcome:
    if answer.error_code == Error.NOT_CONTROLLER:
        return IsrUnknown(f"controller {controller_id} is behind this broker")
    if answer.error_code:
        return IsrRefused(Error(answer.error_code))
    return IsrAccepted(isr=tuple(answer.isr), leader_epoch=answer.leader_epoch, version=answer.current_isr_version)
