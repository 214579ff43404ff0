"""Compare the state that a probe must leave unchanged, before and after the probe."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from fencepost.harness.clients.asking import ask_quorum
from fencepost.harness.clients.raw import NoAnswer
from fencepost.harness.clients.views import Answer, BrokerView
from fencepost.harness.engine.context import Clients
from fencepost.harness.engine.errors import UnresolvedRole
from fencepost.harness.engine.references import References
from fencepost.harness.engine.run_clock import RunClock
from fencepost.harness.network.layout import Listener

CAUGHT_UP_WITHIN = 2.0
"""Seconds until the harness has read all that was decided."""

SPREAD_WITHIN = 1.0
"""Seconds in which serving brokers receive what ZooKeeper holds; a broker that is cut off keeps its old state."""

SAYS = ", says "

Snapshot = Mapping[str, object]


class Snapshots:
    """Takes snapshots of the state that a probe names in its `unchanged`: partitions, and `brokers`.

    The snapshot has the decided state. In a cluster with ZooKeeper it has each serving broker's metadata as well: a
    command that is refused may have reached the broker's caches all the same.
    """

    def __init__(self, references: References, clients: Clients, clock: RunClock) -> None:
        self._references = references
        self._clients = clients
        self._clock = clock

    def settled(self, keys: Sequence[str]) -> Snapshot | None:
        """Take a snapshot once recent decisions have reached the brokers: they would be taken for the probe's doing."""
        if keys and self._references.uses_zookeeper:
            self._clock.wait(lambda: self._brokers_agree(keys), time.monotonic() + SPREAD_WITHIN)
        return self.snapshot(keys)

    def snapshot(self, keys: Sequence[str]) -> Snapshot | None:
        """Take a snapshot; return None if there are no keys, or if the decided state cannot be read."""
        if not keys:
            return None
        if self._references.uses_zookeeper:
            caught_up = self._clients.observer.catch_up(self._brokers(), _deadline())
            return self._of_zookeeper(keys) if caught_up else None
        return self._decided(keys) if self._log_was_read() else None

    def _decided(self, keys: Sequence[str]) -> Snapshot:
        image = self._references.now.image
        found: dict[str, object] = {}
        for key in keys:
            if key == "brokers":
                found |= {f"broker {id}": [entry.state, entry.epoch] for id, entry in image.brokers.items()}
            else:
                entry = image.partitions.get(key)
                found[key] = entry and [entry.leader, entry.leader_epoch, entry.version, sorted(entry.isr)]
        return found

    def _of_zookeeper(self, keys: Sequence[str]) -> Snapshot:
        found = dict(self._decided(keys))
        for node, view in self._serving():
            for key in keys:
                if key == "brokers":
                    found[f"brokers{SAYS}{node}"] = sorted(view.brokers)
                else:
                    known = view.partitions.get(key)
                    state = known and [known.leader, known.leader_epoch, sorted(known.isr), sorted(known.offline)]
                    found[f"{key}{SAYS}{node}"] = state
        return found

    def _brokers_agree(self, keys: Sequence[str]) -> bool:
        """Return whether each serving broker describes the partitions in `keys` as ZooKeeper does."""
        image = self._references.now.image
        for _, view in self._serving():
            for key in keys:
                decided, known = image.partitions.get(key), view.partitions.get(key)
                if decided is None or known is None:
                    continue
                epoch = decided.leader_epoch if known.leader_epoch < 0 else known.leader_epoch  # -1 is unknown
                if (decided.leader, decided.leader_epoch, sorted(decided.isr)) != (
                    known.leader,
                    epoch,
                    sorted(known.isr),
                ):
                    return False
        return True

    def _serving(self) -> Iterator[tuple[str, BrokerView]]:
        for node in self._brokers():
            view = self._references.now.brokers.get(node)
            if view is not None and view.answer is Answer.SERVING:
                yield node, view

    def _brokers(self) -> list[str]:
        return [node.name for node in self._references.plan.topology.nodes if "broker" in node.roles]

    def _log_was_read(self) -> bool:
        """Ask the leader of the metadata log for its high watermark, and return whether the log was read up to it."""
        references = self._references
        try:
            leader = references.active_controller()
            with self._clients.connect(leader, Listener.CONTROLLER, CAUGHT_UP_WITHIN) as connection:
                end = ask_quorum(connection, references.dialect).high_watermark
        except (NoAnswer, UnresolvedRole):
            return False
        return end >= 0 and self._clock.wait(lambda: references.now.image.offset >= end - 1, _deadline())


def changes(before: Snapshot, after: Snapshot) -> dict[str, object]:
    """Return the changed keys, each with its old and new value.

    A broker's metadata is compared only if the broker served both before and after.
    """
    keys = [key for key in {**before, **after} if SAYS not in key or (key in before and key in after)]
    return {key: [before.get(key), after.get(key)] for key in keys if before.get(key) != after.get(key)}


def _deadline() -> float:
    return time.monotonic() + CAUGHT_UP_WITHIN
