"""ISR changes at the level of KIP-343: the leader sends IsrChange to the controller (Initiating ISR Changes)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

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
        topics: dict[str, list[IsrProposal]] = {}
        for each in proposals:
            topics.setdefault(each.topic, []).append(each)
        in_order = [each for of_topic in topics.values() for each in of_topic]

        def all_are(outcome: IsrOutcome) -> Mapping[TopicPartition, IsrOutcome]:
            return {each.topic_partition: outcome for each in proposals}

        try:
            sender, reply = await self._link.request(self._request(topics), 0, timeout)
        except (ConnectionError, TimeoutError) as failure:
            return all_are(IsrUnknown(str(failure)))
        if reply.top_level_error_code == Error.NOT_CONTROLLER:
            # A controller that was deposed during the change answers this too, and the outcome of the change is
            # unknown.
            self._link.mistaken(sender)
            return all_are(IsrUnknown(f"broker {sender} is not the controller"))
        if reply.top_level_error_code:
            return all_are(IsrRefused(Error(reply.top_level_error_code)))
        if len(reply.results) != len(proposals):
            return all_are(IsrUnknown(f"broker {sender} answered {len(reply.results)} of {len(proposals)} changes"))
        return {each.topic_partition: outcome_of(each, it) for each, it in zip(in_order, reply.results, strict=True)}

    def _request(self, topics: Mapping[str, Iterable[IsrProposal]]) -> m.IsrChangeRequest:
        return m.IsrChangeRequest(
            broker_id=self._broker_id,
            incarnation_id=self._incarnation(),
            topics=[
                m.IsrChangeRequest.TopicData(topic_name=name, partitions=[_partition(each) for each in of_topic])
                for name, of_topic in topics.items()
            ],
        )


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
