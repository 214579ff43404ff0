"""The control plane of this design for a broker's replicas and client APIs; mostly this broker itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path

from fencepost.cluster_impl.designs.leader_driven.broker.cluster_view import ClusterViews
from fencepost.cluster_impl.designs.leader_driven.broker.live_brokers import LiveBrokers
from fencepost.cluster_impl.designs.on_zookeeper.producer_ids import ProducerIds
from fencepost.cluster_impl.replication.control_plane import (
    NO_EPOCH,
    ClusterView,
    IsrOutcome,
    IsrProposal,
    TopicPartition,
)
from fencepost.cluster_impl.wire.codec import Message

Administer = Callable[[Message, int], Awaitable[Message]]
"""Carries out an administrative request of the given version in this process."""
AlterIsr = Callable[[IsrProposal], Awaitable[IsrOutcome]]
ReadSettings = Callable[[], Awaitable[None]]
"""Reads the settings of brokers from ZooKeeper, after a sync."""
LogDirListener = Callable[[Path, Sequence[TopicPartition]], None]


class LeaderDrivenControlPlane:
    """Implements `replication.control_plane.ControlPlane`.

    `broker_epoch` returns this process's epoch. `serves` returns True if the broker is registered in a session that the
    servers are known to keep (decision DLD-15).
    """

    def __init__(
        self,
        broker_id: int,
        broker_epoch: Callable[[], int],
        serves: Callable[[], bool],
        live: LiveBrokers,
        views: ClusterViews,
        alter_isr: AlterIsr,
        producer_ids: ProducerIds,
        log_dir_failed: LogDirListener,
        read_settings: ReadSettings,
    ) -> None:
        self.broker_id = broker_id
        self.administer: Administer | None = None
        """Set before the first request is processed."""
        self._broker_epoch = broker_epoch
        self._serves = serves
        self._live = live
        self._views = views
        self._alter_isr = alter_isr
        self._producer_ids = producer_ids
        self._log_dir_failed = log_dir_failed
        self._read_settings = read_settings

    def serving(self) -> bool:
        return self._serves()

    def completes_begun(self) -> bool:
        """Return False: without the session, another broker may hold the leaderships already."""
        return False

    def broker_epoch(self) -> int:
        return self._broker_epoch()

    def registered_epoch(self, broker_id: int) -> int | None:
        if broker_id == self.broker_id:
            epoch = self._broker_epoch()
            return None if epoch == NO_EPOCH else epoch
        return self._live.epochs.get(broker_id)

    async def alter_isr(self, proposal: IsrProposal) -> IsrOutcome:
        return await self._alter_isr(proposal)

    def new_producer_id(self) -> int:
        return self._producer_ids.next()

    async def forward(self, request: Message, version: int) -> Message:
        """Carry out the request here: in this design every broker administers the cluster."""
        assert self.administer is not None
        return await self.administer(request, version)

    def log_dir_failed(self, path: Path, lost: Sequence[TopicPartition]) -> None:
        self._log_dir_failed(path, lost)

    def cluster(self) -> ClusterView:
        return self._views.view

    async def load_settings(self, topics: Collection[str]) -> None:
        """Read the settings of brokers. Those of the topics are read by `look`, from servers that have caught up."""
        await self._read_settings()

    async def look(self, topics: Collection[str] | None) -> None:
        await self._views.look(topics)
