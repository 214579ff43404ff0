"""The control plane of the quorum design for a broker's replicas and client APIs."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Collection, Sequence
from pathlib import Path

from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder
from fencepost.cluster_impl.designs.quorum.broker.isr_requests import AlterIsrRequests
from fencepost.cluster_impl.designs.quorum.broker.lifecycle import LeaseLifecycle
from fencepost.cluster_impl.designs.quorum.broker.link import ActiveControllerLink
from fencepost.cluster_impl.designs.quorum.image import MetadataImage
from fencepost.cluster_impl.designs.shared.forwarding import forward
from fencepost.cluster_impl.designs.shared.isr_proposals import IsrProposals
from fencepost.cluster_impl.replication.control_plane import (
    NO_EPOCH,
    NO_LEADER,
    BrokerView,
    ClusterView,
    Endpoint,
    IsrOutcome,
    IsrProposal,
    PartitionView,
    ProducerIdsUnavailable,
    TopicPartition,
    TopicView,
)
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

_NOT_ACTIVE = (Error.NOT_CONTROLLER, Error.NOT_LEADER_OR_FOLLOWER)
"""The answers of a controller that is not active; the second one is that to DescribeQuorum."""

_PRODUCER_ID_BITS = 20
"""The number of producer ids per broker epoch is 2**20."""


class QuorumControlPlane:
    """Implements `replication.control_plane.ControlPlane` on a lifecycle, a metadata image and two links.

    ISR changes use `link`, client requests use `forward_link`: a forwarded request may wait, and responses on one
    connection keep their order. `request_timeout` bounds, in seconds, the wait for the outcome of an ISR change.
    """

    def __init__(
        self,
        broker_id: int,
        cluster_id: str,
        lifecycle: LeaseLifecycle,
        image: MetadataImage,
        link: ActiveControllerLink,
        forward_link: ActiveControllerLink,
        finder: ControllerFinder,
        request_timeout: float,
    ) -> None:
        self.broker_id = broker_id
        self._cluster_id = cluster_id
        self._lifecycle = lifecycle
        self._image = image
        self._isr_proposals = IsrProposals(AlterIsrRequests(broker_id, lifecycle, link, finder).send)
        self._request_timeout = request_timeout
        self._forward_link = forward_link
        self._finder = finder
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

    def alter_isr(self, proposal: IsrProposal) -> Awaitable[IsrOutcome]:
        return self._isr_proposals.change(proposal, self._request_timeout)

    def new_producer_id(self) -> int:
        """Return an id with the broker epoch in its upper bits and a counter in its lower bits.

        It is unique, because an epoch is granted only once in a cluster. Raises ProducerIdsUnavailable.
        """
        epoch = self._lifecycle.epoch
        first = epoch << _PRODUCER_ID_BITS
        next_id = max(first, self._last_producer_id + 1)
        if epoch == NO_EPOCH or next_id >= first + (1 << _PRODUCER_ID_BITS):
            raise ProducerIdsUnavailable("This broker has no epoch, or has given out all producer ids of its epoch.")
        self._last_producer_id = next_id
        return next_id

    async def forward(self, request: Message, version: int) -> Message:
        return await forward(request, version, self._forward_link.request, self._finder.failed, _NOT_ACTIVE)

    def log_dir_failed(self, path: Path, lost: Sequence[TopicPartition]) -> None:
        """Log the failure. The KIP-631 draft has no request for it; the node ends when its last log directory fails."""
        log.error("%s has failed with %d replicas; no controller is notified", path, len(lost))

    async def load_settings(self, topics: Collection[str]) -> None:
        """Do nothing: the settings of a topic come with its other metadata."""

    async def look(self, topics: Collection[str] | None) -> None:
        """Do nothing: this broker receives every metadata change anyway."""

    def cluster(self) -> ClusterView:
        """Return the metadata, rebuilt after each change."""
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
                index: PartitionView(
                    registration.replicas, registration.isr, registration.leader, registration.leader_epoch
                )
                for index, registration in image.partitions[topic.id].items()
            },
            image.config_of(topic.name),
        )
        for topic in image.topics.values()
        if not topic.deleting
    }
    return ClusterView(cluster_id, min(brokers, default=NO_LEADER), brokers, topics, image.broker_configs)
