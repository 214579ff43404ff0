"""Consumer groups: members of one group that commit, some of them static, in some plans one that joins later."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Literal

from fencepost.faults.capabilities import Capability
from fencepost.harness.campaign.cluster_spec import ClusterSpec
from fencepost.harness.campaign.features import WorkloadFeature
from fencepost.harness.campaign.workloads.names import GROUP
from fencepost.harness.plan.base import release_range
from fencepost.harness.plan.model import ConsumerSpec, MembershipSpec, WorkloadSpec
from fencepost.harness.targets.file import TargetFile

STRATEGIES: tuple[Literal["range", "roundrobin", "cooperative-sticky"], ...] = (
    "range",
    "roundrobin",
    "cooperative-sticky",
)
REMOTE_STRATEGIES: tuple[Literal["range", "uniform"], ...] = ("range", "uniform")
SESSION_MS = 6000
COMMITS: tuple[Literal["sync", "async"], ...] = ("sync", "sync", "async")


def may_lose_state(cluster: ClusterSpec) -> bool:
    """Return whether a listed difference may lose records of any topic here, also those that coordinators keep."""
    return cluster.duplicate is not None and any(each.id == "AK-06" for each in cluster.target.differences)


class Groups(WorkloadFeature):
    """Two or three members of one group, which read a topic and commit their offsets."""

    name = "groups"
    weight = 1
    left_out: Mapping[str, str] = {
        "leader-driven": "it may lose records by design (LF-01), and so committed offsets, which are records, too"
    }

    def left_out_reason(self, target: TargetFile, version: str, possible: frozenset[Capability]) -> str | None:
        unserved = target.without_workload("groups", version)
        return unserved or super().left_out_reason(target, version, possible)

    def apply(self, rng: random.Random, cluster: ClusterSpec, workload: WorkloadSpec) -> WorkloadSpec:
        if may_lose_state(cluster):
            return workload
        topic = rng.choice(cluster.topics).name
        commit = rng.choice(COMMITS)
        strategy = rng.choice(STRATEGIES)
        static = "static-members" in cluster.target.workloads and rng.random() < 0.4
        count = rng.choice((2, 2, 3))
        joins_later = count if rng.random() < 0.4 else None
        members = (
            ConsumerSpec(
                name=f"m-{number}",
                topic=topic,
                membership=MembershipSpec(group=GROUP, commit=commit, strategy=strategy, static=static and number == 1),
                start="later" if number == joins_later else None,
            )
            for number in range(1, count + 1)
        )
        return workload.model_copy(update={"consumers": (*workload.consumers, *members)})


class ConsumerProtocolGroups(WorkloadFeature):
    """The members of the group, where a plan has one, leave it to the coordinator to assign partitions (KIP-848)."""

    name = "consumer-protocol-groups"
    # The members' session is a setting of the brokers, 45 s by default, and no less is allowed.
    settings: Mapping[str, str] = {
        "group.consumer.min.session.timeout.ms": str(SESSION_MS),
        "group.consumer.session.timeout.ms": str(SESSION_MS),
        "group.consumer.min.heartbeat.interval.ms": str(SESSION_MS // 10),
        "group.consumer.heartbeat.interval.ms": str(SESSION_MS // 10),
    }

    def left_out_reason(self, target: TargetFile, version: str, possible: frozenset[Capability]) -> str | None:
        if release_range(version):
            return "its older release speaks the classic protocol of groups only"
        unserved = target.without_workload("consumer-protocol", version)
        return unserved or super().left_out_reason(target, version, possible)

    def apply(self, rng: random.Random, cluster: ClusterSpec, workload: WorkloadSpec) -> WorkloadSpec:
        strategy = rng.choice(REMOTE_STRATEGIES)
        update = {"protocol": "consumer", "strategy": strategy, "session_ms": SESSION_MS}
        consumers = (
            each.model_copy(update={"membership": each.membership.model_copy(update=update)})
            if each.membership
            else each
            for each in workload.consumers
        )
        return workload.model_copy(update={"consumers": tuple(consumers)})
