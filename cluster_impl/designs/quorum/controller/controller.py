"""A controller: keeps the committed image, and serves the cluster while Raft makes it the active controller.

KIP-631, The Metadata Topic: the leader of the quorum is the active controller; the others are hot standbys with the
same image in memory. All of it runs on one event loop.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast
from uuid import uuid4

from fencepost.cluster_impl.config.data_plane import TopicDefaults
from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.controller.acls import create_acls, delete_acls, describe_acls
from fencepost.cluster_impl.designs.quorum.controller.alter_isr import alter_isr
from fencepost.cluster_impl.designs.quorum.controller.configs import alter_configs
from fencepost.cluster_impl.designs.quorum.controller.controller_heartbeats import controller_heartbeat
from fencepost.cluster_impl.designs.quorum.controller.create_partitions import create_partitions
from fencepost.cluster_impl.designs.quorum.controller.elect_leaders import elect_leaders
from fencepost.cluster_impl.designs.quorum.controller.features import update_features
from fencepost.cluster_impl.designs.quorum.controller.leases import Leases
from fencepost.cluster_impl.designs.quorum.controller.placing import NotHeardYet
from fencepost.cluster_impl.designs.quorum.controller.reassignment import alter_reassignments, list_reassignments
from fencepost.cluster_impl.designs.quorum.controller.snapshot_schedule import SnapshotSchedule
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState, Reply
from fencepost.cluster_impl.designs.quorum.controller.term import ActiveControllerTerm, Quorum, TermEnded
from fencepost.cluster_impl.designs.quorum.controller.topics import complete_deletions, create_topics, delete_topics
from fencepost.cluster_impl.designs.quorum.features import METADATA_FORMAT, missing_level, report, support_of
from fencepost.cluster_impl.designs.quorum.image import MetadataImage, MetadataRecord
from fencepost.cluster_impl.designs.quorum.metrics import ControllerMeters
from fencepost.cluster_impl.designs.quorum.refused_heartbeat import refused_heartbeat
from fencepost.cluster_impl.designs.quorum.snapshot_records import snapshot_records
from fencepost.cluster_impl.metrics.samples import Sample
from fencepost.cluster_impl.security.access_control import Entries
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.records import decode_record, encode_record
from fencepost.cluster_impl.wire.refusals import refusal
from fencepost.cluster_impl.wire.server import FeatureReport, Handler, Request

log = logging.getLogger(__name__)

NO_NODE = -1
"""The leader id if there is no leader."""

RETRY = 0.1
"""Seconds between attempts to create a topic while too few brokers are known to be active."""

Operation = Callable[[ControllerState, Any, float], ControllerResult[Message]]
"""Decides on the body of a request at a time (seconds, monotonic). Raises NotHeardYet."""

_TIMED_AT_ARRIVAL = (m.BrokerHeartbeatRequest, m.AlterIsrRequest)
"""The requests that are decided as of their arrival: those of brokers, whose leases may end meanwhile."""


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
        defaults: TopicDefaults,
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
        self._defaults = defaults
        self._committed = MetadataImage()
        self._meters = ControllerMeters()
        self._quorum = quorum
        self._term: ActiveControllerTerm | None = None
        self._leader = NO_NODE
        self._timer: asyncio.TimerHandle | None = None
        self._operations: Mapping[type[Message], Operation] = {
            m.BrokerHeartbeatRequest: heartbeats.heartbeat,
            m.ControllerHeartbeatRequest: controller_heartbeat,
            m.AlterIsrRequest: alter_isr,
            m.CreateTopicsRequest: self._created,
            m.CreatePartitionsRequest: create_partitions,
            m.ElectLeadersRequest: elect_leaders,
            m.AlterPartitionReassignmentsRequest: alter_reassignments,
            m.ListPartitionReassignmentsRequest: _at_any_time(list_reassignments),
            m.AlterConfigsRequest: _at_any_time(alter_configs),
            m.IncrementalAlterConfigsRequest: _at_any_time(alter_configs),
            m.UpdateFeaturesRequest: _at_any_time(update_features),
            m.CreateAclsRequest: _at_any_time(create_acls),
            m.DescribeAclsRequest: _at_any_time(describe_acls),
            m.DeleteAclsRequest: _at_any_time(delete_acls),
        }
        """The decision on each request; DeleteTopics has two, one after the other."""
        keys = [request.API_KEY for request in self._operations]
        self.handlers: Mapping[int, Handler] = dict.fromkeys([*keys, m.DeleteTopicsRequest.API_KEY], self._handle)

    def on_commit(self, records: Sequence[tuple[int, bytes]]) -> None:
        """Replay committed records, given as (offset, value)."""
        for offset, value in records:
            self._committed.replay(cast("MetadataRecord", decode_record(value)), offset)
        self._meters.committed(len(records), self._committed.offset)
        if self._term is not None:
            self._term.state.stable_offset = self._committed.offset
            self._complete_deletions_soon()

    def on_snapshot(self, values: Sequence[bytes], end_offset: int) -> None:
        """Take the state of a snapshot in place of the committed image."""
        self._committed.load((cast("MetadataRecord", decode_record(value)) for value in values), end_offset)

    def snapshot(self) -> Iterator[bytes]:
        """Return the records of the committed image as it is now, to be read in another thread."""
        image = self._committed.copy()
        return (encode_record(record) for record in snapshot_records(image))

    def on_elected(self, epoch: int) -> None:
        """Become active. Every record before this epoch is committed and in the image."""
        leases = Leases(self._lease)
        leases.assume(self._committed.brokers, self._committed.offset, time.monotonic())
        state = ControllerState(
            controller_id=self._id,
            controller_ids=self._ids,
            image=self._committed.copy(),
            leases=leases,
            snapshots=SnapshotSchedule(self._snapshot_lag, self._snapshot_timeout, time.monotonic()),
            end_offset=self._quorum.end_offset,
            stable_offset=self._committed.offset,
        )
        self._term = ActiveControllerTerm(epoch, self._quorum, state, self._meters)
        log.info("this controller is active in epoch %d", epoch)
        self._watch_leases()
        self._complete_deletions_soon()
        if self._committed.offset < 0 and self._first_format > 1:
            asyncio.get_running_loop().call_soon(self._begin_at_first_format, self._term)

    def on_resigned(self) -> None:
        """Drop the uncommitted state and the leases."""
        if self._term is not None:
            log.info("this controller is no longer active; its epoch was %d", self._term.epoch)
            self._term.ended = True
            self._meters.resigned()
            self._term = None

    def on_leader(self, leader_id: int, epoch: int) -> None:
        """Note and log the leader of the epoch."""
        if leader_id != self._leader:
            log.info("epoch %d: %s", epoch, "no leader" if leader_id == NO_NODE else f"controller {leader_id} leads")
        self._leader = leader_id

    def on_voters(self, voter_ids: frozenset[int]) -> None:
        """Take the ids of the controllers, which no broker may use. A controller that joins does not know them yet."""
        if voter_ids:
            self._ids = voter_ids
            if self._term is not None:
                self._term.state.controller_ids = voter_ids

    def metrics(self, last_stable_offset: int, snapshot_offset: int) -> Iterator[Sample]:
        """Yield the metrics of KIP-631. Both offsets are ends: of the committed log, and of the newest snapshot."""
        replayed = self._committed.offset + 1
        return self._meters.samples(
            active=self._term is not None,
            lag=max(0, last_stable_offset - replayed),
            snapshot_lag=max(0, last_stable_offset - snapshot_offset),
        )

    def _handle(self, request: Request) -> Awaitable[Message]:
        self._meters.requests.add()
        return self.answer(request.body, request.received_at, request.version)

    async def answer(self, body: Message, received_at: float, version: int = 0) -> Message:
        """Return the response to a request, which refuses it if this controller is not active or not in time."""
        timeout_ms = getattr(body, "timeout_ms", None)
        try:
            async with asyncio.timeout(None if timeout_ms is None else timeout_ms / 1000):
                if isinstance(body, m.DeleteTopicsRequest):
                    return await self._delete_topics(body, version)
                return await self._decided(body, received_at)
        except TermEnded as why:
            if isinstance(body, m.BrokerHeartbeatRequest):
                return refused_heartbeat(body, Error.NOT_CONTROLLER, self._leader)
            return refusal(body, Error.NOT_CONTROLLER, f"Ask the active controller: {why}.")
        except TimeoutError:
            return refusal(body, Error.REQUEST_TIMED_OUT, "The change was not committed in time; it may still be.")
        finally:
            self._watch_leases()

    async def controller_heartbeat(self, body: m.ControllerHeartbeatRequest) -> m.ControllerHeartbeatResponse:
        """Answer a heartbeat of a controller, once a majority has confirmed that this one is active."""
        response = await self.answer(body, time.monotonic())
        assert isinstance(response, m.ControllerHeartbeatResponse)
        return response

    async def _decided(self, body: Message, received_at: float) -> Message:
        """Decide, and wait until brokers that may be active report themselves or their lease is over.

        A lease begins when its heartbeat arrives. Raises TermEnded.
        """
        operation = self._operations[type(body)]
        while True:
            now = received_at if isinstance(body, _TIMED_AT_ARRIVAL) else time.monotonic()
            try:
                response = await self._run(partial(_at, operation, body, now), now)
            except NotHeardYet:
                await asyncio.sleep(RETRY)
            else:
                self._log_missing_level(body, response)
                return response

    def _log_missing_level(self, body: Message, response: Message) -> None:
        if (
            isinstance(body, m.BrokerHeartbeatRequest)
            and isinstance(response, m.BrokerHeartbeatResponse)
            and response.error_code == Error.UNSUPPORTED_VERSION
        ):
            why = missing_level(self._committed.features, support_of(body.features))
            log.warning("broker %d is refused: %s", body.broker_id, why)

    def _created(
        self, state: ControllerState, body: m.CreateTopicsRequest, now: float
    ) -> ControllerResult[m.CreateTopicsResponse]:
        return create_topics(state, body, now, self._defaults, uuid4)

    async def _delete_topics(self, body: m.DeleteTopicsRequest, version: int) -> Message:
        response = await self._run(lambda state: delete_topics(state, body, version), time.monotonic())
        # The marks are committed: answer when the topics are gone.
        return await self._run(
            lambda state: ControllerResult(response, complete_deletions(state, self._committed)), time.monotonic()
        )

    def access_control_entries(self) -> Entries:
        """Return the committed access control entries."""
        return self._committed.acls

    def _begin_at_first_format(self, term: ActiveControllerTerm) -> None:
        """Write the level of a new cluster, as its first record."""
        try:
            term.append_own([m.FeatureLevelRecord(name=METADATA_FORMAT, level=self._first_format)])
        except TermEnded as ended:
            log.info("the next active controller writes the level of %s: %s", METADATA_FORMAT, ended)

    def features(self) -> FeatureReport:
        """Return the features as of the committed image."""
        return report(self._committed.features, self._committed.offset)

    async def _run(self, operation: Callable[[ControllerState], ControllerResult[Reply]], now: float) -> Reply:
        if self._term is None:
            raise TermEnded("this controller is not active")
        return await self._term.run(operation, now)

    def _watch_leases(self) -> None:
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
        self._watch_leases()

    def _complete_deletions_soon(self) -> None:
        """Complete committed deletions, also those that an earlier controller or a request cut short has begun."""
        if self._committed.deleting:
            asyncio.get_running_loop().call_soon(self._complete_deletions)

    def _complete_deletions(self) -> None:
        if self._term is not None:
            try:
                self._term.append_own(complete_deletions(self._term.state, self._committed))
            except TermEnded as ended:
                log.info("the next active controller completes the deletions: %s", ended)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _at(operation: Operation, body: Message, now: float, state: ControllerState) -> ControllerResult[Message]:
    return operation(state, body, now)


def _at_any_time(decide: Callable[[ControllerState, Any], ControllerResult[Message]]) -> Operation:
    """Return the operation of a decision that does not depend on the time."""
    return lambda state, body, _: decide(state, body)
