"""The coverage table has the nodes that a fault met, as the journal had them when the fault hit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fencepost.harness.campaign.coverage import Meeting, meetings, table
from fencepost.harness.campaign.summary import grid
from fencepost.harness.plan.model import NodeSpec, Plan, Topology
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal

NODES = (
    NodeSpec(name="node-1", id=1, index=1, roles=("controller",)),
    NodeSpec(name="node-2", id=2, index=2, roles=("controller",)),
    *(NodeSpec(name=f"node-{each}", id=each, index=each, roles=("broker",)) for each in (4, 5, 6)),
    NodeSpec(name="zk-1", id=7, index=7, roles=("zookeeper",)),
    NodeSpec(name="node-4b", id=4, index=14, roles=("broker",), start="later", duplicate_of="node-4"),
)
PLAN = Plan(scenario="s", title="S", document="D", seed=1, target="quorum:1", topology=Topology(nodes=NODES))

Line = tuple[str, str, str, str | None, Mapping[str, Any]]


def journal(*lines: Line) -> Journal:
    return Journal(
        tuple(
            Event(seq, float(seq), float(seq), kind, id, phase, node, data)
            for seq, (kind, id, phase, node, data) in enumerate(lines)
        )
    )


def state(by: str | None, **data: Any) -> Line:
    return "state", by or "log", "seen", by, data


def process(node: str, phase: str) -> Line:
    return "node", node, phase, node, {}


def partition(leader: int, isr: list[int]) -> Line:
    return state(
        None, what="partition", topic="t", partition=0, leader=leader, leader_epoch=1, isr=isr, replicas=[4, 5, 6]
    )


def fault(name: str, fault: str, **aim: Any) -> tuple[Line, Line]:
    return ("fault", name, "intent", None, {"fault": fault, **aim}), ("fault", name, "proven", None, {})


WHOLE: tuple[Line, ...] = (
    *(process(node.name, "started") for node in NODES if node.start == "now"),
    *(state(node.name, what="answer", state="serving") for node in NODES if node.start == "now"),
    *(state(None, what="broker", id=each, state="active") for each in (4, 5, 6)),
    state("node-1", what="controller", active=1, epoch=3),
    state("node-2", what="controller", active=2, epoch=2),
    state("zk-1", what="server", mode="leader"),
    partition(4, [4, 5]),
)


def met(*lines: Line) -> list[tuple[str, str, str]]:
    found = meetings(PLAN, journal(*WHOLE, *lines))
    return sorted((each.fault, each.role, each.state) for each in found)


def test_roles_are_those_of_the_moment() -> None:
    assert met(*fault("f", "kill", nodes=["node-4"])) == [("kill", "leader", "serving")]
    assert met(*fault("f", "kill", nodes=["node-5"])) == [("kill", "ISR member", "serving")]
    assert met(*fault("f", "kill", nodes=["node-6"])) == [("kill", "replica not in ISR", "serving")]
    assert met(*fault("f", "kill", nodes=["node-1"])) == [("kill", "active controller", "serving")]
    assert met(*fault("f", "kill", nodes=["node-2"])) == [("kill", "standby controller", "serving")]
    assert met(*fault("f", "kill", nodes=["zk-1"])) == [("kill", "ZooKeeper leader", "serving")]
    assert met(*fault("f", "duplicate", nodes=["node-4b"])) == [("duplicate", "duplicate", "dead")]


def test_a_process_of_two_roles_is_met_in_both() -> None:
    both = NodeSpec(name="node-4", id=4, index=4, roles=("broker", "controller"), controller_id=1)
    plan = PLAN.model_copy(update={"topology": Topology(nodes=(both, *(n for n in NODES if n.id in (2, 5, 6))))})
    active = state("node-4", what="controller", active=1, epoch=4)
    found = meetings(plan, journal(*WHOLE, active, *fault("f", "kill", nodes=["node-4"])))
    assert sorted(each.role for each in found) == ["active controller", "leader"]


def test_a_fault_that_was_not_proven_met_no_node() -> None:
    assert met(fault("f", "kill", nodes=["node-4"])[0]) == []


def test_a_link_meets_both_of_its_ends() -> None:
    links = [{"from": "node-4", "to": "node-1", "held": "cut"}, {"from": "site:main", "to": "node-4", "held": "cut"}]
    assert met(*fault("f", "cut", links=links)) == [
        ("cut", "active controller", "serving"),
        ("cut", "client site", "working"),
        ("cut", "leader", "serving"),
    ]


def test_states_are_distinguished() -> None:
    killed = process("node-6", "killed")
    started = process("node-6", "started")
    serving = state("node-6", what="answer", state="serving")
    cut = fault("f", "cut", links=[{"from": "node-6", "to": "node-1"}])
    role = "replica not in ISR"
    assert ("cut", role, "dead") in met(killed, *cut)
    assert ("cut", role, "starting") in met(killed, started, *cut)
    assert ("cut", role, "catching up") in met(killed, started, serving, *cut)
    assert ("cut", "ISR member", "serving") in met(killed, started, serving, partition(4, [4, 5, 6]), *cut)
    assert ("cut", role, "paused") in met(process("node-6", "paused"), *cut)
    assert ("cut", role, "fenced") in met(state(None, what="broker", id=6, state="fenced"), *cut)


def test_the_broker_that_holds_the_controller_is_met_as_that_too() -> None:
    holds = state(None, what="controller", active=5, epoch=4, node="node-5")
    assert met(holds, *fault("f", "pause", nodes=["node-5"])) == [
        ("pause", "ISR member", "serving"),
        ("pause", "active controller", "serving"),
    ]


def test_what_met_is_counted() -> None:
    found = [Meeting("kill", "leader", "serving")] * 2 + [Meeting("kill", "leader", "fenced"), Meeting("cut", "x", "y")]
    assert {"fault": "kill", "role": "leader", "state": "serving", "times": 2} in table(found)
    roles, rows = grid(found)
    assert roles == ["leader", "x"]
    assert rows == [("cut", ["", "1 (1 y)"]), ("kill", ["3 (1 fenced)", ""])]
