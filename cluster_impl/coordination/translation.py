"""The translation between kazoo's types and errors and those of this package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kazoo import exceptions as k
from kazoo.client import KazooClient, TransactionRequest
from kazoo.protocol.states import EventType

from fencepost.cluster_impl.coordination.errors import (
    BadVersionError,
    ConnectionLost,
    CoordinationError,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    SessionExpired,
)
from fencepost.cluster_impl.coordination.znodes import (
    Check,
    Create,
    Delete,
    MultiOperation,
    MultiResult,
    SetData,
    Stat,
    WatchEvent,
    WatchKind,
)

_EVENTS = {
    EventType.CREATED: WatchKind.CREATED,
    EventType.DELETED: WatchKind.DELETED,
    EventType.CHANGED: WatchKind.CHANGED,
    EventType.CHILD: WatchKind.CHILDREN,
}

_REFUSALS: Sequence[tuple[type[Exception], type[CoordinationError], str]] = (
    (k.NoNodeError, NoNodeError, "{path} does not exist"),
    (k.NodeExistsError, NodeExistsError, "{path} exists already"),
    (k.BadVersionError, BadVersionError, "{path} has another version than the one given"),
    (k.NotEmptyError, NotEmptyError, "{path} has children"),
    (k.SessionExpiredError, SessionExpired, "the session expired"),
)

_LOST = (k.ConnectionLoss, k.SessionMovedError, k.OperationTimeoutError, k.RequestTimeoutError)


def watch_event(event: Any) -> WatchEvent | None:
    """Return the event of a znode, or None for an event of the session."""
    kind = _EVENTS.get(event.type)
    return WatchEvent(kind, event.path) if kind is not None else None


def stat(of: Any) -> Stat:
    return Stat(of.czxid, of.mzxid, of.pzxid, of.version, of.ephemeralOwner, of.numChildren)


def failure(error: Exception, path: str, index: int | None = None) -> CoordinationError:
    for theirs, ours, message in _REFUSALS:
        if isinstance(error, theirs):
            return ours(message.format(path=path), path, index)
    if isinstance(error, _LOST):
        return ConnectionLost("the connection to ZooKeeper broke before the answer came", path, in_doubt=True)
    return CoordinationError(f"ZooKeeper refused the operation on {path}: {type(error).__name__} {error}", path, index)


def transaction(client: KazooClient, operations: Sequence[MultiOperation]) -> TransactionRequest:
    request = client.transaction()
    for operation in operations:
        match operation:
            case Create(path, data, ephemeral, sequence):
                request.create(path, data, ephemeral=ephemeral, sequence=sequence)
            case SetData(path, data, version):
                request.set_data(path, data, version)
            case Delete(path, version):
                request.delete(path, version)
            case Check(path, version):
                request.check(path, version)
    return request


def multi_results(operations: Sequence[MultiOperation], answers: Sequence[Any]) -> list[MultiResult]:
    """Return the results of a multi. Raises the error of the first operation that failed; none happened then."""
    for index, (operation, answer) in enumerate(zip(operations, answers, strict=True)):
        # The operations before the failed one are "rolled back", those behind it were not tried.
        if isinstance(answer, Exception) and not isinstance(answer, k.RolledBackError):
            raise failure(answer, operation.path, index)
    return [_multi_result(operation, answer) for operation, answer in zip(operations, answers, strict=True)]


def _multi_result(operation: MultiOperation, answer: Any) -> MultiResult:
    match operation:
        case Create():
            return str(answer)
        case SetData():
            return stat(answer)
        case _:
            return None
