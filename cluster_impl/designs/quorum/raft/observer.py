"""Following the metadata as a broker: fetching committed records from the active controller, wherever it is.

Any controller may be asked: one that does not lead names the leader if it knows it. The observer keeps the newest
leader epoch that it has seen and ignores responses of older ones, so a deposed controller that still answers is left
behind.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fencepost.cluster_impl.config.quorum import QuorumConfig
from fencepost.cluster_impl.designs.quorum.raft.messages import (
    OBSERVER,
    UNKNOWN_EPOCH,
    EpochEnd,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    RaftBatch,
)
from fencepost.cluster_impl.designs.quorum.raft.metadata_log import data_records
from fencepost.cluster_impl.designs.quorum.raft.snapshot_format import DamagedSnapshot, read_snapshot
from fencepost.cluster_impl.designs.quorum.raft.translate import (
    FETCH_SNAPSHOT_VERSION,
    FETCH_VERSION,
    fetch_message,
    fetch_snapshot_message,
    named_voters,
    read_response,
)
from fencepost.cluster_impl.failures import NodeFailure
from fencepost.cluster_impl.wire.batches import Batch
from fencepost.cluster_impl.wire.codec import Malformed, R, RequestMessage
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 0.5


class MetadataGone(NodeFailure):
    """The leader lacks records that this observer received as committed. The broker must stop."""


class ActiveControllerConnection(Protocol):
    """A connection to the controller that is believed to be active."""

    async def request(self, message: RequestMessage[R], version: int, timeout: float) -> tuple[int, R]:
        """Send one request to the candidate; return its id and its response.

        Raises ConnectionError or TimeoutError; then the next call uses another candidate.
        """
        ...


class Belief(Protocol):
    """The belief about the active controller, shared by all parts of the broker."""

    def voters_named(self, addresses: Mapping[int, tuple[str, int]]) -> None:
        """Note the voters that a controller named, by id with host and port."""
        ...

    def learned(self, controller_id: int) -> None:
        """Note that a controller reported this one to be active."""
        ...

    def failed(self, controller_id: int) -> None:
        """Note that this controller is not active."""
        ...


@dataclass(frozen=True, slots=True)
class _CommittedBatch:
    """Records to apply, and the end of the log after them."""

    end: EpochEnd
    records: list[tuple[int, bytes]]


@dataclass(frozen=True, slots=True)
class _FetchAnswer:
    controller_id: int
    response: FetchResponse
    voters: Mapping[int, tuple[str, int]]
    pieces: list[_CommittedBatch]


class MetadataObserver:
    """Calls `on_records` with committed records and their offsets, in order. Does not use the voters in `config`.

    Where the records are no longer in the leader's log, it calls `on_snapshot` with the records of a snapshot and its
    end offset; they take the place of everything before.
    """

    def __init__(
        self,
        config: QuorumConfig,
        controller: ActiveControllerConnection,
        belief: Belief,
        on_records: Callable[[list[tuple[int, bytes]]], None],
        on_snapshot: Callable[[list[bytes], int], None],
        broker_id: int | None = None,
    ) -> None:
        self._config = config
        self._broker_id = broker_id
        self._controller = controller
        self._belief = belief
        self._on_records = on_records
        self._on_snapshot = on_snapshot
        self._epoch = UNKNOWN_EPOCH
        self._end = EpochEnd(0, 0)
        self._following: asyncio.Task[None] | None = None
        self.last_stable_offset = 0
        """The end of the committed records, as the leader reported it last."""

    @property
    def offset(self) -> int:
        """The highest offset applied, -1 before the first."""
        return self._end.end_offset - 1

    async def start(self) -> None:
        """Begin to follow the metadata in a task."""
        self._following = asyncio.create_task(self._follow())

    async def failed(self) -> None:
        """Wait for ever, or raise MetadataGone, or what `on_records` raised."""
        assert self._following is not None
        await asyncio.shield(self._following)

    async def close(self) -> None:
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait({self._following})

    async def _follow(self) -> None:
        failures = 0
        while True:
            try:
                answer = await self._fetch()
            except (ConnectionError, TimeoutError, Malformed) as error:
                log.debug("no metadata: %s", error)
                followed = False
            else:
                followed = self._take(answer)
                if followed and answer.response.snapshot is not None:
                    followed = await self._load(answer.controller_id, answer.response.snapshot)
            failures = 0 if followed else failures + 1
            if failures > 1:
                # No pause after the first failure: the response may have named the leader.
                await asyncio.sleep(min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(failures - 2, 10)))

    async def _fetch(self) -> _FetchAnswer:
        """Fetch once. Raises ConnectionError, TimeoutError, Malformed."""
        request = FetchRequest(
            self._config.cluster_id, self._epoch, OBSERVER, self._end, self._config.fetch_max_wait, self._broker_id
        )
        controller_id, message = await self._controller.request(
            fetch_message(request), FETCH_VERSION, self._config.request_timeout
        )
        try:
            response = read_response(message)
            assert isinstance(response, FetchResponse)
            return _FetchAnswer(controller_id, response, named_voters(message), self._pieces(response.batches))
        except Malformed:
            self._belief.failed(controller_id)
            raise

    async def _load(self, controller_id: int, snapshot: EpochEnd) -> bool:
        """Fetch a snapshot part by part and take its state; return whether it arrived whole.

        Raises what `on_snapshot` raises.
        """
        try:
            values = read_snapshot(await self._fetch_snapshot(controller_id, snapshot))
        except (ConnectionError, TimeoutError, Malformed, DamagedSnapshot) as error:
            log.info(
                "the snapshot at %d of controller %d did not arrive: %s", snapshot.end_offset, controller_id, error
            )
            return False
        log.info("loaded the snapshot at %d of controller %d", snapshot.end_offset, controller_id)
        self._end = snapshot
        self.last_stable_offset = max(self.last_stable_offset, snapshot.end_offset)
        self._on_snapshot(values, snapshot.end_offset)
        return True

    async def _fetch_snapshot(self, controller_id: int, snapshot: EpochEnd) -> bytearray:
        """Return the bytes of the snapshot. Raises ConnectionError, TimeoutError, Malformed."""
        data = bytearray()
        while True:
            request = FetchSnapshotRequest(self._config.cluster_id, self._epoch, OBSERVER, snapshot, len(data))
            sender, message = await self._controller.request(
                fetch_snapshot_message(request), FETCH_SNAPSHOT_VERSION, self._config.request_timeout
            )
            part = read_response(message)
            assert isinstance(part, FetchSnapshotResponse)
            if sender != controller_id or part.error or part.position != len(data) or not part.data:
                raise Malformed(f"controller {sender} answers {part}")
            data += part.data
            if len(data) >= part.size:
                return data

    def _pieces(self, batches: Sequence[RaftBatch]) -> list[_CommittedBatch]:
        """Return the batches that continue the applied records. Raises Malformed if they leave a gap."""
        end = self._end.end_offset
        pieces = []
        for fetched in batches:
            if fetched.base_offset != end:
                raise Malformed(f"the batch at {fetched.base_offset} does not follow {end}")
            end = fetched.next_offset
            pieces.append(
                _CommittedBatch(EpochEnd(fetched.epoch, end), data_records([Batch(memoryview(fetched.data))]))
            )
        return pieces

    def _take(self, answer: _FetchAnswer) -> bool:
        """Apply a response; return whether a leader sent it. Raises MetadataGone, and what `on_records` raises."""
        controller_id, response = answer.controller_id, answer.response
        if response.epoch < self._epoch:
            self._belief.failed(controller_id)
            return False
        news = response.epoch > self._epoch
        if news:
            log.info(
                "metadata: epoch %d, leader %s, reported by %d",
                response.epoch,
                response.leader_id,
                controller_id,
            )
            self._epoch = response.epoch
        self._belief.voters_named(answer.voters)
        if response.diverging is not None or response.error is Error.OFFSET_OUT_OF_RANGE:
            raise MetadataGone(
                f"controller {controller_id}, leader of epoch {response.epoch}, does not have the committed metadata "
                f"up to offset {self.offset}, epoch {self._end.epoch}, "
                f"that this broker has applied: {response.diverging}"
            )
        if response.snapshot is not None and response.snapshot.end_offset <= self.offset:
            raise MetadataGone(
                f"controller {controller_id}, leader of epoch {response.epoch}, offers a snapshot that ends at "
                f"{response.snapshot.end_offset}; this broker has applied offset {self.offset}"
            )
        if response.leader_id is None or (response.error and response.leader_id == controller_id):
            self._belief.failed(controller_id)
        elif news or response.error:
            # A leader that answers as before may be deposed: other parts may have found its successor meanwhile.
            self._belief.learned(response.leader_id)
        if not response.error:
            self._apply(answer)
        return not response.error

    def _apply(self, answer: _FetchAnswer) -> None:
        for piece in answer.pieces:
            self._end = piece.end
            if piece.records:
                self._on_records(piece.records)
        self.last_stable_offset = max(self.last_stable_offset, answer.response.high_watermark)
