"""What a probe must leave as it was: looked at before and after, as of all that was decided by then."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from harness.clients.asking import ask_quorum
from harness.clients.raw import NoAnswer
from harness.clients.views import Answer, BrokerView
from harness.engine.context import Context, Vacant
from harness.network.layout import Listener

CAUGHT_UP_WITHIN = 2.0
"""Seconds until all is read that was decided."""

TOLD_WITHIN = 1.0
"""Seconds in which brokers that serve are told what ZooKeeper says; whoever is cut off stays as he is."""

SAYS = ", says "

Snapshot = Mapping[str, object]


def settled(what: Sequence[str], context: Context) -> Snapshot | None:
    """As `snapshot`, once what was decided lately has reached the brokers: it would be taken for the probe's doing."""
    if what and context.in_zookeeper:
        context.wait(lambda: _all_told(what, context), time.monotonic() + TOLD_WITHIN)
    return snapshot(what, context)


def snapshot(what: Sequence[str], context: Context) -> Snapshot | None:
    """What the controllers decided about partitions and `brokers`; None if they cannot be asked.

    Where ZooKeeper holds the state, what each broker that serves tells of it, too: a command that is refused may have
    reached its caches all the same.
    """
    if not what:
        return None
    if context.in_zookeeper:
        return _in_zookeeper(what, context) if context.observer.catch_up(_brokers(context), _deadline()) else None
    return _in_log(what, context) if _log_was_read(context) else None


def changes(before: Snapshot, after: Snapshot) -> dict[str, object]:
    """What is not as it was, each with its old and new state. Of a broker that was silent before or after nothing is
    known to have changed."""
    keys = [key for key in {**before, **after} if SAYS not in key or (key in before and key in after)]
    return {key: [before.get(key), after.get(key)] for key in keys if before.get(key) != after.get(key)}


def _in_log(what: Sequence[str], context: Context) -> Snapshot:
    image = context.now.image
    found: dict[str, object] = {}
    for part in what:
        if part == "brokers":
            found |= {f"broker {id}": [entry.state, entry.epoch] for id, entry in image.brokers.items()}
        else:
            entry = image.partitions.get(part)
            found[part] = entry and [entry.leader, entry.leader_epoch, entry.version, sorted(entry.isr)]
    return found


def _in_zookeeper(what: Sequence[str], context: Context) -> Snapshot:
    found = dict(_in_log(what, context))
    for node, view in _serving(context):
        for part in what:
            if part == "brokers":
                found[f"brokers{SAYS}{node}"] = sorted(view.brokers)
            else:
                told = view.partitions.get(part)
                state = told and [told.leader, told.leader_epoch, sorted(told.isr), sorted(told.offline)]
                found[f"{part}{SAYS}{node}"] = state
    return found


def _all_told(what: Sequence[str], context: Context) -> bool:
    """Whether each broker that serves tells of every partition in `what` as ZooKeeper does."""
    image = context.now.image
    for _, view in _serving(context):
        for part in what:
            decided, told = image.partitions.get(part), view.partitions.get(part)
            if decided is None or told is None:
                continue
            if (decided.leader, decided.leader_epoch, sorted(decided.isr)) != (
                told.leader,
                told.leader_epoch,
                sorted(told.isr),
            ):
                return False
    return True


def _serving(context: Context) -> Iterator[tuple[str, BrokerView]]:
    for node in _brokers(context):
        view = context.now.brokers.get(node)
        if view is not None and view.answer is Answer.SERVING:
            yield node, view


def _brokers(context: Context) -> list[str]:
    return [node.name for node in context.plan.topology.nodes if "broker" in node.roles]


def _log_was_read(context: Context) -> bool:
    """The leader of the metadata log was asked how far it is committed, and it was read as far."""
    try:
        leader = context.active_controller()
        with context.connect(leader, Listener.CONTROLLER, CAUGHT_UP_WITHIN) as connection:
            end = ask_quorum(connection, context.dialect).high_watermark
    except (NoAnswer, Vacant):
        return False
    return end >= 0 and context.wait(lambda: context.now.image.offset >= end - 1, _deadline())


def _deadline() -> float:
    return time.monotonic() + CAUGHT_UP_WITHIN
