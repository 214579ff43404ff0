"""The control plane of the `zk-controller` design, as the replicas and the client APIs of a broker use it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol

from fencepost.cluster_impl.designs.on_zookeeper.producer_ids import ProducerIds
from fencepost.cluster_impl.designs.shared.forwarding import forward
from fencepost.cluster_impl.designs.zk_controller.broker.broker_settings import BrokerSettings
from fencepost.cluster_impl.designs.zk_controller.broker.lifecycle import Lifecycle
from fencepost.cluster_impl.designs.zk_controller.broker.link import ControllerLink
from fencepost.cluster_impl.designs.zk_controller.broker.log_dir_failures import LogDirFailures
from fencepost.cluster_impl.designs.zk_controller.broker.metadata import MetadataCache
from fencepost.cluster_impl.replication.control_plane import (
    NO_EPOCH,
    ClusterView,
    IsrOutcome,
    IsrProposal,
    TopicPartition,
)
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message

log = logging.getLogger(__name__)


class IsrChanges(Protocol):
    """The way to change ISRs at the configured level: IsrWriter or IsrProposals."""

    async def change(self, proposal: IsrProposal, timeout: float) -> IsrOutcome: ...


class ZkControlPlane:
    """Implements `replication.control_plane.ControlPlane`.

    `lifecycle` is None below the level of KIP-343: there a broker serves from its first metadata on, even without a
    controller or a session. `broker_epoch` returns the epoch of this process. `request_timeout` limits, in seconds, the
    wait for the outcome of an ISR change.
    """

    def __init__(
        self,
        broker_id: int,
        lifecycle: Lifecycle | None,
        cache: MetadataCache,
        settings: BrokerSettings,
        broker_epoch: Callable[[], int],
        isr_changes: IsrChanges,
        producer_ids: ProducerIds,
        link: ControllerLink,
        failures: LogDirFailures,
        request_timeout: float,
    ) -> None:
        self.broker_id = broker_id
        self._lifecycle = lifecycle
        self._cache = cache
        self._settings = settings
        self._broker_epoch = broker_epoch
        self._isr_changes = isr_changes
        self._producer_ids = producer_ids
        self._link = link
        self._failures = failures
        self._request_timeout = request_timeout

    def serving(self) -> bool:
        """Return whether clients are served. Before its first metadata an active incarnation would serve that of its
        predecessor."""
        if self._lifecycle is None:
            return self._cache.known
        return self._lifecycle.serving(time.monotonic()) and self._cache.informed_at == self._lifecycle.incarnation

    def completes_begun(self) -> bool:
        """Return True. KIP-343: existing requests are completed, new ones are not accepted."""
        return True

    def broker_epoch(self) -> int:
        return self._broker_epoch()

    def registered_epoch(self, broker_id: int) -> int | None:
        if broker_id == self.broker_id:
            epoch = self._broker_epoch()
            return None if epoch == NO_EPOCH else epoch
        return self._cache.broker_epochs.get(broker_id)

    async def alter_isr(self, proposal: IsrProposal) -> IsrOutcome:
        return await self._isr_changes.change(proposal, self._request_timeout)

    def new_producer_id(self) -> int:
        return self._producer_ids.next()

    async def forward(self, request: Message, version: int) -> Message:
        """Send the request to the controller. Settings are written by the broker that is asked, as in Kafka."""
        if isinstance(request, m.AlterConfigsRequest | m.IncrementalAlterConfigsRequest):
            return await self._settings.writer.alter(request)
        return await forward(request, version, self._link.request, self._link.mistaken)

    def log_dir_failed(self, path: Path, lost: Sequence[TopicPartition]) -> None:
        self._failures.failed(f"the log dir {path} has failed", lost)

    async def load_settings(self, topics: Collection[str]) -> None:
        """Read the settings of these topics and those of brokers: no request of the controller has them."""
        views = self._cache.view.topics
        wanted = [views[name] for name in topics if name in views]
        try:
            async with asyncio.timeout(self._request_timeout):
                await self._settings.refresh(wanted)
        except TimeoutError:
            log.warning("settings are described as they were last known: ZooKeeper does not answer in time")

    async def look(self, topics: Collection[str] | None) -> None:
        """Do nothing: the controller sends every change of metadata to this broker."""

    def cluster(self) -> ClusterView:
        return self._cache.view
