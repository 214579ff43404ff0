"""What the nodes said about the control plane, in the order in which it was seen (the journal's `state` events)."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from results.records.events import Event
from results.records.journal import Journal

TopicPartition = tuple[str, int]


@dataclass(frozen=True, slots=True)
class PartitionView:
    """A partition as one node described it at `t`. `observer` is that node; leader -1 is no leader.

    `replicas` is None where the observer did not say which are assigned.
    """

    t: float
    observer: str
    partition: TopicPartition
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...] | None


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
            if not known or view.leader_epoch >= known[-1].leader_epoch:
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


def read_control(journal: Journal) -> ControlHistory:
    starts: dict[str, list[float]] = defaultdict(list)
    for event in journal.of("node", "started"):
        starts[event.node or event.id].append(event.t)
    views = list(_views(journal))
    return ControlHistory(
        partitions=tuple(view for view in views if isinstance(view, PartitionView)),
        controllers=tuple(view for view in views if isinstance(view, ControllerView)),
        starts={node: tuple(times) for node, times in starts.items()},
    )


def _views(journal: Journal) -> Iterator[PartitionView | ControllerView]:
    for event in journal.of("state"):
        match event.data.get("what"):
            case "partition":
                yield _partition_view(event, event.data)
            case "controller":
                yield ControllerView(event.t, event.node or "", event.data["active"], event.data["epoch"])


def _partition_view(event: Event, data: Mapping[str, Any]) -> PartitionView:
    replicas = data.get("replicas")
    return PartitionView(
        t=event.t,
        observer=event.node or "",
        partition=(data["topic"], data["partition"]),
        leader=data["leader"],
        leader_epoch=data["leader_epoch"],
        isr=tuple(data["isr"]),
        replicas=None if replicas is None else tuple(replicas),
    )
