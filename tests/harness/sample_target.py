"""A target of small stand-in nodes, for tests of what surrounds nodes."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path

from fencepost.faults.capabilities import ProbeResult
from fencepost.harness.network.layout import Node
from fencepost.harness.network.roundtrip import round_trip
from fencepost.harness.plan.model import NodeSpec, Plan, Topology
from fencepost.harness.processes.command import Command
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.identity import IdKeys
from fencepost.harness.targets.registry import load_file, names
from fencepost.harness.targets.target import Installation

VISIBLE = [name for name in names() if load_file(name).dialect.shows_decisions]
"""The targets that show their control plane: the others have no random plans, and not the usual nodes."""
PROGRAM = Path(__file__).with_name("sample_node.py")
NODES = (
    NodeSpec(name="node-1", id=1, index=1, roles=("controller",)),
    NodeSpec(name="node-2", id=2, index=2, roles=("broker",)),
    NodeSpec(name="node-3", id=3, index=3, roles=("broker",)),
    NodeSpec(name="node-3b", id=3, index=13, roles=("broker",), start="later", duplicate_of="node-3"),
)
FIRST = ["node-1", "node-2", "node-3"]


class SampleTarget:
    """Implements `fencepost.harness.targets.target.Target`. What a node does is decided by the sets of names."""

    version = "1"
    ids = IdKeys("node.id", ("id",))

    def __init__(self) -> None:
        self.file: TargetFile = load_file("quorum")
        self.dying: set[str] = set()
        self.past_links: set[str] = set()

    def prepare(self) -> None: ...

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        return {"id": str(node.id), "level": str(node.level)}

    def files(self, node: Node, installation: Installation) -> dict[str, str]:
        return {}

    def format(self, node: Node, installation: Installation) -> None:
        installation.data(node).mkdir(exist_ok=True)
        (installation.data(node) / "formatted").write_text(node.name)

    def command(self, node: Node, installation: Installation) -> Command:
        table = dict(line.split()[::-1] for line in installation.hosts(node).read_text().splitlines())
        if node.name in self.past_links:
            table |= {peer.name: peer.address for peer in installation.layout.nodes if peer != node}
        peers = ",".join(f"{table[peer.name]}:9090" for peer in installation.layout.nodes if peer != node)
        ports = ",".join(str(listener.port) for listener in node.listeners)
        mode = "die" if node.name in self.dying else "serve"
        return Command([sys.executable, str(PROGRAM), node.address, ports, peers, mode])

    def unready(self, nodes: Collection[Node], installation: Installation) -> str | None:
        for node in nodes:
            if round_trip(node.endpoint(node.listeners[0]), 0.5).reach is not ProbeResult.ANSWERED:
                return f"{node.name} does not answer"
        return None


def zookeeper_plan() -> Plan:
    """A ZooKeeper server and two brokers, of which the second is to be the controller."""
    server = NodeSpec(name="zk-1", id=1, index=1, roles=("zookeeper",))
    topology = Topology(nodes=(*NODES[1:3], server), controller="node-3")
    return Plan(scenario="s", title="s", document="d", seed=1, target="zk-controller", level="base", topology=topology)


def sample_plan(directory: str = "empty") -> Plan:
    """One controller, two brokers, and a duplicate of the second that waits to be started."""
    nodes = tuple(node.model_copy(update={"directory": directory}) for node in NODES)
    return Plan(scenario="s", title="s", document="d", seed=1, target="quorum", topology=Topology(nodes=nodes))
