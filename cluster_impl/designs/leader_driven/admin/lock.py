"""One administrative command at a time per topic, by an ephemeral znode that goes with its process."""

from __future__ import annotations

from uuid import uuid4

from fencepost.cluster_impl.coordination.steps import Absent, Create, Delete, Done
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import Await, Command, Procedure, T
from fencepost.cluster_impl.designs.on_zookeeper.znodes import to_json
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError, check_name
from fencepost.cluster_impl.wire.errors import Error


def locked(command: Command, topic: str, procedure: Procedure[T]) -> Procedure[T]:
    """Run the procedure while this command holds the topic's lock, and return its result.

    Raises RequestError, before the procedure begins, if another command holds the lock for the whole timeout or if the
    topic name is invalid.
    """
    check_name(topic)
    path = znodes.admin_lock(topic)
    # The data is unique per command, so that a create in doubt is not mistaken for that of another command.
    data = to_json({"broker": command.monitor.broker_id, "command": uuid4().hex})
    until = command.now() + command.timeout_s
    while True:
        [outcome] = yield [Create(path, data, ephemeral=True)]
        if isinstance(outcome, Done):
            break
        if isinstance(outcome, Absent):
            message = f"There is no {znodes.ADMIN}: no broker has created this cluster yet."
            raise RequestError(Error.UNKNOWN_SERVER_ERROR, message)
        if command.now() >= until:
            message = f"Another command works on topic {topic}; this one did nothing within {command.timeout_s:g} s."
            raise RequestError(Error.REQUEST_TIMED_OUT, message)
        yield Await([path], until)
    try:
        result = yield from procedure
    except Exception:
        yield [Delete(path)]
        raise
    yield [Delete(path)]
    return result
