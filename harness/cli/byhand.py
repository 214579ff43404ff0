"""A cluster to break by hand: what `up`, `inject`, `heal` and `status` do, on the faults that plans use."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from faults.capabilities import Capability, Running
from faults.registry import build
from harness.cli.control import Operation
from harness.cluster import Cluster
from harness.engine.keeper import FaultError, FaultKeeper
from harness.errors import UsageError
from harness.network.layout import Layout, Node
from harness.plan import dump_plan, plan_hash
from harness.plan.model import NodeSpec, Plan, Topology
from harness.targets.target import load
from results.records.folder import RunFolder
from results.records.journal import JournalWriter

STORY = "by-hand"
"""Of the plan that stands for such a cluster: nobody judges it."""
GROUPS: Mapping[str, Callable[[Layout], tuple[Node, ...]]] = {
    "controllers": lambda layout: layout.controllers,
    "brokers": lambda layout: layout.brokers,
    "zookeeper": lambda layout: layout.zookeepers,
}


def plan_by_hand(target: str, servers: int = 1) -> Plan:
    """Three controllers, or where a target needs it ZooKeeper with so many servers; three brokers, and a duplicate of
    node-4 that waits to be started."""
    file = load(target).file
    if file.dialect.around_zookeeper:
        others = [NodeSpec(name=f"zk-{n}", id=n, index=n, roles=("zookeeper",)) for n in range(1, servers + 1)]
    else:
        others = [NodeSpec(name=f"node-{n}", id=n, index=n, roles=("controller",)) for n in (1, 2, 3)]
    broker = NodeSpec(
        name="node-4", id=4, index=4, roles=("broker",), log_dirs=2 if Capability.LOG_DIRS in file.capabilities else 1
    )
    brokers = [broker.model_copy(update={"name": f"node-{n}", "id": n, "index": n}) for n in (4, 5, 6)]
    duplicate = broker.model_copy(update={"name": "node-4b", "index": 14, "start": "later", "duplicate_of": "node-4"})
    return Plan(
        story=STORY,
        title="A cluster broken by hand",
        document="none",
        seed=0,
        target=target,
        topology=Topology(nodes=(*others, *brokers, duplicate)),
    )


def described(plan: Plan) -> str:
    """`3 controllers, 3 brokers`: what is started."""
    started = [node for node in plan.topology.nodes if node.start == "now"]
    kinds = {"zookeeper": "ZooKeeper server", "controller": "controller", "broker": "broker"}
    counts = {kind: sum(role in node.roles for node in started) for role, kind in kinds.items()}
    return ", ".join(f"{count} {kind}{'s' * (count > 1)}" for kind, count in counts.items() if count)


@contextmanager
def cluster_by_hand(plan: Plan, runs: Path) -> Iterator[Cluster]:
    """A running cluster, with a run folder and a journal like any other; it ends with the block."""
    folder = RunFolder.create(runs, plan_hash(plan), date.today())
    folder.plan.write_text(dump_plan(plan))
    with JournalWriter(folder.journal) as journal, Cluster(plan, folder, journal, load(plan.target)) as cluster:
        journal.write("run", folder.name, "begin", {"story": plan.story, "target": plan.target})
        cluster.start([node.name for node in plan.topology.nodes if node.start == "now"])
        yield cluster
        journal.write("run", folder.name, "end", {})


class ByHand:
    """Injects and heals faults of one cluster, journalled and proven as in a run. Not for use by several threads."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._keeper = FaultKeeper(cluster.journal)
        self._numbers = itertools.count(1)

    def operations(self) -> dict[str, Operation]:
        """What the control socket offers: requests as `harness.cli.control.ask` sends them."""
        return {
            "inject": lambda request: self.inject(request["fault"], request["params"], request["name"]),
            "heal": lambda request: self.heal(request["name"]),
            "status": lambda request: self.status(),
        }

    def inject(self, kind: str, params: Mapping[str, Any], name: str | None = None) -> dict[str, str]:
        """Inject a fault and prove that it took effect: its name, and how that was proven."""
        name = name or f"{kind}-{next(self._numbers)}"
        if name in self._keeper.active:
            raise UsageError(f"a fault is called {name} already: heal it, or choose another name with --as")
        fault = build(kind, self._cluster, {key: self._resolve(key, value) for key, value in params.items()})
        with _as_usage_error():
            proven = self._keeper.inject(name, fault, params)
        return {"name": name, "how": proven.data["how"]}

    def heal(self, name: str | None = None) -> list[str]:
        """Heal one fault, or all, and prove it: the names of those that were healed."""
        active = list(self._keeper.active)
        if name is None:
            if failures := self._keeper.heal_all():
                raise UsageError("; ".join(failures))
            return active
        if name not in active:
            raise UsageError(f"no fault is called {name}: there are {', '.join(active) or 'none'}")
        with _as_usage_error():
            self._keeper.heal(name)
        return [name]

    def status(self) -> dict[str, Any]:
        nodes = []
        for node in self._cluster.layout.nodes:
            status = self._cluster.processes.status(node.name)
            running = status.running in (Running.RUNNING, Running.PAUSED)
            peers = sorted(self._cluster.processes.peers(node.name)) if running else []
            roles = ", ".join(sorted(node.roles))
            nodes.append(
                {"name": node.name, "roles": roles, "state": status.running.value, "pid": status.pid, "peers": peers}
            )
        faults = [
            {"name": name, "fault": fault.name, "targets": dict(fault.targets())}
            for name, fault in self._keeper.active.items()
        ]
        return {
            "target": self._cluster.plan.target,
            "run": str(self._cluster.folder.path),
            "bootstrap": self._cluster.bootstrap(),
            "nodes": nodes,
            "faults": faults,
            "problems": self._cluster.problems(),
        }

    def _resolve(self, key: str, value: Any) -> Any:
        """Groups of nodes as their members; everything else as it is."""
        if key not in ("from", "to", "nodes"):
            return value
        names: Sequence[str] = [name for entry in value for name in self._members(entry)]
        return list(dict.fromkeys(names))

    def _members(self, entry: str) -> list[str]:
        if entry not in GROUPS:
            return [entry if entry.startswith("site:") else self._cluster.node(entry).name]
        return [node.name for node in GROUPS[entry](self._cluster.layout) if node.duplicate_of is None]


@contextmanager
def _as_usage_error() -> Iterator[None]:
    try:
        yield
    except FaultError as error:
        raise UsageError(str(error)) from error
