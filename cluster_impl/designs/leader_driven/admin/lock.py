"""One administrative command at a time for each topic (an ephemeral znode: it goes with the process that holds it)."""

from __future__ import annotations

from uuid import uuid4

from cluster_impl.coordination.steps import Absent, Create, Delete, Done
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.admin.naming import check_name
from cluster_impl.designs.leader_driven.admin.seam import Await, Command, Failed, Procedure, T
from cluster_impl.designs.on_zookeeper.znodes import to_json
from cluster_impl.wire.errors import Error


def locked(command: Command, topic: str, procedure: Procedure[T]) -> Procedure[T]:
    """The procedure, while this command holds the topic; it has not begun when Failed says that another one does, or
    that no topic can have the name."""
    check_name(topic)
    path = znodes.admin_lock(topic)
    # Unlike that of any other command, also of the same session: a create in doubt must not be mistaken for another's.
    data = to_json({"broker": command.monitor.broker_id, "command": uuid4().hex})
    until = command.now() + command.patience
    while True:
        [outcome] = yield [Create(path, data, ephemeral=True)]
        if isinstance(outcome, Done):
            break
        if isinstance(outcome, Absent):
            sentence = f"There is no {znodes.ADMIN}: no broker has made this cluster yet."
            raise Failed(Error.UNKNOWN_SERVER_ERROR, sentence)
        if command.now() >= until:
            sentence = f"Another command is at work on topic {topic}; nothing was done in {command.patience:g} s."
            raise Failed(Error.REQUEST_TIMED_OUT, sentence)
        yield Await([path], until)
    try:
        result = yield from procedure
    except Exception:
        yield [Delete(path)]
        raise
    yield [Delete(path)]
    return result
