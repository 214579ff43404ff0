"""Faults of single messages ask for the rule that they describe, and say what their proxies counted."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pydantic import ValidationError

from fencepost.faults.capabilities import CapabilityError, Fate, MessageRule, Part
from fencepost.faults.messages.late_request import LateRequestParameters
from fencepost.faults.messages.message_generation import flowing
from fencepost.faults.registry import build
from fencepost.harness.campaign.cluster_spec import generate_cluster
from fencepost.harness.targets.registry import load_file
from tests.faults.fake import FakeCluster, cluster_of

AIM: dict[str, Any] = {"from": ["node-4"], "to": ["node-1"], "api": "alter_partition", "within_ms": 0}


@pytest.fixture
def cluster() -> FakeCluster:
    return cluster_of("node-1", "node-2", "node-4", "node-5")


@pytest.mark.parametrize(
    ("name", "own", "rule"),
    [
        ("lost-request", {"nth": 3}, MessageRule(56, Part.REQUEST, Fate.LOSE, skip=2)),
        ("lost-request", {"connection": "ended"}, MessageRule(56, Part.REQUEST, Fate.END)),
        ("lost-answer", {"version": 2, "count": 4}, MessageRule(56, Part.ANSWER, Fate.LOSE, version=2, count=4)),
        ("lost-answer", {"connection": "ended"}, MessageRule(56, Part.ANSWER, Fate.END)),
        ("late-request", {"held_ms": 700}, MessageRule(56, Part.REQUEST, Fate.HOLD, hold_ms=700)),
        ("repeated-request", {"api": 1344}, MessageRule(1344, Part.REQUEST, Fate.TWICE)),
    ],
)
def test_a_fault_sets_its_rule_on_each_link(
    name: str, own: dict[str, Any], rule: MessageRule, cluster: FakeCluster
) -> None:
    build(name, cluster, {**AIM, "to": ["node-1", "node-2", "node-4"], **own}).inject()
    assert cluster.messages.rules == {("node-4", "node-1"): rule, ("node-4", "node-2"): rule}


def test_without_a_message_nothing_is_proven_and_what_came_is_reported(cluster: FakeCluster) -> None:
    cluster.messages.none = True
    fault = build("lost-answer", cluster, AIM)
    fault.set_up()
    fault.inject()
    evidence = fault.verify()
    assert not evidence.proven
    assert evidence.shortfall == "0 requests of alter_partition came in 0 ms, and no message was lost"


def test_healing_tells_where_late_messages_arrived(cluster: FakeCluster) -> None:
    cluster.messages.gone = True
    fault = build("late-request", cluster, {**AIM, "to": ["node-1", "node-2"]})
    fault.inject()
    fault.recover()
    how = "0 of 2 late messages were delivered, and of 2 the receiver had ended the connection; now all messages pass"
    assert (fault.verify_healed().proven, fault.verify_healed().how) == (True, how)


def test_a_link_has_one_rule_at_a_time(cluster: FakeCluster) -> None:
    build("late-request", cluster, AIM).inject()
    with pytest.raises(CapabilityError, match="a rule for messages from node-4 to node-1 already"):
        build("lost-answer", cluster, AIM).set_up()


def test_an_api_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValidationError, match="there is no API `alter_isr`"):
        LateRequestParameters.model_validate({**AIM, "api": "alter_isr"})


@pytest.mark.parametrize("target", ["quorum", "zk-controller", "leader-driven", "apache-kafka", "apache-kafka-zk"])
def test_no_random_fault_is_aimed_at_messages_to_zookeeper(target: str) -> None:
    rng = random.Random(1)
    file = load_file(target)
    for _ in range(50):
        cluster = generate_cluster(rng, file, frozenset(), with_duplicate=False)
        flow = flowing(rng, cluster)
        assert flow.to != "zookeeper"
        assert (flow.to in ("controllers", "active-controller")) <= (not cluster.uses_zookeeper)
