"""Processes that outlived their harness: known by pid and start time, or by the token in their environment."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from fencepost.harness.cleaning.leftover import Leftover, RemovalError
from fencepost.harness.processes import table
from fencepost.harness.processes.records import HARNESS, NODE, RECORDS, RUN, TOKEN, living, read_records
from fencepost.harness.processes.table import Identity


def of_run(run: Path) -> list[Leftover]:
    return [_leftover(record.node, identity) for record, identity in living(read_records(run / RECORDS))]


def without_records() -> Iterator[tuple[Path, Leftover]]:
    """Every process whose environment says which run started it, and whose harness is proven to have died."""
    for identity in table.all_processes():
        said = table.environment(identity.pid)
        mine = identity.pid == os.getpid()
        if not mine and said.get(TOKEN) and said.get(RUN) and table.harness_lives(said.get(HARNESS, "")) is False:
            yield Path(said[RUN]), _leftover(said.get(NODE, ""), identity)


def remove(found: Sequence[Leftover]) -> None:
    """SIGKILL to all of them, then wait until they are gone: one may hang in a file system that another serves."""
    for each in found:
        table.kill(each.handle)
    wrong = []
    for each in found:
        try:
            table.end(each.handle)
        except (TimeoutError, OSError) as error:
            wrong.append(f"{each} could not be ended: {error}")
    RemovalError.unless_none(wrong)


def _leftover(node: str, identity: Identity) -> Leftover:
    return Leftover("process", node, f"pid {identity.pid}", identity)
