"""A plan shows what it tries in its steps, in the words in which a run reaches it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from fencepost.faults.links.cut import CutParameters
from fencepost.faults.processes.kill import KillParameters
from fencepost.faults.processes.pause import PauseParameters
from fencepost.harness.campaign.combinations import ANY, Combination, Reached, parts, reached, tried
from fencepost.harness.campaign.planner import generate
from fencepost.harness.plan import Plan
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.model import ProducerSpec, WorkloadSpec
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.bind import Bind
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.heal_all import HealAll

PLAIN = WorkloadSpec(producers=(ProducerSpec(name="p-t", topic="t", idempotent=False),))


def plan(steps: Sequence[Step], workload: WorkloadSpec = PLAIN) -> Plan:
    made = generate("quorum", "process", 4)
    return made.model_copy(update={"steps": tuple(steps), "workload": workload})


def texts(found: frozenset[Combination]) -> list[str]:
    return sorted(map(str, found))


def test_a_fault_on_a_whole_cluster_hits_a_role() -> None:
    found = tried(plan([inject("a", PauseParameters(nodes="leader:t-0"))]))
    assert texts(found) == ["pause | leader | whole | plain"]


def test_a_bound_name_has_the_role_that_it_was_bound_by() -> None:
    steps: list[Step] = [Bind(as_="old", node="leader:t-0"), inject("a", KillParameters(nodes="$old"))]
    assert texts(tried(plan(steps))) == ["kill | leader | whole | plain"]


def test_what_comes_while_a_fault_holds_is_during_it() -> None:
    steps: list[Step] = [
        inject("a", PauseParameters(nodes="leader:t-0")),
        CreateTopicProbe(node="active-controller", topic="x"),
        inject("b", KillParameters(nodes="active-controller")),
        Heal(fault="a"),
        inject("c", KillParameters(nodes="followers:t-0")),
    ]
    assert texts(tried(plan(steps))) == [
        "ask create-topic | active controller | during pause | plain",
        "kill | ISR member | during kill | plain",
        "kill | active controller | during pause | plain",
        "pause | leader | whole | plain",
    ]


def test_a_cluster_recovers_until_it_is_awaited_whole() -> None:
    kill = inject("a", KillParameters(nodes="leader:t-0"))
    again, last = kill.model_copy(update={"as_": "b"}), kill.model_copy(update={"as_": "c"})
    found = tried(plan([kill, Heal(fault="a"), again, HealAll(), Converged(within_ms=1), last]))
    assert {each.state for each in found} == {"whole", "recovering"}
    assert {each.state for each in tried(plan([kill, HealAll(), Converged(within_ms=1), last]))} == {"whole"}


def test_both_ends_of_a_link_are_hit() -> None:
    found = tried(plan([inject("a", CutParameters(from_="leader:t-0", to="controllers"))]))
    assert {each.role for each in found} == {"leader", "active controller", "standby controller"}


def test_a_node_that_is_named_has_its_first_role() -> None:
    made = plan([inject("a", KillParameters(nodes="node-4"))])
    first = {replicas[0] for topic in made.topics for replicas in topic.assignments}
    assert ("leader" in {each.role for each in tried(made)}) is (4 in first)


def test_each_kind_of_client_is_beside_it() -> None:
    producers = (*PLAIN.producers, ProducerSpec(name="p-one", topic="t", acks=1, idempotent=True))
    found = tried(plan([inject("a", KillParameters(nodes="brokers"))], WorkloadSpec(producers=producers)))
    assert {each.clients for each in found} == {"acks=1", "idempotent"}


def test_a_combination_has_all_smaller_ones() -> None:
    whole = Combination("kill", "leader", "whole", "plain")
    assert len(parts([whole])) == 8
    assert Combination("kill", ANY, "whole", ANY) in parts([whole])
    assert sorted(each.factors for each in parts([whole])) == [1, 2, 2, 2, 3, 3, 3, 4]


def test_text_is_read_back() -> None:
    whole = Combination("ask x", "ISR member", "during cut-after-bytes", "acks=1")
    assert Combination.read(str(whole)) == whole
    with pytest.raises(ValueError, match="no combination"):
        Combination.read("kill | leader")


def test_a_run_reached_what_its_faults_met_when_they_were_ordered() -> None:
    faults = [
        Reached("pause", frozenset({"leader"}), "whole", 1.0, 5.0),
        Reached("kill", frozenset({"ISR member"}), "under-replicated", 3.0, math.inf),
        Reached("cut", frozenset({"leader", "client site"}), "leaderless", 6.0, 7.0),
    ]
    assert texts(reached(faults[:2], ["group"])) == [
        "kill | ISR member | during pause | group",
        "pause | leader | whole | group",
    ]
    assert {each.state for each in reached(faults, []) if each.kind == "cut"} == {"during kill"}
    assert {each.state for each in reached(faults[2:], [])} == {"recovering"}
