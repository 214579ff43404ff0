"""One leadership: the state of an active controller, and how its operations reach the Raft log and become answers.

KIP-631, Persistence and Visibility: the state is ahead of what is committed, and nothing of it is shown before it is.
When the leadership ends the term is dropped, and with it everything uncommitted; the committed image stays.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from cluster_impl.designs.quorum.controller.changes import describe
from cluster_impl.designs.quorum.controller.heartbeats import end_lease
from cluster_impl.designs.quorum.controller.state import ControllerState, Outcome, Reply
from cluster_impl.designs.quorum.image import MetadataRecord
from cluster_impl.designs.quorum.raft.core import NotLeader
from cluster_impl.designs.quorum.raft.node import LostLeadership
from cluster_impl.wire.records import encode_record

log = logging.getLogger(__name__)


class Quorum(Protocol):
    """What an active controller needs of Raft."""

    @property
    def end_offset(self) -> int: ...

    def append(self, records: Sequence[bytes], epoch: int) -> int:
        """Append one atomic batch; the offset of its last record. Raises NotLeader."""
        ...

    async def committed(self, offset: int, epoch: int) -> None:
        """Return once `offset` is committed within this leadership. Raises LostLeadership."""
        ...

    async def confirm_leadership(self) -> None:
        """Return once a majority confirmed this leadership, asked after this call. Raises LostLeadership."""
        ...


class TermEnded(Exception):
    """This controller is not active any more; what it was about to do may or may not come to pass."""


class Term:
    def __init__(self, epoch: int, quorum: Quorum, state: ControllerState) -> None:
        self.epoch = epoch
        self.state = state
        self.ended = False
        self._quorum = quorum

    async def run(self, operation: Callable[[ControllerState], Outcome[Reply]], now: float) -> Reply:
        """Decide at once, and return the reply when it may be shown. Raises TermEnded."""
        self.end_leases(now)
        outcome = operation(self.state)
        self._append(outcome.records)
        await self.until_it_may_be_shown(outcome)
        return outcome.reply

    def end_leases(self, now: float) -> None:
        """Give up the brokers whose lease is over at `now`."""
        for broker_id in self.state.leases.over(now):
            log.info("the lease of broker %d ended", broker_id)
            self._append(end_lease(self.state, broker_id, now))

    async def until_it_may_be_shown(self, outcome: Outcome[Reply]) -> None:
        """Wait until what the reply was decided from is committed, and this controller is known to be active still.

        A reply with records waits for their commit, which shows both. One without waits for what was pending when it
        was decided, and for a majority that confirms the epoch in a round begun after the request came (decision: a
        deposed controller must not renew). Refusals wait as well: a deposed controller would fence by them.
        """
        pending = self.state.end_offset - 1
        try:
            if not outcome.records:
                await self._quorum.confirm_leadership()
            await self._quorum.committed(pending, self.epoch)
        except LostLeadership as lost:
            raise TermEnded(str(lost)) from lost
        if self.ended:
            raise TermEnded(f"the leadership of epoch {self.epoch} ended")

    def _append(self, records: Sequence[MetadataRecord]) -> None:
        """Append a batch and replay it, which is the only way in which the state's metadata changes."""
        if not records:
            return
        if self.ended:
            raise TermEnded(f"the leadership of epoch {self.epoch} ended")
        base = self.state.end_offset
        try:
            last = self._quorum.append([encode_record(record) for record in records], self.epoch)
        except NotLeader as refused:
            raise TermEnded(str(refused)) from refused
        if last != base + len(records) - 1:
            raise AssertionError(f"the batch ends at offset {last}; its records were made for offset {base} on")
        for offset, record in enumerate(records, start=base):
            self.state.image.replay(record, offset)
        self.state.end_offset = last + 1
        for sentence in describe(records, self.state.image):
            log.info("%s", sentence)
