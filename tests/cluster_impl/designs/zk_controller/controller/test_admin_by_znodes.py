"""Operators' requests by znodes, with real nodes on a real ZooKeeper."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # re-exported

from tests.cluster_impl.processes import BROKERS, LIMIT
from tests.cluster_impl.zk_processes import ZkCluster, running
from tests.waiting import eventually

pytestmark = pytest.mark.integration


@pytest.fixture(params=["2.0", "2.6"])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ZkCluster]:
    with running(tmp_path, request.param) as cluster:
        yield cluster


def create(cluster: ZkCluster, name: str, *layout: list[int]) -> None:
    topic = NewTopic(name, num_partitions=len(layout), replica_assignment=list(layout))
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.create_topics([topic])[name].result(LIMIT)


def assigned(cluster: ZkCluster, name: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = cluster.json(f"/brokers/topics/{name}").get("partitions", {})
    return found


def folders(cluster: ZkCluster, node: int, name: str) -> list[str]:
    return [each.name for index in (0, 1) for each in cluster.log_dir(node, index).glob(f"{name}-*")]


def ask(cluster: ZkCluster, path: str, document: object) -> None:
    cluster.kazoo.create(path, json.dumps(document).encode())


@pytest.mark.requirement("DINT-20", "DINT-21", "INT-35")
def test_replicas_move_partitions_are_added_and_preferred_leaders_elected(cluster: ZkCluster) -> None:
    create(cluster, "moved", [4, 5])
    wanted = {"version": 1, "partitions": [{"topic": "moved", "partition": 0, "replicas": [6, 4]}]}
    ask(cluster, "/admin/reassign_partitions", wanted)
    eventually(lambda: not cluster.kazoo.exists("/admin/reassign_partitions"), "the reassignment is done")
    assert assigned(cluster, "moved") == {"0": [6, 4]}
    assert sorted(cluster.state("moved")["isr"]) == [4, 6]
    eventually(lambda: not folders(cluster, 5, "moved"), "broker 5 has removed its replica")
    assert cluster.state("moved")["leader"] == 4

    ask(
        cluster, "/admin/preferred_replica_election", {"version": 1, "partitions": [{"topic": "moved", "partition": 0}]}
    )
    eventually(lambda: cluster.state("moved")["leader"] == 6, "the preferred replica leads")

    topic = cluster.json("/brokers/topics/moved")
    topic["partitions"]["1"] = [5, 6]
    cluster.kazoo.set("/brokers/topics/moved", json.dumps(topic).encode())
    eventually(lambda: cluster.state("moved", 1).get("leader") == 5, "the new partition has a leader")
    eventually(lambda: folders(cluster, 6, "moved") != ["moved-0"], "broker 6 follows it")


@pytest.mark.requirement("DINT-23")
def test_a_topic_that_is_deleted_while_a_broker_is_away_is_gone_when_it_is_back(cluster: ZkCluster) -> None:
    create(cluster, "gone", list(BROKERS))
    eventually(lambda: bool(folders(cluster, 6, "gone")), "broker 6 has its replica")
    cluster.nodes[6].signal(signal.SIGKILL)
    cluster.nodes[6].exit_code()
    eventually(lambda: "6" not in cluster.children("/brokers/ids"), "broker 6 is not registered any more")
    cluster.kazoo.create("/admin/delete_topics/gone", b"")
    eventually(lambda: not folders(cluster, 4, "gone") and not folders(cluster, 5, "gone"), "the others deleted it")
    assert cluster.kazoo.exists("/admin/delete_topics/gone"), "the deletion waits"
    cluster.nodes[6].start()
    eventually(lambda: not cluster.kazoo.exists("/admin/delete_topics/gone"), "the deletion is complete")
    assert not cluster.kazoo.exists("/brokers/topics/gone")
    eventually(lambda: not folders(cluster, 6, "gone"), "broker 6 has removed it as well")
    create(cluster, "gone", list(BROKERS))
    assert cluster.state("gone")["leader_epoch"] == 0
