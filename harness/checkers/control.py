"""The control plane as the nodes described it, in the order of observation (the journal's `state` events)."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal

TopicPartition = tuple[str, int]

DECIDED = ""
"""The observer of the decided state: the controllers' log, or ZooKeeper's tree."""


def named_observer(observer: str) -> str:
    """Return the observer as texts name it: a node, or the decided state."""
    return observer or "the decided state"


@dataclass(frozen=True, slots=True)
class PartitionObservation:
    """A partition as one node described it at `t`. `observer` is that node; leader -1 is no leader.

    `leader_epoch` -1 is unknown: brokers before 2.1 do not tell it, later ones not always. It is no epoch to compare.
    `replicas` is None if the observer does not describe the assignment. `life` counts the topics of one name that
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
    """The epoch of the controller that decided the state, where it is known (in ZooKeeper)."""
    offline: tuple[int, ...] = ()
    """The replicas that a broker lists as offline; the decided state does not have them."""
    adding: tuple[int, ...] = ()
    """The replicas that a reassignment under way adds; as `removing`, in the decided state alone."""
    removing: tuple[int, ...] = ()
    decision: int = -1
    """The number of the decision: the version that an ISR change is compared with."""

    @property
    def has_epoch(self) -> bool:
        return self.leader_epoch >= 0

    @property
    def version(self) -> tuple[int, int]:
        """Return a version that grows with each election."""
        return self.life, self.leader_epoch


@dataclass(frozen=True, slots=True)
class ControllerObservation:
    """The active controller as one node named it at `t`; -1 if it knew none."""

    t: float
    observer: str
    active: int
    epoch: int


@dataclass(frozen=True, slots=True)
class ControlHistory:
    """All views of a run, and the times at which processes of each node started (a restarted one may know less)."""

    partitions: tuple[PartitionObservation, ...]
    controllers: tuple[ControllerObservation, ...]
    starts: Mapping[str, tuple[float, ...]]
    deleted: frozenset[TopicPartition] = frozenset()
    """The partitions that were deleted and not created again."""

    @property
    def shows_decisions(self) -> bool:
        """Return whether the decided state of any partition was seen."""
        return any(view.observer == DECIDED for view in self.partitions)

    def incarnation(self, observer: str, t: float) -> int:
        """Return the number of processes of this node that were started by `t`."""
        return bisect_right(self.starts.get(observer, ()), t)

    def newest(self) -> "NewestViews":
        """Return the newest views of each partition."""
        return NewestViews(self.partitions)


class NewestViews:
    """For each partition the newest leader epoch that any node knew, over time: the decided state by then."""

    def __init__(self, views: tuple[PartitionObservation, ...]) -> None:
        self._views: dict[TopicPartition, list[PartitionObservation]] = defaultdict(list)
        for view in views:
            if not view.has_epoch:
                continue
            known = self._views[view.partition]
            if not known or view.version >= known[-1].version:
                known.append(view)

    def at(self, partition: TopicPartition, t: float) -> PartitionObservation | None:
        """Return the newest view of the partition at `t`, None if there was none yet."""
        known = self._views.get(partition, [])
        position = bisect_right(known, t, key=lambda view: view.t)
        return known[position - 1] if position else None

    def next_leader(self, partition: TopicPartition, t: float) -> PartitionObservation | None:
        """Return the first view after `t` with another leader than that of `t`, None if there is none."""
        then = self.at(partition, t)
        for view in self._views.get(partition, ()):
            if view.t > t and view.leader >= 0 and (then is None or view.leader != then.leader):
                return view
        return None

    def of(self, partition: TopicPartition) -> list[PartitionObservation]:
        """Return the views of the partition, each at least as new as the one before."""
        return list(self._views.get(partition, ()))


class TopicLives:
    """Counts the topics of one name that followed each other: by their ids, in the order in which these appear.

    Topics of older releases have no id. For these the decided state tells the lives apart, by its deletions; views of
    brokers are of no use once the topic was deleted.
    """

    def __init__(self) -> None:
        self._ids: dict[str, list[str]] = defaultdict(list)
        self._deleted: dict[str, int] = defaultdict(int)
        self._gone: set[TopicPartition] = set()

    def gone(self, event: Event) -> None:
        """Record that a node no longer knows this partition. Only a deletion in the decided state counts."""
        if not event.node:
            self._gone.add((event.data["topic"], event.data["partition"]))

    def of(self, event: Event) -> int | None:
        """Return the number of the life that this view describes, None if it cannot be known."""
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
    """Return the views that the journal has. Linear in its events."""
    starts: dict[str, list[float]] = defaultdict(list)
    for event in journal.of("node", "started"):
        starts[event.node or event.id].append(event.t)
    lives = TopicLives()
    partitions: list[PartitionObservation] = []
    controllers: list[ControllerObservation] = []
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
                    ControllerObservation(event.t, event.node or DECIDED, event.data["active"], event.data["epoch"])
                )
    return ControlHistory(
        partitions=tuple(partitions),
        controllers=tuple(controllers),
        starts={node: tuple(times) for node, times in starts.items()},
        deleted=frozenset(deleted),
    )


def partition_view(event: Event, life: int) -> PartitionObservation:
    """Return the view of a partition that a `state` event holds."""
    data: Mapping[str, Any] = event.data
    replicas = data.get("replicas")
    return PartitionObservation(
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
        adding=tuple(data.get("adding", ())),
        removing=tuple(data.get("removing", ())),
        decision=data.get("version", data["leader_epoch"]),
    )
