"""The brokers of a real cluster describe the same settings of a topic, or one that differs is named."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from fencepost.faults.processes.kill import KillParameters
from fencepost.harness.engine import settings
from fencepost.harness.engine.conditions import evaluation
from fencepost.harness.engine.context import Clients
from fencepost.harness.engine.run import run
from fencepost.harness.plan.base import Expect, Level
from fencepost.harness.plan.conditions.settings_agree import SettingsAgree
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.model import NodeSpec, Plan, TopicSpec, Topology
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.znode import ZnodeStep
from fencepost.results.records.verdict import Verdict
from tests.harness.engine.still_context import healthy, still_context
from tests.mutants.planting import VARIABLE

CHANGED = '{"version": 1, "config": {"min.insync.replicas": "2"}}'
AGREED = Expect(level=Level.MUST, requirement="META-01")


@pytest.mark.integration
@pytest.mark.requirement("META-01")
def test_brokers_agree_on_the_settings_of_topics_that_they_do_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Healthy brokers read again what they describe. With this defect only one that restarts has the new settings.
    monkeypatch.setenv(VARIABLE, "topic_settings_read_once")
    plan = Plan(
        scenario="settings",
        title="Settings agree",
        document="d",
        seed=1,
        target="zk-controller",
        topology=Topology(
            nodes=(
                NodeSpec(name="zk-1", id=1, index=1, roles=("zookeeper",)),
                NodeSpec(name="node-4", id=4, index=4, roles=("broker",)),
                NodeSpec(name="node-5", id=5, index=5, roles=("broker",)),
            )
        ),
        topics=(
            TopicSpec(name="t", assignments=((4,),), config={"min.insync.replicas": "1"}),
            TopicSpec(name="u", assignments=((5,),), config={"max.message.bytes": "5000"}),
        ),
        steps=(
            SettingsAgree(as_="settings", within_ms=30_000, expect=AGREED),
            ZnodeStep(action="set", path="/config/topics/t", data=CHANGED),
            inject("dead", KillParameters(nodes="node-5")),
            Heal(fault="dead"),
            SettingsAgree(as_="apart", within_ms=2_000, expect=AGREED),
        ),
    )
    _, verdict = run(plan, tmp_path)
    by_step = {finding.evidence.get("step"): finding for finding in verdict.findings}
    assert by_step["settings"].verdict is Verdict.PASS
    assert by_step["apart"].verdict is Verdict.VIOLATION
    assert "node-5 describes the settings of t as {'min.insync.replicas': '2'}" in by_step["apart"].message


@pytest.mark.parametrize(
    ("claimed", "difference"),
    [
        ({}, ""),
        ({"t": {"retention.ms": "5000", "max.message.bytes": None}}, ""),
        ({"t": {"retention.ms": "1"}}, "node-4 describes retention.ms of t as '5000', and not as '1'"),
        ({"t": {"segment.ms": "7"}}, "node-4 describes segment.ms of t as None, and not as '7'"),
        ({"u": {"segment.ms": None}}, "node-4 describes no topic u"),
    ],
)
def test_brokers_that_agree_on_another_value_than_the_plans_do_not_hold(
    claimed: dict[str, dict[str, str | None]], difference: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = still_context(tmp_path, healthy())
    monkeypatch.setattr(settings, "describe_topics", lambda *_: {"t": {"retention.ms": "5000"}})
    monkeypatch.setattr(Clients, "connect", lambda *_, **__: nullcontext())
    step = SettingsAgree(within_ms=1, values=claimed)
    condition = evaluation(step, "settings", context)
    assert condition.holds() is (difference == "")
    assert condition.seen() == (difference or "they agree")
