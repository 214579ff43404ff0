"""Transactional producers, in some plans with a second one that fences the first."""

from __future__ import annotations

import random

from fencepost.faults.capabilities import Capability
from fencepost.harness.campaign.cluster_spec import ClusterSpec
from fencepost.harness.campaign.features import WorkloadFeature
from fencepost.harness.campaign.workloads.groups import may_lose_state
from fencepost.harness.campaign.workloads.names import FIRST, OFFSETS_GROUP, READER, SECOND, TRANSACTIONAL_ID
from fencepost.harness.plan.model import ConsumerSpec, ProducerSpec, TransactionSpec, WorkloadSpec
from fencepost.harness.targets.file import TargetFile


class Transactions(WorkloadFeature):
    """A producer that commits and aborts transactions over all partitions of a topic, and a consumer of them.

    In some plans each transaction commits an offset of a group, too; in some a second producer of its id starts in the
    middle and fences the first.
    """

    name = "transactions"
    weight = 1

    def left_out_reason(self, target: TargetFile, version: str, possible: frozenset[Capability]) -> str | None:
        unserved = target.without_workload("transactions", version)
        return unserved or super().left_out_reason(target, version, possible)

    def apply(self, rng: random.Random, cluster: ClusterSpec, workload: WorkloadSpec) -> WorkloadSpec:
        if may_lose_state(cluster):
            return workload
        topic = rng.choice(cluster.topics).name
        first = ProducerSpec(
            name=FIRST,
            topic=topic,
            rate=rng.choice((50, 100)),
            transactions=TransactionSpec(
                id=TRANSACTIONAL_ID,
                records=rng.choice((3, 10, 30)),
                abort_every=rng.choice((None, 2, 3)),
                timeout_ms=rng.choice((5000, 10_000)),
                group=OFFSETS_GROUP if rng.random() < 0.4 else None,
                sleeps=rng.random() < 0.5,
            ),
        )
        second = first.model_copy(update={"name": SECOND, "start": "later"})
        producers = (first, second) if rng.random() < 0.4 else (first,)
        consumers = [ConsumerSpec(name=READER, topic=topic)]
        if rng.random() < 0.4:
            consumers.append(ConsumerSpec(name="c-open", topic=topic, isolation="read_uncommitted"))
        return workload.model_copy(
            update={"producers": (*workload.producers, *producers), "consumers": (*workload.consumers, *consumers)}
        )
