"""Checkers: pure functions from what a run recorded to findings."""

from collections.abc import Callable
from typing import Final

from fencepost.harness.checkers.aborted_read import aborted_read
from fencepost.harness.checkers.consumer_order import nonmonotonic_poll, poll_skip
from fencepost.harness.checkers.duplicate import duplicate
from fencepost.harness.checkers.group_offsets import commit_of_former_member, group_offsets
from fencepost.harness.checkers.history import History
from fencepost.harness.checkers.inconsistent_offsets import inconsistent_offsets
from fencepost.harness.checkers.lost_write import lost_write
from fencepost.harness.checkers.nonmonotonic_send import nonmonotonic_send
from fencepost.harness.checkers.phantom import phantom
from fencepost.harness.checkers.returned import returned
from fencepost.harness.checkers.transactions import (
    aborted_transaction,
    fenced_producer,
    last_stable_offset,
    transaction_atomic,
)
from fencepost.harness.checkers.unseen import unread, unseen
from fencepost.harness.checkers.vanished import consumed_then_vanished
from fencepost.results.records.verdict import Finding

DATA_CHECKERS: Final[tuple[Callable[[History], Finding], ...]] = (
    unseen,
    unread,
    lost_write,
    consumed_then_vanished,
    inconsistent_offsets,
    duplicate,
    aborted_read,
    phantom,
    nonmonotonic_send,
    nonmonotonic_poll,
    poll_skip,
)
"""The checkers of the data plane, the most severe anomaly first."""

TRANSACTION_CHECKERS: Final = (transaction_atomic, aborted_transaction, last_stable_offset, fenced_producer)
GROUP_CHECKERS: Final = (group_offsets, commit_of_former_member)


def data_checkers(history: History) -> tuple[Callable[[History], Finding], ...]:
    """Return the checkers of the data plane that have something to judge in a run with this history."""
    transactions = TRANSACTION_CHECKERS if history.transactions.sessions else ()
    groups = GROUP_CHECKERS if history.groups.commits else ()
    return (*DATA_CHECKERS, *((returned,) if history.recreated else ()), *transactions, *groups)
