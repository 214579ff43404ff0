"""Checkers: pure functions from what a run recorded to findings."""

from collections.abc import Callable
from typing import Final

from harness.checkers.aborted_read import aborted_read
from harness.checkers.consumer_order import nonmonotonic_poll, poll_skip
from harness.checkers.duplicate import duplicate
from harness.checkers.history import History
from harness.checkers.inconsistent_offsets import inconsistent_offsets
from harness.checkers.lost_write import lost_write
from harness.checkers.nonmonotonic_send import nonmonotonic_send
from harness.checkers.unseen import unread, unseen
from harness.checkers.vanished import consumed_then_vanished
from results.records.verdict import Finding

DATA_CHECKERS: Final[tuple[Callable[[History], Finding], ...]] = (
    unseen,
    unread,
    lost_write,
    consumed_then_vanished,
    inconsistent_offsets,
    duplicate,
    aborted_read,
    nonmonotonic_send,
    nonmonotonic_poll,
    poll_skip,
)
"""What is asked of the data plane, the gravest first."""
