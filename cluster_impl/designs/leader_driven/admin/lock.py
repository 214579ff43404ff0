"""One administrative command at a time for each topic (an ephemeral znode: it goes with the process that holds it)."""

from __future__ import annotations

import json

from cluster_impl.coordination.steps import Absent, Create, Delete, Done
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.admin.seam import Await, Command, Failed, Procedure, T
from cluster_impl.wire.errors import Error


def locked(command: Command, topic: str, procedure: Procedure[T]) -> Procedure[T]:
    """The procedure, while this command holds the topic; it has not begun when Failed says that another one does."""
    path = znodes.admin_lock(topic)
    until = command.now() + command.patience
    while True:
        [outcome] = yield [Create(path, json.dumps({"broker": command.monitor.broker_id}).encode(), ephemeral=True)]
        if isinstance(outcome, Done):
            break
        if isinstance(outcome, Absent):
            raise Failed(
                Error.UNKNOWN_SERVER_ERROR, f"There is no {znodes.ADMIN}: no broker has made this cluster yet."
            )
        if command.now() >= until:
            sentence = (
                f"Another command has been at work on topic {topic} for {command.patience:g} s; nothing was done."
            )
            raise Failed(Error.REQUEST_TIMED_OUT, sentence)
        yield Await([path], until)
    try:
        result = yield from procedure
    except Exception:
        yield [Delete(path)]
        raise
    yield [Delete(path)]
    return result
