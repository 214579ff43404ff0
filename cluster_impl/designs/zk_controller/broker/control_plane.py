"""The control plane of the `zk-controller` design as a broker's replicas and client APIs see it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol, cast

from cluster_impl.designs.zk_controller.broker.lifecycle import Lifecycle
from cluster_impl.designs.zk_controller.broker.link import ControllerLink
from cluster_impl.designs.zk_controller.broker.log_dir_failures import LogDirFailures
from cluster_impl.designs.zk_controller.broker.metadata import MetadataCache
from cluster_impl.designs.zk_controller.broker.producer_ids import ProducerIds
from cluster_impl.replication.control_plane import NO_EPOCH, ClusterView, IsrOutcome, IsrProposal, TopicPartition
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Message, RequestMessage
from cluster_impl.wire.errors import Error

RETRY = 0.05
"""Seconds between attempts while nobody answers as the controller."""


class IsrChanges(Protocol):
    """How ISRs are changed at the configured level: IsrWriter or IsrRequester."""

    async def change(self, proposal: IsrProposal, timeout: float) -> IsrOutcome: ...


class ZkControlPlane:
    """Implements `replication.control_plane.ControlPlane`.

    `lifecycle` is None below KIP-343's level: there a broker serves from its first metadata on, whatever becomes of the
    controller or of its session. `broker_epoch` gives this process's own, `informed_at` the one at which metadata
    arrived last. `request_timeout` bounds, in seconds, how long the fate of an ISR change is waited for.
    """

    def __init__(
        self,
        broker_id: int,
        lifecycle: Lifecycle | None,
        cache: MetadataCache,
        broker_epoch: Callable[[], int],
        informed_at: Callable[[], int],
        isr_changes: IsrChanges,
        producer_ids: ProducerIds,
        link: ControllerLink,
        failures: LogDirFailures,
        request_timeout: float,
    ) -> None:
        self.broker_id = broker_id
        self._lifecycle = lifecycle
        self._cache = cache
        self._broker_epoch = broker_epoch
        self._informed_at = informed_at
        self._isr_changes = isr_changes
        self._producer_ids = producer_ids
        self._link = link
        self._failures = failures
        self._request_timeout = request_timeout

    def serving(self) -> bool:
        """An incarnation that was answered as active but not told anything yet would hand out what its predecessor
        knew."""
        if self._lifecycle is None:
            return self._cache.known
        return self._lifecycle.serving(time.monotonic()) and self._informed_at() == self._lifecycle.incarnation

    def completes_begun(self) -> bool:
        """KIP-343: existing requests are completed, new ones are not accepted."""
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
        """Pass CreateTopics or DeleteTopics on to the controller, and to the next one if that changes.

        Goes on for as long as the request's own timeout, and asks again only when an attempt has failed: after one with
        an unknown outcome the next one may find the topic as the first one left it, and answer TOPIC_ALREADY_EXISTS or
        UNKNOWN_TOPIC_OR_PARTITION.
        """
        if not isinstance(request, m.CreateTopicsRequest | m.DeleteTopicsRequest):
            raise TypeError(f"{type(request).__name__} is nothing that a controller decides.")
        decided = cast("RequestMessage[m.CreateTopicsResponse | m.DeleteTopicsResponse]", request)
        deadline = time.monotonic() + request.timeout_ms / 1000
        while True:
            try:
                _, reply = await self._link.request(decided, version, max(RETRY, deadline - time.monotonic()))
            except (ConnectionError, TimeoutError):
                if time.monotonic() + RETRY >= deadline:
                    raise
            else:
                if Error.NOT_CONTROLLER not in _errors(reply) or time.monotonic() + RETRY >= deadline:
                    return reply
            await asyncio.sleep(RETRY)

    def log_dir_failed(self, path: Path, lost: Sequence[TopicPartition]) -> None:
        self._failures.failed(f"the log dir {path} has failed", lost)

    def cluster(self) -> ClusterView:
        return self._cache.view


def _errors(reply: m.CreateTopicsResponse | m.DeleteTopicsResponse) -> Iterable[int]:
    results = reply.topics if isinstance(reply, m.CreateTopicsResponse) else reply.responses
    return {result.error_code for result in results}
