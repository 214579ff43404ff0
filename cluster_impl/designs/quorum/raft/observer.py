"""How a broker follows the metadata: it fetches what is committed from the active controller, wherever that is.

Any controller may be asked: one that does not lead names the leader, if it knows it. The newest leader epoch ever seen
is kept, and nobody of an older one is listened to: a deposed controller that still answers is left behind.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cluster_impl.designs.quorum.raft.config import RaftConfig
from cluster_impl.designs.quorum.raft.messages import OBSERVER, UNKNOWN_EPOCH, EpochEnd, FetchRequest, FetchResponse
from cluster_impl.designs.quorum.raft.messages import Batch as Fetched
from cluster_impl.designs.quorum.raft.metadata_log import data_records
from cluster_impl.designs.quorum.raft.translate import FETCH_VERSION, fetch_message, read_response
from cluster_impl.endings import NodeFailure
from cluster_impl.wire.batches import Batch
from cluster_impl.wire.codec import Malformed, R, RequestMessage
from cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 0.5


class MetadataGone(NodeFailure):
    """The leader does not have what this observer was given as committed. The broker must not go on."""


class ActiveController(Protocol):
    """A connection to whoever is believed to be active."""

    async def request(self, message: RequestMessage[R], version: int, timeout: float) -> tuple[int, R]:
        """Ask the candidate once; who answered, and what.

        Raises ConnectionError or TimeoutError; then the next call asks another one.
        """
        ...


class Belief(Protocol):
    """Who is believed to be active, shared with all others who need to know."""

    def learned(self, controller_id: int) -> None:
        """This one is active, says somebody who should know."""
        ...

    def failed(self, controller_id: int) -> None:
        """This one is not active."""
        ...


@dataclass(frozen=True, slots=True)
class _Piece:
    """Records to apply, and where the log ends after them."""

    end: EpochEnd
    records: list[tuple[int, bytes]]


@dataclass(frozen=True, slots=True)
class _Answer:
    asked: int
    response: FetchResponse
    pieces: list[_Piece]


class MetadataObserver:
    """Calls `on_records` with committed records and their offsets, in order. Of `config` the voters are not used."""

    def __init__(
        self,
        config: RaftConfig,
        controller: ActiveController,
        belief: Belief,
        on_records: Callable[[list[tuple[int, bytes]]], None],
    ) -> None:
        self._config = config
        self._controller = controller
        self._belief = belief
        self._on_records = on_records
        self._epoch = UNKNOWN_EPOCH
        self._end = EpochEnd(0, 0)
        self._following: asyncio.Task[None] | None = None
        self.last_stable_offset = 0
        """The end of what is committed, as the leader said last."""

    @property
    def offset(self) -> int:
        """The highest offset applied, -1 before the first."""
        return self._end.end_offset - 1

    async def start(self) -> None:
        self._following = asyncio.create_task(self._follow())

    async def failed(self) -> None:
        """Return never; raise MetadataGone, or what `on_records` raised."""
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
            failures = 0 if followed else failures + 1
            if failures > 1:
                # Not after the first: whoever was asked may have named the leader.
                await asyncio.sleep(min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(failures - 2, 10)))

    async def _fetch(self) -> _Answer:
        """Fetch once. Raises ConnectionError, TimeoutError, Malformed."""
        request = FetchRequest(self._config.cluster_id, self._epoch, OBSERVER, self._end, self._config.fetch_max_wait)
        asked, message = await self._controller.request(
            fetch_message(request), FETCH_VERSION, self._config.request_timeout
        )
        try:
            response = read_response(message)
            assert isinstance(response, FetchResponse)
            return _Answer(asked, response, self._pieces(response.batches))
        except Malformed:
            self._belief.failed(asked)
            raise

    def _pieces(self, batches: Sequence[Fetched]) -> list[_Piece]:
        """What continues what is applied already. Raises Malformed."""
        end = self._end.end_offset
        pieces = []
        for fetched in batches:
            if fetched.base_offset != end:
                raise Malformed(f"the batch at {fetched.base_offset} does not follow {end}")
            end = fetched.next_offset
            pieces.append(_Piece(EpochEnd(fetched.epoch, end), data_records([Batch(memoryview(fetched.data))])))
        return pieces

    def _take(self, answer: _Answer) -> bool:
        """Whether a leader answered. Raises MetadataGone, and what `on_records` raises."""
        asked, response = answer.asked, answer.response
        if response.epoch < self._epoch:
            self._belief.failed(asked)
            return False
        news = response.epoch > self._epoch
        if news:
            log.info("metadata: epoch %d, leader %s, was told by %d", response.epoch, response.leader_id, asked)
            self._epoch = response.epoch
        if response.diverging is not None or response.error is Error.OFFSET_OUT_OF_RANGE:
            raise MetadataGone(
                f"controller {asked}, leader of epoch {response.epoch}, does not have the committed metadata up to "
                f"offset {self.offset}, epoch {self._end.epoch}, that this broker has applied: {response.diverging}"
            )
        if response.leader_id is None or (response.error and response.leader_id == asked):
            self._belief.failed(asked)
        elif news or response.error:
            # A leader that merely answers as before may be deposed: others may have found its successor meanwhile.
            self._belief.learned(response.leader_id)
        if not response.error:
            self._apply(answer)
        return not response.error

    def _apply(self, answer: _Answer) -> None:
        for piece in answer.pieces:
            self._end = piece.end
            if piece.records:
                self._on_records(piece.records)
        self.last_stable_offset = max(self.last_stable_offset, answer.response.high_watermark)
