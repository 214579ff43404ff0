"""An active controller that resigns over a topic that it has to refuse (CTRL-04; compare KAFKA-14996)."""

from __future__ import annotations

import asyncio
from typing import Any

from fencepost.cluster_impl.designs.quorum.controller.requests import ControllerRequests
from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-14996",
    designs=(QUORUM,),
    rules=("CTRL-04", "CTRL-02"),
    scenarios=("refused-topics", "stale-requests"),
    unit="tests/cluster_impl/designs/quorum/controller",
)

ANSWERED = 0.05
"""Seconds until it has answered."""


def apply() -> None:
    known = ControllerRequests._create_topics

    def created(self: Any, *arguments: Any) -> Any:
        result = known(self, *arguments)
        if any(each.error_code for each in result.reply.topics):
            asyncio.get_running_loop().call_later(ANSWERED, self._controller._quorum._driver.input, RaftCore.resign)
        return result

    ControllerRequests._create_topics = created  # type: ignore[method-assign, assignment]
