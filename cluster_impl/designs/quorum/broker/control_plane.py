"""The control plane of the `quorum` design as a broker's replicas and client APIs see it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from cluster_impl.designs.forwarding import forward
from cluster_impl.designs.quorum.broker.finder import ControllerFinder
from cluster_impl.designs.quorum.broker.lifecycle import Lifecycle
from cluster_impl.designs.quorum.broker.link import ControllerLink
from cluster_impl.designs.quorum.image import MetadataImage
from cluster_impl.replication.control_plane import (
    NO_EPOCH,
    NO_LEADER,
    BrokerView,
    ClusterView,
    Endpoint,
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    IsrUnknown,
    PartitionView,
    ProducerIdsUnavailable,
    TopicPartition,
    TopicView,
)
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Message
from cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

RETRY = 0.05
"""Seconds between attempts while nobody answers as the active controller."""

_PRODUCER_ID_BITS = 20
"""How many producer ids one broker epoch can give: 2**20."""


class QuorumControlPlane:
    """Implements `replication.control_plane.ControlPlane` on a lifecycle, a metadata image and two links.

    ISR changes go over `link` and what clients ask for over `forward_link`: it may wait, and answers keep their order.
    `request_timeout` bounds, in seconds, how long the fate of an ISR change is waited for.
    """

    def __init__(
        self,
        broker_id: int,
        cluster_id: str,
        lifecycle: Lifecycle,
        image: MetadataImage,
        link: ControllerLink,
        forward_link: ControllerLink,
        finder: ControllerFinder,
        request_timeout: float,
    ) -> None:
        self.broker_id = broker_id
        self._cluster_id = cluster_id
        self._lifecycle = lifecycle
        self._image = image
        self._link = link
        self._forward_link = forward_link
        self._finder = finder
        self._request_timeout = request_timeout
        self._last_producer_id = NO_EPOCH
        self._view: tuple[int, ClusterView] | None = None

    def serving(self) -> bool:
        return self._lifecycle.serving(time.monotonic())

    def completes_begun(self) -> bool:
        return False

    def broker_epoch(self) -> int:
        return self._lifecycle.epoch

    def registered_epoch(self, broker_id: int) -> int | None:
        broker = self._image.brokers.get(broker_id)
        return None if broker is None else broker.epoch

    async def alter_isr(self, proposal: IsrProposal) -> IsrOutcome:
        """Ask the active controller, whoever that becomes while the time lasts.

        Asking again after an unknown outcome is safe: the version has moved if the change was made. But then a refusal
        is one of the repetition only: the earlier attempt may have been made, or may still be on its way.
        """
        deadline = time.monotonic() + self._request_timeout
        in_doubt = False
        while True:
            outcome = await self._propose(proposal, max(RETRY, deadline - time.monotonic()))
            if in_doubt and isinstance(outcome, IsrRefused):
                return IsrUnknown(f"it was refused ({outcome.error.name}) after an attempt that nobody answered")
            if not isinstance(outcome, IsrUnknown) or time.monotonic() + RETRY >= deadline:
                return outcome
            in_doubt = True
            await asyncio.sleep(RETRY)

    async def _propose(self, proposal: IsrProposal, timeout: float) -> IsrOutcome:
        partition = m.AlterIsrRequest.PartitionData(
            partition_index=proposal.partition,
            leader_epoch=proposal.leader_epoch,
            new_isr=list(proposal.isr),
            current_isr_version=proposal.version,
        )
        request = m.AlterIsrRequest(
            broker_id=self.broker_id,
            broker_epoch=self._lifecycle.epoch,
            topics=[m.AlterIsrRequest.TopicData(name=proposal.topic, partitions=[partition])],
        )
        try:
            asked, reply = await self._link.request(request, 0, timeout)
        except (ConnectionError, TimeoutError) as failure:
            return IsrUnknown(str(failure))
        if reply.error_code == Error.NOT_CONTROLLER:
            self._finder.failed(asked)
            return IsrUnknown(f"controller {asked} is not active")
        if reply.error_code:
            return IsrRefused(Error(reply.error_code))
        answer = reply.topics[0].partitions[0]
        if answer.error_code == Error.NOT_CONTROLLER:
            return IsrUnknown(f"controller {asked} is behind this broker")
        if answer.error_code:
            return IsrRefused(Error(answer.error_code))
        return IsrAccepted(isr=tuple(answer.isr), leader_epoch=answer.leader_epoch, version=answer.current_isr_version)

    def new_producer_id(self) -> int:
        """The broker epoch in the upper bits, a counter below. An epoch is granted once in the cluster's life."""
        epoch = self._lifecycle.epoch
        first = epoch << _PRODUCER_ID_BITS
        next_id = max(first, self._last_producer_id + 1)
        if epoch == NO_EPOCH or next_id >= first + (1 << _PRODUCER_ID_BITS):
            raise ProducerIdsUnavailable("This broker has no epoch, or has given out all producer ids of its epoch.")
        self._last_producer_id = next_id
        return next_id

    async def forward(self, request: Message, version: int) -> Message:
        return await forward(request, version, self._forward_link.request, self._finder.failed)

    def log_dir_failed(self, path: Path, lost: Sequence[TopicPartition]) -> None:
        """The draft has no word for it; the node ends when its last log dir is gone."""
        log.error("%s has failed with %d replicas, which no controller learns", path, len(lost))

    async def look(self, topics: Collection[str] | None) -> None:
        """Every change of metadata is told to this broker."""

    def cluster(self) -> ClusterView:
        """Built anew when the metadata has changed."""
        if self._view is None or self._view[0] != self._image.offset:
            self._view = (self._image.offset, _view_of(self._image, self._cluster_id))
        return self._view[1]


def _view_of(image: MetadataImage, cluster_id: str) -> ClusterView:
    brokers = {
        broker.id: BrokerView(broker.id, {at.name: Endpoint(at.host, at.port) for at in broker.endpoints}, broker.rack)
        for broker in image.brokers.values()
    }
    topics = {
        topic.name: TopicView(
            topic.name,
            topic.id,
            {
                index: PartitionView(known.replicas, known.isr, known.leader, known.leader_epoch)
                for index, known in image.partitions[topic.id].items()
            },
            image.config_of(topic.name),
        )
        for topic in image.topics.values()
    }
    return ClusterView(cluster_id, min(brokers, default=NO_LEADER), brokers, topics)
