"""Commits to a Delta table that several processes and machines write to at once.

Each write is done on one version of the table, and commits only if that is still the newest one: an expected version.
So what it read still holds when it commits, whatever the others did, and no rule has to say which operations go
together (decision 0087).
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from typing import Final, TypeVar

from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError

ON_READ_VERSION: Final = CommitProperties(max_commit_retries=0)
"""Lets a write commit on the version that it read, and on no later one."""
WRITE_TIMEOUT: Final = 300.0
"""Seconds for which a write that other writers come before tries again."""
SILENCE: Final = 3.0
"""Seconds after which a write that waits says so."""
_LONGEST_PAUSE: Final = 2.0
_T = TypeVar("_T")

log = logging.getLogger(__name__)


def commit(newest: Callable[[], DeltaTable], write: Callable[[DeltaTable], _T]) -> _T:
    """Return what a write returns, which gets the newest version of a table; try again while other writers come first.

    Raise CommitFailedError once WRITE_TIMEOUT is over, and at once if the table has no version by another writer:
    then the refusal has another reason, which time does not mend.
    """
    began = time.monotonic()
    says_that_it_waits = True
    for attempt in range(1_000_000):
        table = newest()
        version = table.version()
        try:
            return write(table)
        except CommitFailedError:
            waited = time.monotonic() - began
            if newest().version() == version or waited > WRITE_TIMEOUT:
                raise
            if waited > SILENCE and says_that_it_waits:
                says_that_it_waits = False
                log.warning(
                    "%s: other writers came first %d times; trying again for up to %.0f s",
                    *(table.table_uri, attempt + 1, WRITE_TIMEOUT),
                )
            time.sleep(random.uniform(0, min(0.05 * 2**attempt, _LONGEST_PAUSE)))
    raise AssertionError("unreachable: the loop returns or raises")
