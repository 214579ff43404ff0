"""The metrics of a broker's replicas, under the names of Apache Kafka's ReplicaManager; the same in every design."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fencepost.cluster_impl.metrics.samples import Sample
from fencepost.cluster_impl.replication.progress import ReplicaRole
from fencepost.cluster_impl.replication.replica import Replica

_NAME = "kafka_server_ReplicaManager_"


def replica_samples(replicas: Collection[Replica], *, serving: bool) -> Iterator[Sample]:
    """Yield the metrics of the replicas of one broker; `serving` if it processes clients' requests."""
    led = [replica.core for replica in replicas if replica.core.role is ReplicaRole.LEADER]
    under_replicated = sum(1 for core in led if len(core.isr.committed) < len(core.replicas))
    under_min_isr = sum(1 for core in led if len(core.isr.committed) < core.min_isr)
    yield Sample(_NAME + "PartitionCount", "Replicas that this broker has and can use.", len(replicas))
    yield Sample(_NAME + "LeaderCount", "Replicas that lead.", len(led))
    yield Sample(_NAME + "UnderReplicatedPartitions", "Led partitions whose ISR lacks a replica.", under_replicated)
    yield Sample(_NAME + "UnderMinIsrPartitionCount", "Led partitions that refuse acks=all.", under_min_isr)
    yield Sample("kafka_server_BrokerServer_Serving", "1 if clients' requests are processed, 0 if fenced.", serving)
