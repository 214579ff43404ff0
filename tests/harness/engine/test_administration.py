"""An administrator is served through each broker of a real cluster, or the broker and the request are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.faults.processes.pause import PauseParameters
from fencepost.harness.engine.run import run
from fencepost.harness.plan.base import Expect, Level
from fencepost.harness.plan.conditions.administrator_served import AdministratorServed
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.model import NodeSpec, Plan, TopicSpec, Topology
from fencepost.results.records.journal import read_journal
from fencepost.results.records.verdict import Verdict

NODES = (
    NodeSpec(name="node-1", id=1, index=1, roles=("controller",)),
    NodeSpec(name="node-4", id=4, index=4, roles=("broker",)),
    NodeSpec(name="node-5", id=5, index=5, roles=("broker",)),
)
SERVED = Expect(level=Level.MUST, requirement="LIVE-05")


@pytest.mark.integration
@pytest.mark.requirement("LIVE-05")
def test_topics_come_and_go_through_each_broker_until_the_controller_sleeps(tmp_path: Path) -> None:
    plan = Plan(
        scenario="administered",
        title="An administrator is served",
        document="KIP-631",
        seed=1,
        target="quorum",
        topology=Topology(nodes=NODES),
        topics=(TopicSpec(name="t", assignments=((4, 5),)),),
        steps=(
            AdministratorServed(as_="served", within_ms=30_000, expect=SERVED),
            inject("sleep", PauseParameters(nodes="node-1")),
            AdministratorServed(as_="unserved", within_ms=3_000, expect=SERVED),
        ),
    )
    folder, verdict = run(plan, tmp_path)
    by_step = {finding.evidence.get("step"): finding for finding in verdict.findings}
    assert by_step["served"].verdict is Verdict.PASS
    assert by_step["unserved"].verdict is Verdict.VIOLATION
    assert "unserved-node-4 is not created" in by_step["unserved"].message
    done = [event for event in read_journal(folder.journal).of("op", "ok") if event.data.get("f") == "admin"]
    assert {(event.node, event.data["request"]) for event in done if event.node} == {
        (node, stage) for node in ("node-4", "node-5") for stage in ("created", "led", "written", "deleted", "gone")
    }
