"""A real controller and the copy of an IsrChange that lay in a link while its sender went on by another connection."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # re-exported

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import ZK_BROKER
from tests.cluster_impl.processes import LIMIT, address
from tests.cluster_impl.zk_processes import ZkCluster, running

Change = m.IsrChangeRequest


def state(cluster: ZkCluster) -> tuple[list[int], int]:
    """The ISR of t-0, and the version of its znode."""
    stat = cluster.kazoo.exists("/brokers/topics/t/partitions/0/state")
    return cluster.state("t")["isr"], stat.version


@pytest.mark.integration
@pytest.mark.requirement("D343-08")
async def test_a_late_copy_undoes_no_later_change(tmp_path: Path) -> None:
    async def scenario(cluster: ZkCluster) -> None:
        known = cluster.state("t")
        leader, followers = known["leader"], [each for each in known["isr"] if each != known["leader"]]
        incarnation = cluster.kazoo.exists(f"/brokers/ids/{leader}").czxid

        def change(isr: list[int]) -> m.IsrChangeRequest:
            asked = Change.PartitionData(leader_epoch=known["leader_epoch"], partition_index=0, isr_nodes=isr)
            topics = [Change.TopicData(topic_name="t", partitions=[asked])]
            return Change(broker_id=leader, incarnation_id=incarnation, topics=topics)

        async def connect() -> Connection:
            host = address(cluster.controller())
            return await Connection.open(host, 9090, ZK_BROKER, "test", hosts=Hosts(), timeout=LIMIT)

        async def ask(connection: Connection, isr: list[int]) -> Error:
            response = await connection.request(change(isr), 0, timeout=LIMIT)
            return Error(response.top_level_error_code or response.results[0].error_code)

        first, second = await connect(), await connect()
        _, version = state(cluster)
        shrunk = [leader, followers[0]]
        assert await ask(first, shrunk) == Error.NONE, "applied, and its answer is lost"
        assert await ask(second, shrunk) == Error.NONE, "the repetition is answered, and not written again"
        assert state(cluster)[1] == version + 1
        assert await ask(second, [leader, *followers]) == Error.NONE
        with pytest.raises(ConnectionError):
            await ask(first, shrunk)
        isr, version_now = state(cluster)
        assert (sorted(isr), version_now) == (sorted([leader, *followers]), version + 2)
        second.close()

    with running(tmp_path, "2.6") as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        admin.create_topics([NewTopic("t", 1, 3)], request_timeout=LIMIT)["t"].result(LIMIT)
        await scenario(cluster)
        controller = cluster.nodes[cluster.controller()]
        assert controller.says("a late copy of an IsrChange arrived")
