"""A broker that finds partitions at its start waits for ever, without a port and without an end (against LIVE-07)."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from fencepost.cluster_impl.designs.quorum.broker.node import BrokerNode
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("LIVE-01", "LIVE-07"),
    scenarios=("restart-inside-the-lease",),
    unit=(
        "tests/cluster_impl/designs/quorum/broker/test_node.py::test_a_broker_that_finds_partitions_on_its_disk_listens"
    ),
)

log = logging.getLogger(__name__)
_start = BrokerNode.start


def apply() -> None:
    BrokerNode.start = _hang_on_partitions  # type: ignore[method-assign]


async def _hang_on_partitions(self: BrokerNode) -> None:
    if any(path.is_dir() for directory in self._config.log_dirs for path in Path(directory).iterdir()):
        log.error("the partitions could not be opened, trying again")
        await asyncio.Event().wait()
    await _start(self)
