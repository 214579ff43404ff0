"""Clients of every design: idempotent producers, one that waits for the leader only, and consumers."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from fencepost.harness.campaign.cluster_spec import ClusterSpec
from fencepost.harness.campaign.features import WorkloadFeature
from fencepost.harness.plan.model import ConsumerSpec, ProducerSpec, WorkloadSpec
from fencepost.harness.targets.releases import Releases


class IdempotentProducers(WorkloadFeature):
    """The producers at acks=all are idempotent."""

    name = "idempotent-producers"
    weight = 1
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=0.11"}
    left_out: Mapping[str, str] = {
        "leader-driven": "it may lose records by design (LF-01), and a producer whose last sequence number is gone "
        "is refused for good, which is the same loss once more"
    }

    def apply(self, rng: random.Random, cluster: ClusterSpec, workload: WorkloadSpec) -> WorkloadSpec:
        return _with_all(workload, lambda each: each.acks == "all", idempotent=True)


class LeaderAcks(WorkloadFeature):
    """One more producer, which waits for the leader only."""

    name = "acks-1"
    weight = 1

    def apply(self, rng: random.Random, cluster: ClusterSpec, workload: WorkloadSpec) -> WorkloadSpec:
        topic = rng.choice(cluster.topics).name
        return _with_one_more(workload, ProducerSpec(name="p-one", topic=topic, acks=1, idempotent=False, rate=50))


class Consumers(WorkloadFeature):
    """A consumer that reads along, of most topics."""

    name = "consumers"
    weight = 1

    def apply(self, rng: random.Random, cluster: ClusterSpec, workload: WorkloadSpec) -> WorkloadSpec:
        named = [topic.name for topic in cluster.topics if rng.random() < 0.8] or [cluster.topics[0].name]
        more = (ConsumerSpec(name=f"c-{topic}", topic=topic) for topic in named)
        return workload.model_copy(update={"consumers": (*workload.consumers, *more)})


class NoAcks(WorkloadFeature):
    """One more producer, which waits for no answer: its records are owed nothing, and must disturb nothing."""

    name = "acks-0"
    weight = 1

    def apply(self, rng: random.Random, cluster: ClusterSpec, workload: WorkloadSpec) -> WorkloadSpec:
        topic = rng.choice(cluster.topics).name
        return _with_one_more(workload, ProducerSpec(name="p-none", topic=topic, acks=0, idempotent=False, rate=50))


class Synchronous(WorkloadFeature):
    """The producers at acks=all wait for each record, or for each few."""

    name = "synchronous"
    weight = 1

    def apply(self, rng: random.Random, cluster: ClusterSpec, workload: WorkloadSpec) -> WorkloadSpec:
        in_flight = rng.choice((1, 1, 5))
        return _with_all(workload, lambda each: each.acks == "all" and each.transactions is None, in_flight=in_flight)


def _with_all(workload: WorkloadSpec, chosen: Callable[[ProducerSpec], bool], **settings: object) -> WorkloadSpec:
    """Return the workload with these settings of all chosen producers."""
    producers = (each.model_copy(update=settings) if chosen(each) else each for each in workload.producers)
    return workload.model_copy(update={"producers": tuple(producers)})


def _with_one_more(workload: WorkloadSpec, producer: ProducerSpec) -> WorkloadSpec:
    return workload.model_copy(update={"producers": (*workload.producers, producer)})
