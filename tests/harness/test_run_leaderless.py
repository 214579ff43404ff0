"""A run without a controller, on real brokers: moved, broken at a line of a log, counted, judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.faults.processes.kill import KillParameters
from fencepost.harness.engine.run import run
from fencepost.harness.plan.base import ExpectOutcome, Level, LogLine
from fencepost.harness.plan.conditions.assignment_is import AssignmentIs
from fencepost.harness.plan.conditions.backlog import Backlog
from fencepost.harness.plan.conditions.broker_active import BrokerActive
from fencepost.harness.plan.conditions.checkpoint import Checkpoint
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.conditions.leader_is import LeaderIs
from fencepost.harness.plan.conditions.log_end import LogEnd
from fencepost.harness.plan.conditions.logged import Logged
from fencepost.harness.plan.conditions.watches import Watches
from fencepost.harness.plan.conditions.workload_acks import WorkloadAcks
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.model import NodeSpec, Plan, ProducerSpec, TopicSpec, Topology, WorkloadSpec
from fencepost.harness.plan.requests.create_partitions import CreatePartitionsProbe
from fencepost.harness.plan.requests.list_reassignments import ListReassignmentsProbe
from fencepost.harness.plan.requests.reassign import ReassignProbe
from fencepost.harness.plan.steps.bind import Bind
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.workload import Workload
from fencepost.results.records.journal import read_journal
from fencepost.results.records.verdict import Verdict

pytestmark = pytest.mark.integration

SOON = 30_000
STEP = "reassignment of topic t partition 0, step "


def served(requirement: str) -> ExpectOutcome:
    return ExpectOutcome(level=Level.MUST, outcome="served", requirement=requirement)


@pytest.mark.requirement("DLD-26")
def test_a_leader_is_killed_at_a_step_of_a_move_and_the_move_is_done_all_the_same(tmp_path: Path) -> None:
    brokers = (NodeSpec(name=f"node-{id}", id=id, index=id, roles=("broker",)) for id in (4, 5, 6))
    plan = Plan(
        scenario="moved",
        title="Moved",
        document="Kafka replication V2",
        seed=1,
        target="leader-driven",
        level="plain",
        topology=Topology(nodes=(NodeSpec(name="zk-1", id=1, index=1, roles=("zookeeper",)), *brokers)),
        topics=(
            TopicSpec(name="t", assignments=((4, 5),)),
            TopicSpec(name="many", assignments=((4,), (5,), (6,)), prepared=True),
        ),
        workload=WorkloadSpec(producers=(ProducerSpec(name="p1", topic="t"),)),
        steps=(
            Workload(action="start"),
            WorkloadAcks(more=20, within_ms=SOON),
            Watches(as_="watched", kind="leader", count=5, within_ms=SOON),
            Bind(as_="old", node="leader:t-0"),
            ReassignProbe(as_="move", node="node-6", partition="t-0", to=("node-6", "node-5"), expect=served("LD-57")),
            inject(
                "kill", KillParameters(nodes="$old"), when=LogLine(says=f"{STEP}start-replica-sent", since="move.begun")
            ),
            ListReassignmentsProbe(as_="moving", node="node-5"),
            LeaderIs(partition="t-0", is_not="$old", within_ms=SOON),
            Heal(fault="kill"),
            Logged(as_="done", node="node-5", says=f"{STEP}leader-deleted", within_ms=SOON),
            AssignmentIs(partition="t-0", is_=("node-6", "node-5"), within_ms=SOON),
            BrokerActive(node="node-4", within_ms=SOON),  # it answers, and refuses, before it is registered
            CreatePartitionsProbe(
                as_="add", node="node-4", topic="t", count=2, timeout_ms=5000, expect=served("LD-57")
            ),
            Converged(within_ms=SOON),
            Backlog(node="node-4", is_=0, within_ms=SOON),
            Workload(action="stop"),
            Checkpoint(as_="checkpointed", node="node-6", partition="t-0", at_least=20, within_ms=SOON),
            LogEnd(as_="held", node="node-6", partition="t-0", at_least=20, within_ms=SOON),
        ),
    )
    folder, verdict = run(plan, tmp_path)
    assert verdict.verdict is Verdict.PASS, verdict.headline
    events = read_journal(folder.journal)
    ended = {event.id: event.data for event in events.of("step", "end")}
    assert ended["watched"]["watches"]["leader"] == 5
    assert STEP in ended["done"]["line"]
    assert ended["held"]["offset"] >= 20
    (note,) = [event for event in events.of("note") if event.data["what"] == "last words"]
    assert note.data["lines"][0].endswith("step start-replica-sent, at epoch 0")
    assert (folder.nodes / "node-5" / "metrics.json").is_file()
    (moving,) = [event.data["body"] for event in events.of("op", "ok") if event.data.get("step") == "moving"]
    assert moving["moving"]["t-0"] == {"replicas": [4, 5, 6], "adding": [6], "removing": [4]}
