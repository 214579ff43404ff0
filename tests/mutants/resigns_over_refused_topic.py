"""An active controller that resigns over a topic that it has to refuse (CTRL-04; compare KAFKA-14996)."""

from __future__ import annotations

import asyncio
from typing import Any

from fencepost.cluster_impl.designs.quorum.controller.controller import QuorumController
from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore

ANSWERED = 0.05
"""Seconds until it has answered."""


def apply() -> None:
    known = QuorumController._created

    def created(self: Any, *arguments: Any) -> Any:
        result = known(self, *arguments)
        if any(each.error_code for each in result.reply.topics):
            asyncio.get_running_loop().call_later(ANSWERED, self._quorum._input, RaftCore.resign)
        return result

    QuorumController._created = created  # type: ignore[method-assign, assignment]
