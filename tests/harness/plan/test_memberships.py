"""Plans whose groups assign partitions in a way that their protocol does not know, or in two ways."""

from __future__ import annotations

from fencepost.harness.plan.checks import problems
from fencepost.harness.plan.model import (
    ConsumerSpec,
    MembershipSpec,
    NodeSpec,
    Plan,
    TopicSpec,
    Topology,
    WorkloadSpec,
)


def messages(*memberships: MembershipSpec) -> list[str]:
    consumers = (ConsumerSpec(name=f"m-{at}", topic="t", membership=each) for at, each in enumerate(memberships))
    plan = Plan(
        scenario="s",
        title="S",
        document="d",
        seed=1,
        target="quorum",
        topology=Topology(nodes=(NodeSpec(name="node-4", id=4, index=4, roles=("broker",)),)),
        topics=(TopicSpec(name="t", assignments=((4,),)),),
        workload=WorkloadSpec(consumers=tuple(consumers)),
    )
    return [problem.message for problem in problems(plan)]


def test_either_protocol_has_strategies_of_its_own() -> None:
    assert messages(MembershipSpec(group="g", strategy="uniform", protocol="consumer")) == []
    assert messages(MembershipSpec(group="g", strategy="uniform")) == [
        "groups of the classic protocol do not assign by uniform: take range or roundrobin or cooperative-sticky"
    ]
    assert messages(MembershipSpec(group="g", strategy="roundrobin", protocol="consumer")) == [
        "groups of the consumer protocol do not assign by roundrobin: take range or uniform"
    ]


def test_members_of_one_group_agree_on_a_strategy() -> None:
    assert messages(MembershipSpec(group="g"), MembershipSpec(group="g", strategy="roundrobin")) == [
        "m-1 assigns by roundrobin, earlier members of g by range: give all members one strategy"
    ]
