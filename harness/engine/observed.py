"""A run in progress, as the conditions of its plan see it: what `plan.observed` describes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from fencepost.harness.checkers import replica_logs
from fencepost.harness.checkers.checkpoints import BadCheckpoint, high_watermark
from fencepost.harness.clients.metadata.image import PartitionEntry
from fencepost.harness.clients.views import PartitionView
from fencepost.harness.clients.zookeeper.watches import ALL, WatchCounts, count_watches
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.engine.administration import Administration
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.convergence import broker_view, registered_as
from fencepost.harness.engine.errors import UnresolvedRole
from fencepost.harness.engine.huge_topics import WholeConvergence
from fencepost.harness.engine.node_logs import LogSearch
from fencepost.harness.engine.releases import running_release, version_of
from fencepost.harness.engine.run_references import RunReferences
from fencepost.harness.engine.settings import SettingsAgreement
from fencepost.harness.engine.topics import TopicCreation
from fencepost.harness.engine.voters import VoterProgress
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.base import NodeRefs, Release

Read = Callable[[Sequence[Path], str, int], int | None]
"""A function from log directories, a topic and a partition to an offset; None if there is none."""

WATCHES_WITHIN, WATCHES_EVERY = 5.0, 0.25
"""Seconds for a server to list its watches, and between two such requests."""


class ObservedRun(RunReferences):
    """The references, the latest observation and the measurements of a run. Its methods: `plan.observed.Observed`."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._logs = context.logs

    def ids(self, refs: NodeRefs | None) -> frozenset[int]:
        return self.once_resolved(lambda: self.ids_now(refs))

    def version_of(self, release: Release) -> str:
        return version_of(self._cluster.target, release)

    def registered_as(self, node: str) -> str | None:
        return registered_as(self, node)

    def broker_epoch_now(self, node: str) -> int:
        return self.broker_entry(node).epoch

    def answer(self, node: str) -> str:
        return broker_view(self, node).answer

    def broker_in_words(self, node: str) -> str:
        entry = self.now.image.brokers.get(self.plan.node(node).id)
        registered = f"{entry.state} at epoch {entry.epoch}" if entry else "not registered"
        return f"{node} is {registered} for the controllers, and {self.answer(node)} when asked"

    def brokers_known_to(self, node: str) -> frozenset[int]:
        return broker_view(self, node).brokers

    def described(self, node: str, partition: str) -> PartitionView | None:
        return broker_view(self, node).partitions.get(partition)

    def partition(self, name: str) -> PartitionEntry:
        return self.partition_entry(name)

    def controllers_in_words(self) -> str:
        claims = (
            f"{name} says {view.leader} at epoch {view.epoch}"
            if view.says_it_itself
            else f"{name} holds /controller at epoch {view.epoch}"
            for name, view in self.now.controllers.items()
        )
        return ", ".join(claims) or self.active_controller()

    def queued(self, node: str) -> int:
        return self.now.queues.get(self.plan.node(node).id, 0)

    def znode(self, path: str) -> Callable[[], str | None]:
        self._clients.observer.want(path)

        def text() -> str | None:
            if path not in self.now.znodes:
                raise UnresolvedRole(f"{path} was not read yet")
            znode = self.now.znodes[path]
            return None if znode is None else znode.text

        return text

    def acknowledged(self, producer: str | None) -> int:
        return self._clients.workload.acked(producer=producer)

    def read(self, consumer: str | None, group: str | None) -> int:
        return self._clients.workload.read(consumer, group)

    def topic_creation(self, node: str, topic: str) -> TopicCreation:
        return TopicCreation(node, topic, self, self._clients)

    def administration(self, name: str) -> Administration:
        return Administration(name, self, self._clients, self.processes, self.journal)

    def settings_agreement(self, values: Mapping[str, Mapping[str, str | None]]) -> SettingsAgreement:
        return SettingsAgreement(self, self._clients, self.processes, values)

    def running_release(self, node: str) -> str | None:
        return running_release(self._cluster, node)

    def log_search(self, node: str, pattern: str, since: str | None) -> LogSearch:
        return self._logs.search(node, pattern, since)

    def watch_count(self, kind: str, topics: str | None) -> WatchCount:
        return WatchCount(self._cluster, kind, topics)

    def checkpoint(self, node: str, partition: str) -> OffsetReading:
        return self._offset_reading(node, partition, high_watermark)

    def log_end(self, node: str, partition: str) -> OffsetReading:
        return self._offset_reading(node, partition, replica_logs.log_end)

    def voter_progress(self) -> VoterProgress:
        return VoterProgress(self, self._clients)

    def convergence(self) -> WholeConvergence:
        return WholeConvergence(self, self._clients, self.processes)

    def _offset_reading(self, node: str, partition: str, read: Read) -> OffsetReading:
        return OffsetReading(partition, self._cluster.installation.log_dirs(self._cluster.node(node)), read)


@dataclass
class OffsetReading:
    """A reading of an offset in the files of a node, running or ended. `found` is the last one, for the journal."""

    partition: str
    log_dirs: Sequence[Path]
    read: Read
    found: dict[str, object] = field(default_factory=dict)

    def __call__(self) -> int | None:
        topic, _, number = self.partition.rpartition("-")
        try:
            offset = self.read(self.log_dirs, topic, int(number))
        except BadCheckpoint as error:
            self.found = {"message": str(error)}
            return None
        self.found = {"offset": offset}
        return offset


class WatchCount:
    """The watches of one kind that all ZooKeeper servers hold together. They are asked at most four times a second."""

    def __init__(self, cluster: Cluster, kind: str, topics: str | None) -> None:
        self._kind, self._topics = kind, topics or ALL
        self._servers = [
            cluster.probe_address(node.name, Listener.ZOOKEEPER)
            for node in cluster.plan.topology.nodes
            if "zookeeper" in node.roles and node.start == "now"
        ]
        self._ask_at = 0.0
        self._counts: WatchCounts | None = None

    def __call__(self) -> int | None:
        if time.monotonic() >= self._ask_at:
            self._counts = count_watches(self._servers, WATCHES_WITHIN, self._topics)
            self._ask_at = time.monotonic() + WATCHES_EVERY
        return None if self._counts is None else self._counts.of(self._kind)

    @property
    def found(self) -> dict[str, object]:
        return {} if self._counts is None else {"watches": {**asdict(self._counts), "any": self._counts.any}}
