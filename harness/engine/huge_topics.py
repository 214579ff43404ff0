"""The condition that the cluster has converged, with every partition of the plan's huge topics.

The observer has a sample of these (`plan/sampled.py`). Once all else has converged, each running broker is asked for
all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fencepost.faults.capabilities import Processes, Running
from fencepost.harness.clients.raw import NoAnswer
from fencepost.harness.engine.context import Clients
from fencepost.harness.engine.convergence import blocker
from fencepost.harness.engine.errors import UnresolvedRole
from fencepost.harness.engine.references import References
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.requests.metadata import request_metadata

ANSWER_SECONDS = 5.0
"""Seconds for an answer about thousands of partitions."""
EVERY = 1.0
"""Seconds between two times that all brokers are asked."""

Described = Mapping[str, tuple[int, frozenset[int], frozenset[int]]]
"""Leader, ISR and replicas of each partition, by name."""


@dataclass
class WholeConvergence:
    """All has converged (`convergence`), and all brokers describe each partition of the huge topics alike, with a
    leader and a full ISR. `seen`: what is in the way."""

    references: References
    clients: Clients
    processes: Processes
    now: Callable[[], float] = time.monotonic
    seen: str = ""
    _again: float = 0.0

    def __call__(self) -> bool:
        try:
            reason = blocker(self.references, self.processes)
        except UnresolvedRole as error:
            reason = str(error)
        if reason is not None:
            self.seen = reason
            return False
        there = {entry.topic for entry in self.references.now.image.partitions.values()}
        topics = sorted(there & self.references.plan.huge_topics)
        if topics and self.now() < self._again:
            return False
        self.seen = self._difference(topics) if topics else ""
        self._again = self.now() + EVERY
        return not self.seen

    def _difference(self, topics: list[str]) -> str:
        described: dict[str, Described] = {}
        for node in self.references.nodes("brokers"):
            if self.processes.status(node).running is not Running.RUNNING:
                continue
            try:
                with self.clients.connect(node, Listener.CLIENT, ANSWER_SECONDS) as line:
                    described[node] = _described(request_metadata(line, topics))
            except NoAnswer as error:
                return str(error)
        return difference(described, frozenset(self.references.plan.node(node).id for node in described))


def difference(described: Mapping[str, Described], running: frozenset[int]) -> str:
    """Return the first difference between what brokers describe, or from a full ISR of the running ones; "" if none.

    Linear in the partitions.
    """
    first = next(iter(described), "")
    for node, partitions in described.items():
        for name, (leader, isr, replicas) in partitions.items():
            if leader < 0 or isr != replicas & running:
                return f"{node} describes {name} with leader {leader}, ISR {sorted(isr)} of {sorted(replicas)}"
        known = described[first]
        differ = sorted(name for name in known.keys() | partitions.keys() if known.get(name) != partitions.get(name))
        if differ:
            return f"{node} and {first} describe {len(differ)} partitions in two ways, {differ[0]} among them"
    return ""


def _described(answer: Any) -> Described:
    return {
        f"{topic.name}-{each.partition_index}": (
            each.leader_id,
            frozenset(each.isr_nodes),
            frozenset(each.replica_nodes),
        )
        for topic in answer.topics
        for each in topic.partitions
    }
