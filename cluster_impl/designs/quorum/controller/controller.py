"""A controller: keeps the committed image, and serves the cluster while Raft makes it the active controller.

KIP-631, The Metadata Topic: the leader of the quorum is the active controller; the others are hot standbys with the
same image in memory. All of it runs on one event loop.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import cast

from fencepost.cluster_impl.designs.quorum.controller.leases import Leases
from fencepost.cluster_impl.designs.quorum.controller.snapshot_schedule import SnapshotSchedule
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState, Reply
from fencepost.cluster_impl.designs.quorum.controller.term import ActiveControllerTerm, Quorum, TermEnded
from fencepost.cluster_impl.designs.quorum.controller.topics import complete_deletions
from fencepost.cluster_impl.designs.quorum.features import METADATA_FORMAT, report
from fencepost.cluster_impl.designs.quorum.image import MetadataImage, MetadataRecord
from fencepost.cluster_impl.designs.quorum.metrics import ControllerMeters
from fencepost.cluster_impl.designs.quorum.snapshot_records import snapshot_records
from fencepost.cluster_impl.metrics.samples import Sample
from fencepost.cluster_impl.security.access_control import Entries
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.records import decode_record, encode_record
from fencepost.cluster_impl.wire.server import FeatureReport

log = logging.getLogger(__name__)

NO_NODE = -1
"""The leader id if there is no leader."""


class QuorumController:
    """One controller; also the listener of its Raft node.

    `lease` and `snapshot_timeout` are in seconds, `snapshot_lag` in records (`SnapshotSchedule`). `first_format` is the
    level of metadata.format with which a new cluster begins.
    """

    def __init__(
        self,
        controller_id: int,
        controller_ids: frozenset[int],
        lease: float,
        quorum: Quorum,
        snapshot_lag: int,
        snapshot_timeout: float,
        first_format: int = 1,
    ) -> None:
        self._id = controller_id
        self._ids = controller_ids
        self._lease = lease
        self._snapshot_lag = snapshot_lag
        self._snapshot_timeout = snapshot_timeout
        self._first_format = first_format
        self.committed = MetadataImage()
        self.meters = ControllerMeters()
        self._quorum = quorum
        self._term: ActiveControllerTerm | None = None
        self.leader = NO_NODE
        """The leader of the newest epoch, as this controller knows it."""
        self._timer: asyncio.TimerHandle | None = None

    def on_commit(self, records: Sequence[tuple[int, bytes]]) -> None:
        """Replay committed records, given as (offset, value)."""
        for offset, value in records:
            self.committed.replay(cast("MetadataRecord", decode_record(value)), offset)
        self.meters.committed(len(records), self.committed.offset)
        if self._term is not None:
            self._term.state.stable_offset = self.committed.offset
            self._complete_deletions_soon()

    def on_snapshot(self, values: Sequence[bytes], end_offset: int) -> None:
        """Take the state of a snapshot in place of the committed image."""
        self.committed.load((cast("MetadataRecord", decode_record(value)) for value in values), end_offset)

    def snapshot(self) -> Iterator[bytes]:
        """Return the records of the committed image as it is now, to be read in another thread."""
        image = self.committed.copy()
        return (encode_record(record) for record in snapshot_records(image))

    def on_elected(self, epoch: int) -> None:
        """Become active. Every record before this epoch is committed and in the image."""
        leases = Leases(self._lease)
        leases.assume(self.committed.brokers, self.committed.offset, time.monotonic())
        state = ControllerState(
            controller_id=self._id,
            controller_ids=self._ids,
            image=self.committed.copy(),
            leases=leases,
            snapshots=SnapshotSchedule(self._snapshot_lag, self._snapshot_timeout, time.monotonic()),
            end_offset=self._quorum.end_offset,
            stable_offset=self.committed.offset,
        )
        self._term = ActiveControllerTerm(epoch, self._quorum, state, self.meters)
        log.info("this controller is active in epoch %d", epoch)
        self.watch_leases()
        self._complete_deletions_soon()
        if self.committed.offset < 0 and self._first_format > 1:
            asyncio.get_running_loop().call_soon(self._begin_at_first_format, self._term)

    def on_resigned(self) -> None:
        """Drop the uncommitted state and the leases."""
        if self._term is not None:
            log.info("this controller is no longer active; its epoch was %d", self._term.epoch)
            self._term.ended = True
            self.meters.resigned()
            self._term = None

    def on_leader(self, leader_id: int, epoch: int) -> None:
        """Note and log the leader of the epoch."""
        if leader_id != self.leader:
            log.info("epoch %d: %s", epoch, "no leader" if leader_id == NO_NODE else f"controller {leader_id} leads")
        self.leader = leader_id

    def on_voters(self, voter_ids: frozenset[int]) -> None:
        """Take the ids of the controllers, which no broker may use. A controller that joins does not know them yet."""
        if voter_ids:
            self._ids = voter_ids
            if self._term is not None:
                self._term.state.controller_ids = voter_ids

    def metrics(self, last_stable_offset: int, snapshot_offset: int) -> Iterator[Sample]:
        """Yield the metrics of KIP-631. Both offsets are ends: of the committed log, and of the newest snapshot."""
        replayed = self.committed.offset + 1
        return self.meters.samples(
            active=self._term is not None,
            lag=max(0, last_stable_offset - replayed),
            snapshot_lag=max(0, last_stable_offset - snapshot_offset),
        )

    def access_control_entries(self) -> Entries:
        """Return the committed access control entries."""
        return self.committed.acls

    def _begin_at_first_format(self, term: ActiveControllerTerm) -> None:
        """Write the level of a new cluster, as its first record."""
        try:
            term.append_own([m.FeatureLevelRecord(name=METADATA_FORMAT, level=self._first_format)])
        except TermEnded as ended:
            log.info("the next active controller writes the level of %s: %s", METADATA_FORMAT, ended)

    def features(self) -> FeatureReport:
        """Return the features as of the committed image."""
        return report(self.committed.features, self.committed.offset)

    async def run(self, operation: Callable[[ControllerState], ControllerResult[Reply]], now: float) -> Reply:
        """Decide as the active controller, and return the reply when it may be sent. Raises TermEnded."""
        if self._term is None:
            raise TermEnded("this controller is not active")
        return await self._term.run(operation, now)

    def watch_leases(self) -> None:
        """Set a timer for the end of the first lease.

        A timer that is set stays: leases are only ever extended, so it fires early at worst.
        """
        if self._term is None or self._timer is not None:
            return
        next_end = self._term.state.leases.next_end()
        if next_end is not None:
            delay = max(0.0, next_end - time.monotonic())
            self._timer = asyncio.get_running_loop().call_later(delay, self._lease_may_be_over)

    def _lease_may_be_over(self) -> None:
        self._timer = None
        if self._term is not None:
            try:
                self._term.end_leases(time.monotonic())
            except TermEnded as ended:
                log.info("the next active controller ends the leases: %s", ended)
                return
        self.watch_leases()

    def _complete_deletions_soon(self) -> None:
        """Complete committed deletions, also those that an earlier controller or a request cut short has begun."""
        if self.committed.deleting:
            asyncio.get_running_loop().call_soon(self._complete_deletions)

    def _complete_deletions(self) -> None:
        if self._term is not None:
            try:
                self._term.append_own(complete_deletions(self._term.state, self.committed))
            except TermEnded as ended:
                log.info("the next active controller completes the deletions: %s", ended)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
