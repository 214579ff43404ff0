"""What the nodes said about the control plane, in the order in which it was seen (the journal's `state` events)."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from results.records.events import Event
from results.records.journal import Journal

TopicPartition = tuple[str, int]

DECIDED = ""
"""The observer of what the controllers decided: their log, or ZooKeeper's tree."""


@dataclass(frozen=True, slots=True)
class PartitionView:
    """A partition as one node described it at `t`. `observer` is that node; leader -1 is no leader.

    `replicas` is None where the observer did not say which are assigned. `life` tells topics of one name apart that
    followed each other: leader epochs begin anew with each.
    """

    t: float
    observer: str
    partition: TopicPartition
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...] | None
    life: int = 0
    controller_epoch: int = -1
    """Of the controller that decided it, where it is known (in ZooKeeper)."""
    offline: tuple[int, ...] = ()
    """Replicas that a broker lists as such; what was decided does not say it."""

    @property
    def version(self) -> tuple[int, int]:
        """Grows with every election."""
        return self.life, self.leader_epoch


@dataclass(frozen=True, slots=True)
class ControllerView:
    """The active controller as one node named it at `t`; -1 is none known."""

    t: float
    observer: str
    active: int
    epoch: int


@dataclass(frozen=True, slots=True)
class ControlHistory:
    """All views of a run, and the instants at which a process of a node began (a restarted one may know less)."""

    partitions: tuple[PartitionView, ...]
    controllers: tuple[ControllerView, ...]
    starts: Mapping[str, tuple[float, ...]]
    deleted: frozenset[TopicPartition] = frozenset()
    """Partitions that were decided to be gone, and did not come again."""

    def incarnation(self, observer: str, t: float) -> int:
        """How many processes of this node had been started by `t`."""
        return bisect_right(self.starts.get(observer, ()), t)

    def newest(self) -> "NewestViews":
        return NewestViews(self.partitions)


class NewestViews:
    """For each partition the newest leader epoch known to anybody, over time: what the cluster had decided by then."""

    def __init__(self, views: tuple[PartitionView, ...]) -> None:
        self._views: dict[TopicPartition, list[PartitionView]] = defaultdict(list)
        for view in views:
            known = self._views[view.partition]
            if not known or view.version >= known[-1].version:
                known.append(view)

    def at(self, partition: TopicPartition, t: float) -> PartitionView | None:
        known = self._views.get(partition, [])
        position = bisect_right(known, t, key=lambda view: view.t)
        return known[position - 1] if position else None

    def next_leader(self, partition: TopicPartition, t: float) -> PartitionView | None:
        """The first leader after `t` that is not the one of `t`."""
        then = self.at(partition, t)
        for view in self._views.get(partition, ()):
            if view.t > t and view.leader >= 0 and (then is None or view.leader != then.leader):
                return view
        return None

    def of(self, partition: TopicPartition) -> list[PartitionView]:
        return list(self._views.get(partition, ()))


class Lives:
    """Counts the topics of one name that followed each other: by their ids, in the order in which these appear.

    Topics of older releases have no id. Then it is known only of what the controllers decided, by what they deleted;
    what a broker says is of no use any more once there was a second life.
    """

    def __init__(self) -> None:
        self._ids: dict[str, list[str]] = defaultdict(list)
        self._deleted: dict[str, int] = defaultdict(int)
        self._gone: set[TopicPartition] = set()

    def gone(self, event: Event) -> None:
        """Somebody no longer knows this partition."""
        if not event.node:
            self._gone.add((event.data["topic"], event.data["partition"]))

    def of(self, event: Event) -> int | None:
        """Which life this view is of. None if nobody can tell."""
        topic, id = event.data["topic"], event.data.get("topic_id")
        if id is not None:
            if id not in self._ids[topic]:
                self._ids[topic].append(id)
            return self._ids[topic].index(id)
        if event.node:
            return None if self._deleted[topic] or any(name == topic for name, _ in self._gone) else 0
        if (topic, event.data["partition"]) in self._gone:
            self._deleted[topic] += 1
            self._gone = {at for at in self._gone if at[0] != topic}
        return self._deleted[topic]


def read_control(journal: Journal) -> ControlHistory:
    starts: dict[str, list[float]] = defaultdict(list)
    for event in journal.of("node", "started"):
        starts[event.node or event.id].append(event.t)
    lives = Lives()
    partitions: list[PartitionView] = []
    controllers: list[ControllerView] = []
    deleted: set[TopicPartition] = set()
    for event in journal.of("state"):
        match event.data.get("what"):
            case "partition":
                life = lives.of(event)
                if life is not None:
                    partitions.append(partition_view(event, life))
                if not event.node:
                    deleted.discard((event.data["topic"], event.data["partition"]))
            case "partition-gone":
                lives.gone(event)
                if not event.node:
                    deleted.add((event.data["topic"], event.data["partition"]))
            case "controller":
                controllers.append(
                    ControllerView(event.t, event.node or DECIDED, event.data["active"], event.data["epoch"])
                )
    return ControlHistory(
        partitions=tuple(partitions),
        controllers=tuple(controllers),
        starts={node: tuple(times) for node, times in starts.items()},
        deleted=frozenset(deleted),
    )


def partition_view(event: Event, life: int) -> PartitionView:
    data: Mapping[str, Any] = event.data
    replicas = data.get("replicas")
    return PartitionView(
        t=event.t,
        observer=event.node or DECIDED,
        partition=(data["topic"], data["partition"]),
        leader=data["leader"],
        leader_epoch=data["leader_epoch"],
        isr=tuple(data["isr"]),
        replicas=None if replicas is None else tuple(replicas),
        life=life,
        controller_epoch=data.get("controller_epoch", -1),
        offline=tuple(data.get("offline", ())),
    )
