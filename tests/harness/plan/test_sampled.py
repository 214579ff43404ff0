"""A huge topic is observed by a sample of its partitions; which they are follows from their number alone."""

from __future__ import annotations

import pytest

from fencepost.harness.plan.model import NodeSpec, Plan, Topology
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.sampled import HUGE, SAMPLED, sampled


@pytest.mark.parametrize("count", [HUGE + 1, 1000, 3000])
def test_a_sample_has_the_first_and_the_last_partition_and_is_small(count: int) -> None:
    sample = sampled(range(count))
    assert (sample[0], sample[-1], len(set(sample))) == (0, count - 1, SAMPLED)
    assert sampled(range(count)) == sample


def test_a_topic_that_is_not_huge_is_observed_whole() -> None:
    assert list(sampled(range(HUGE))) == list(range(HUGE))


def test_a_plan_knows_the_huge_topics_that_its_steps_create() -> None:
    nodes = (NodeSpec(name="node-4", id=4, index=4, roles=("broker",)),)
    steps = (
        CreateTopicProbe(node="node-4", topic="huge", partitions=HUGE + 1, timeout_ms=1000),
        CreateTopicProbe(node="node-4", topic="small", partitions=HUGE, timeout_ms=1000),
    )
    plan = Plan(
        scenario="s", title="S", document="d", seed=1, target="quorum", topology=Topology(nodes=nodes), steps=steps
    )
    assert plan.huge_topics == {"huge"}
