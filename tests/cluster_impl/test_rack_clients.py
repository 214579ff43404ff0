"""A consumer with `client.rack` reads from the replica in its rack (KIP-392).

Here in the design that starts fastest; the scenario `rack-reads-on` reads so in all of them.
"""

from __future__ import annotations

import json
from pathlib import Path

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # it is exported

from fencepost.cluster_impl.config.values import ReplicaSelector
from tests.cluster_impl.any_cluster import AnyCluster, running
from tests.waiting import eventually

pytestmark = pytest.mark.integration

WITHIN = 20.0


def give_racks(cluster: AnyCluster) -> None:
    """Restart all brokers, each in a rack of its own."""
    cluster.stop_all()
    for broker, node in cluster.brokers.items():
        node.file.write_text(f"{node.file.read_text()}broker.rack=rack-{broker}\n")
    cluster.start_all()


def produce(bootstrap: str, values: list[bytes]) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap, "acks": "all"})
    for value in values:
        producer.produce("t", value)
    assert producer.flush(WITHIN) == 0


@pytest.mark.requirement("DRACK-01", "DRACK-02", "DRACK-03")
def test_a_consumer_reads_from_the_replica_in_its_rack(tmp_path: Path) -> None:
    selector = {"replica.selector.class": ReplicaSelector.RACK_AWARE.value}
    with running("leader-driven", tmp_path, **selector) as cluster:
        give_racks(cluster)
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        admin.create_topics([NewTopic("t", num_partitions=1, replication_factor=3)])["t"].result(WITHIN)
        produce(cluster.bootstrap, [b"before"])
        leader = admin.list_topics("t", timeout=WITHIN).topics["t"].partitions[0].leader
        near = next(broker for broker in cluster.brokers if broker != leader)
        read_from: list[int] = []

        def note(statistics: str) -> None:
            partition = json.loads(statistics)["topics"].get("t", {}).get("partitions", {}).get("0", {})
            read_from.append(partition.get("broker", -1))

        consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": cluster.bootstrap,
                "group.id": "unused",
                "client.rack": f"rack-{near}",
                "statistics.interval.ms": 100,
                "stats_cb": note,
            }
        )
        consumer.assign([confluent_kafka.TopicPartition("t", 0, 0)])
        found: list[bytes | None] = []

        def reads(count: int) -> bool:
            for message in consumer.consume(10, 0.1):
                assert message.error() is None, message.error()
                found.append(message.value())
            return len(found) == count

        eventually(lambda: reads(1) and read_from[-1:] == [near], "the consumer reads from the replica in its rack")
        produce(cluster.bootstrap, [b"after", b"last"])
        eventually(lambda: reads(3), "it reads on there")
        assert found == [b"before", b"after", b"last"]
        assert read_from[-1] == near
        consumer.close()
