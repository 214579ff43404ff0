"""A context without a cluster: the test sets the observation, and a wait evaluates its condition once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from fencepost.harness.clients.metadata.image import BrokerEntry, Image, PartitionEntry
from fencepost.harness.clients.observer import Observer
from fencepost.harness.clients.views import Answer, BrokerView, ControllerView, Observation, PartitionView, ServerView
from fencepost.harness.engine.active_faults import ActiveFaults
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.node_logs import NodeLogs
from fencepost.harness.plan.model import NodeSpec, Plan, Topology
from fencepost.harness.targets.registry import load_file
from fencepost.results.records.journal import JournalWriter
from tests.faults.fake import FakeCluster, cluster_of

NODES = (
    NodeSpec(name="node-1", id=1, index=1, roles=("controller",)),
    NodeSpec(name="node-2", id=2, index=2, roles=("controller",)),
    NodeSpec(name="node-4", id=4, index=4, roles=("broker",)),
    NodeSpec(name="node-5", id=5, index=5, roles=("broker",)),
    NodeSpec(name="node-4b", id=4, index=14, roles=("broker",), duplicate_of="node-4", start="later"),
)
PLAN = Plan(scenario="s", title="S", document="d", seed=1, target="quorum", topology=Topology(nodes=NODES))


IN_ZOOKEEPER = PLAN.model_copy(
    update={
        "target": "zk-controller",
        "topology": Topology(
            nodes=(
                NodeSpec(name="zk-1", id=1, index=1, roles=("zookeeper",)),
                NodeSpec(name="zk-2", id=2, index=2, roles=("zookeeper",)),
                *(node for node in NODES if "broker" in node.roles),
            )
        ),
    }
)


LEADERLESS = IN_ZOOKEEPER.model_copy(update={"target": "leader-driven"})


class StillObserver:
    """Observes the value that `now` was set to last."""

    def __init__(self, now: Observation) -> None:
        self.now = now
        self.wanted: set[str] = set()

    def want(self, path: str) -> None:
        self.wanted.add(path)

    def wait(self, condition: Callable[[], bool], deadline: float, every: float = 0.05) -> bool:
        return condition()


def partition(leader: int, *isr: int, epoch: int = 3) -> PartitionEntry:
    return PartitionEntry("t", 0, (4, 5), isr, leader, epoch, version=7, offset=20)


def serving(
    *, leader: int = 4, isr: tuple[int, ...] = (4, 5), brokers: frozenset[int] = frozenset({4, 5})
) -> BrokerView:
    return BrokerView(Answer.SERVING, brokers, {"t-0": PartitionView("t", 0, leader, 3, isr)})


def healthy(**changes: Any) -> Observation:
    """Controller 2 is active at epoch 5; broker 4 leads t-0, broker 5 follows; both serve."""
    usual: dict[str, Any] = {
        "brokers": {"node-4": serving(), "node-5": serving(), "node-4b": BrokerView(Answer.CLOSED)},
        "controllers": {
            "node-1": ControllerView(Answer.STANDBY),
            "node-2": ControllerView(Answer.SERVING, leader=2, epoch=5),
        },
        "image": image(),
    }
    return Observation(**(usual | changes))


def image(entry: PartitionEntry | None = None, **states: str) -> Image:
    return Image(
        brokers={id: BrokerEntry(id, 10 + id, states.get(f"broker_{id}", "active"), offset=10 + id) for id in (4, 5)},
        partitions={"t-0": entry or partition(4, 4, 5)},
        offset=30,
    )


def in_zookeeper(**changes: Any) -> Observation:
    """As `healthy`, with broker 4 as the holder of /controller, and server 2 as the leader of two."""
    usual: dict[str, Any] = {
        "controllers": {"node-4": ControllerView(leader=4, epoch=5)},
        "servers": {"zk-1": ServerView(Answer.SERVING, "follower"), "zk-2": ServerView(Answer.SERVING, "leader")},
    }
    return healthy(**(usual | changes))


def still_context(
    path: Path,
    now: Observation,
    cluster: FakeCluster | None = None,
    plan: Plan = PLAN,
    observer: StillObserver | None = None,
) -> Context:
    """Return a context that observes `now`, or what `observer` observes."""
    journal = JournalWriter(path / "journal.jsonl")
    fake: Any = cluster or cluster_of(*(node.name for node in plan.topology.nodes if node.duplicate_of is None))
    fake.target = SimpleNamespace(file=load_file(plan.target))
    watcher = cast("Observer", observer or StillObserver(now))
    logs = NodeLogs(path, [node.name for node in plan.topology.nodes])
    return Context(plan, fake, journal, watcher, cast("Any", None), ActiveFaults(journal), logs, deadline=float("inf"))
