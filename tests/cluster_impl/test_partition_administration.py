"""Partitions are added, moved and led as ordinary clients ask for it, in real clusters of every design."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import TypeVar

import pytest
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # re-exported
from kafka import KafkaAdminClient, TopicPartition
from kafka.errors import KafkaError

from tests.cluster_impl import leader_driven_processes, processes, zk_processes
from tests.cluster_impl.leader_driven_processes import LeaderDrivenCluster
from tests.cluster_impl.processes import BROKERS, LIMIT, NodeProcess, ProcessCluster, address
from tests.cluster_impl.real_client import Producing, consume
from tests.cluster_impl.zk_processes import ZkCluster
from tests.waiting import eventually

pytestmark = pytest.mark.integration

T = TypeVar("T")

RECORDS = 30
ANSWER_MS = 4000
"""Long enough for a busy machine, and short enough to try another broker."""
PREFERRED = 0
MOVED = TopicPartition("t", 0)


def started(design: str, folder: Path) -> AbstractContextManager[ProcessCluster | ZkCluster | LeaderDrivenCluster]:
    match design:
        case "quorum":
            return processes.running(folder)
        case "zk-controller":
            return zk_processes.running(folder, "2.6", **{"auto.leader.rebalance.enable": "false"})
    return leader_driven_processes.running(folder, **{"auto.leader.rebalance.enable": "false"})


@pytest.fixture(params=["quorum", "zk-controller", "leader-driven"])
def cluster(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[ProcessCluster | ZkCluster | LeaderDrivenCluster]:
    with started(request.param, tmp_path) as cluster:
        yield cluster


def brokers_of(cluster: ProcessCluster | ZkCluster | LeaderDrivenCluster) -> dict[int, NodeProcess]:
    return cluster.brokers if isinstance(cluster, ProcessCluster) else cluster.nodes


def at(*nodes: int) -> str:
    return ",".join(f"{address(node)}:9092" for node in nodes or BROKERS)


def ask(send: Callable[[KafkaAdminClient], T]) -> T:
    """Ask through new clients until one has its answer.

    A client chooses among all brokers, and may choose one that is stopped, or that it takes for dead since a restart.
    """
    answers: list[T] = []

    def answered() -> bool:
        try:
            with closing(KafkaAdminClient(bootstrap_servers=at(5), request_timeout_ms=ANSWER_MS)) as client:
                answers.append(send(client))
        except KafkaError:
            return False
        return True

    eventually(answered, "a broker answers the client", within=6 * LIMIT)
    return answers[0]


class Administrator:
    """Changes partitions through broker 5, and describes what broker 4 shows."""

    def __init__(self) -> None:
        self._looks = AdminClient({"bootstrap.servers": at(4), "log_level": 0})

    def create(self, *layout: list[int]) -> None:
        topic = NewTopic("t", len(layout), replica_assignment=list(layout))
        self._looks.create_topics([topic], request_timeout=LIMIT)["t"].result(LIMIT)

    def partition(self, index: int = 0) -> tuple[list[int], list[int], int]:
        """Return replicas, in-sync ones and leader."""
        partitions = self._looks.list_topics("t", LIMIT).topics["t"].partitions
        if index not in partitions:
            return [], [], -1
        return list(partitions[index].replicas), sorted(partitions[index].isrs), partitions[index].leader

    def becomes(self, replicas: list[int], isr: list[int], leader: int, index: int = 0) -> None:
        eventually(
            lambda: self.partition(index) == (replicas, isr, leader),
            f"partition {index} has the replicas {replicas}, those in sync {isr}, and is led by {leader}",
            within=2 * LIMIT,
        )

    def move(self, replicas: list[int]) -> None:
        ask(lambda client: client.alter_partition_reassignments({MOVED: replicas}))

    def moving(self) -> dict[TopicPartition, dict[str, list[int]]]:
        return ask(lambda client: client.list_partition_reassignments())


def test_partitions_are_added_moved_and_led_as_clients_ask_for_it(
    cluster: ProcessCluster | ZkCluster | LeaderDrivenCluster,
) -> None:
    admin = Administrator()
    admin.create([4, 5])
    producing = Producing("t", at())
    producing.send(RECORDS)
    producing.flush()

    admin.move([6, 5])
    admin.becomes([6, 5], [5, 6], 6)
    eventually(lambda: not admin.moving(), "nothing moves any more")
    assert consume(at(), "t", RECORDS) == producing.sent

    ask(lambda client: client.create_partitions({"t": {"count": 3, "assignments": [[4, 6], [5, 4]]}}))
    admin.becomes([4, 6], [4, 6], 4, index=1)
    admin.becomes([5, 4], [4, 5], 5, index=2)

    preferred = brokers_of(cluster)[6]
    preferred.signal(signal.SIGTERM)
    preferred.exit_code()
    eventually(lambda: admin.partition()[2] == 5, "5 leads while 6 is away")
    preferred.start()
    admin.becomes([6, 5], [5, 6], 5)
    ask(lambda client: client.elect_leaders(PREFERRED, {"t": [0]}, raise_errors=False))
    admin.becomes([6, 5], [5, 6], 6)


@pytest.mark.requirement("K631-63", "D631-70")
def test_a_reassignment_survives_the_active_controller_and_the_death_of_a_target(tmp_path: Path) -> None:
    # The target stays registered while it is stopped, however long the client takes on a busy machine.
    with processes.running(tmp_path, **{"registration.lease.timeout.ms": "180000"}) as cluster:
        admin = Administrator()
        admin.create([4, 5])
        producing = Producing("t", at(4, 5))
        producing.send(RECORDS)
        producing.flush()
        first, dies = cluster.active_controller(), cluster.brokers[6]
        dies.signal(signal.SIGSTOP)
        admin.move([6, 5])
        eventually(lambda: admin.partition()[0] == [6, 5, 4], "the reassignment has begun")
        cluster.controllers[first].signal(signal.SIGKILL)
        dies.signal(signal.SIGKILL)
        dies.exit_code()
        cluster.controllers[first].exit_code()
        eventually(
            lambda: any(admin.moving().get(MOVED, {}).get("adding_replicas", [])), "another controller lists the move"
        )
        producing.send(RECORDS)
        producing.flush()
        assert admin.partition()[0] == [6, 5, 4], "no replica goes before the new one is in sync"
        dies.start()
        admin.becomes([6, 5], [5, 6], 6)
        eventually(lambda: not (tmp_path / "data-4" / "t-0").exists(), "4 has deleted its replica")
        assert consume(at(5, 6), "t", 2 * RECORDS) == producing.sent
