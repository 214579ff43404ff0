"""The tree of a cluster without controllers: what its znodes mean, and that nothing which changes is missed."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient

from fencepost.harness.clients.metadata.image import PartitionEntry
from fencepost.harness.clients.observer import ObservedNode, Observer
from fencepost.harness.clients.zookeeper.connection import Znode, ZooKeeperConnection
from fencepost.harness.clients.zookeeper.leaderless import (
    TOPICS,
    WatchedTree,
    decode_broker,
    decode_partition,
    partition_paths,
    prepare_topics,
    topic_id,
)
from fencepost.harness.clients.zookeeper.tree import MalformedZnode, Tree
from fencepost.harness.clients.zookeeper.watches import count_watches
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import TopicSpec
from fencepost.results.records.journal import JournalWriter, read_journal
from tests.cluster_impl.zookeeper import CLIENT_PORT, Ensemble, ensemble

SOON = 30.0
LONG = 60.0


def znode(value: Any, version: int = 0, mzxid: int = 9) -> Znode:
    return Znode(json.dumps(value).encode(), 3, mzxid, version)


REPLICAS, LEADER, ISR = znode([4, 5]), znode({"broker": 4, "epoch": 3}), znode({"isr": [4, 5], "epoch": 3}, version=7)


def entry(
    replicas: Znode | None = REPLICAS,
    leader: Znode | None = LEADER,
    isr: Znode | None = ISR,
    moving: Znode | None = None,
) -> PartitionEntry:
    found = decode_partition("t", 0, replicas, leader, isr, moving)
    assert found is not None
    return found


def test_the_leader_its_epoch_and_the_isr() -> None:
    assert entry() == PartitionEntry("t", 0, (4, 5), (4, 5), 4, 3, version=7, offset=9)


@pytest.mark.parametrize(
    ("leader", "isr"),
    [
        (None, ISR),
        (znode({"broker": 5, "epoch": -1}), ISR),
        (znode({"broker": 5, "epoch": -1}), znode({"isr": [4, 5], "epoch": 4})),
        (znode({"broker": 5, "epoch": 4}), ISR),
        (znode({"broker": 4, "epoch": 0}), znode({"isr": [], "epoch": 0})),
    ],
)
def test_a_leader_counts_only_when_both_znodes_have_its_epoch_and_an_isr(leader: Znode | None, isr: Znode) -> None:
    assert entry(leader=leader, isr=isr).leader == -1


def test_a_leader_outside_the_isr_is_shown_as_it_is() -> None:
    outside = entry(leader=znode({"broker": 5, "epoch": 3}), isr=znode({"isr": [4], "epoch": 3}))
    assert (outside.leader, outside.isr) == (5, (4,))


def test_replicas_that_are_to_come_stand_behind_those_that_are_there() -> None:
    moving = entry(moving=znode([6, 5]))
    assert (moving.replicas, moving.adding, moving.removing) == ((4, 5, 6), (6,), (4,))


def test_a_partition_that_is_being_added_has_the_replicas_that_it_is_to_have() -> None:
    new = entry(replicas=None, leader=None, isr=None, moving=znode([6, 5]))
    assert (new.replicas, new.leader, new.leader_epoch, new.adding) == ((6, 5), -1, -1, ())


def test_without_replicas_there_is_no_partition() -> None:
    assert decode_partition("t", 0, None, None, ISR, None) is None
    assert decode_partition("t", 0, None, None, ISR, znode([])) is None
    assert entry(moving=znode([])).replicas == (4, 5)


def test_what_is_not_of_the_design_is_not_guessed_at() -> None:
    with pytest.raises(MalformedZnode):
        entry(leader=Znode(b"4", 1, 1, 0))
    with pytest.raises(MalformedZnode):
        entry(replicas=znode({"4": 5}))


def test_a_registered_broker_is_active_at_the_transaction_that_registered_it() -> None:
    broker = decode_broker(4, znode({"endpoints": ["INTERNAL://node-4b:9090"], "timestamp": "1"}))
    assert (broker.epoch, broker.state) == (3, "active")
    assert broker.process({"node-4": 4, "node-4b": 4}) == "node-4b"


def test_a_topic_is_known_by_its_name_and_the_transaction_that_made_it() -> None:
    assert topic_id("t", znode({})) == uuid.UUID("e3b98a4d-a31a-127d-0000-000000000003")


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ensemble]:
    with ensemble(tmp_path_factory.mktemp("ensemble"), size=3) as servers:
        yield servers


@pytest.fixture
def writer(three: Ensemble) -> Iterator[KazooClient]:
    """Not at the server that observers follow first."""
    client = KazooClient(",".join(server.connect for server in three.servers[1:]), timeout=10)
    client.start(timeout=SOON)
    client.delete("/brokers", recursive=True)
    for folder in ("ids", "topics", "partitions_reassigned", "state/4", "admin", "claims"):
        client.ensure_path(f"/brokers/{folder}")
    yield client
    client.stop()
    client.close()


def endpoints(three: Ensemble) -> list[Endpoint]:
    return [Endpoint(server.address, CLIENT_PORT) for server in three.servers]


def put(client: KazooClient, path: str, value: Any, ephemeral: bool = False) -> None:
    data = json.dumps(value).encode()
    if client.exists(path):
        client.set(path, data)
    else:
        client.create(path, data, makepath=True, ephemeral=ephemeral)


def led_in(observer: Observer, partition: str) -> tuple[int, int]:
    """The leader and its epoch, as they were read; between the writes of one change the leader is -1."""
    now = observer.now.image.partitions[partition]
    return now.leader, now.leader_epoch


def partition(client: KazooClient, topic: str, epoch: int, isr: list[int]) -> None:
    put(client, f"/brokers/topics/{topic}/0/replicas", [4, 5])
    put(client, f"/brokers/topics/{topic}/0/ISR", {"isr": isr, "epoch": epoch})
    put(client, f"/brokers/topics/{topic}/0/leader", {"broker": isr[0], "epoch": epoch}, ephemeral=True)


@pytest.mark.integration
def test_what_was_read_by_changes_is_what_is_there(three: Ensemble, writer: KazooClient) -> None:
    followed = WatchedTree()
    partition(writer, "before", 0, [4, 5])
    with ZooKeeperConnection(endpoints(three)[0], 5.0) as connection:

        def read(tree: WatchedTree = followed) -> Tree:
            connection.catch_up()
            return tree(connection, ["/brokers/claims/4"])

        assert list(read().image.partitions) == ["before-0"]
        put(writer, "/brokers/ids/4", {"endpoints": ["INTERNAL://node-4:9090"]}, ephemeral=True)
        partition(writer, "t", 1, [4])
        partition(writer, "t", 2, [4, 5])
        put(writer, "/brokers/partitions_reassigned/t/0", [5, 6])
        put(writer, "/brokers/partitions_reassigned/new/3", [5])
        put(writer, "/brokers/admin/t", {}, ephemeral=True)
        put(writer, "/brokers/claims/4", {"pid": 1}, ephemeral=True)
        writer.create("/brokers/state/4/request-", b"{}", sequence=True)
        first = read()
        assert first.queues == {4: 1}
        assert (known := first.znodes["/brokers/claims/4"]) is not None
        assert known.text == '{"pid": 1}'
        assert first.pending == (
            "/brokers/partitions_reassigned/new/3",
            "/brokers/partitions_reassigned/t/0",
            "/brokers/admin/t",
            "/brokers/state/4/request-0000000000",
        )
        assert (first.image.partitions["t-0"].leader_epoch, first.image.partitions["new-3"].replicas) == (2, (5,))
        for path in ("ids/4", "partitions_reassigned/t", "partitions_reassigned/new", "admin/t", "topics/before"):
            writer.delete(f"/brokers/{path}", recursive=True)
        writer.delete("/brokers/topics/t/0/leader")
        writer.delete("/brokers/state/4/request-0000000000")
        writer.delete("/brokers/claims/4")
        last = read()
    assert (last.pending, last.queues, last.image.brokers) == ((), {4: 0}, {})
    assert {name: each.leader for name, each in last.image.partitions.items()} == {"t-0": -1}
    assert set(last.image.topics.values()) == {"t"}
    with ZooKeeperConnection(endpoints(three)[0], 5.0) as connection:
        anew = read(WatchedTree())
    assert (anew.image.partitions, anew.image.topics) == (last.image.partitions, last.image.topics)


@pytest.mark.integration
def test_of_thousands_of_partitions_only_what_changes_is_read_anew(
    three: Ensemble, writer: KazooClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics = [TopicSpec(name=f"t-{number}", assignments=((4,), (5,), (6,)), prepared=True) for number in range(1000)]
    prepare_topics(topics, three.servers[0].connect, 60.0)
    nodes = tuple(
        ObservedNode(f"zk-{n}", n, each, False, is_zookeeper=True) for n, each in enumerate(endpoints(three), 1)
    )
    journal = JournalWriter(tmp_path / "journal.jsonl")
    read: set[str] = set()
    get = ZooKeeperConnection.get

    def noted(connection: ZooKeeperConnection, paths: Sequence[str]) -> list[Znode | None]:
        read.update(path for path in paths if path.startswith(f"{TOPICS}/"))
        return get(connection, paths)

    monkeypatch.setattr(ZooKeeperConnection, "get", noted)
    monkeypatch.setattr("fencepost.harness.clients.zookeeper.follower.SILENT_AFTER", LONG)  # else all is read anew
    with Observer(nodes, Dialect.LEADER_DRIVEN, journal) as observer:
        assert observer.wait(lambda: len(observer.now.image.partitions) == 3000, time.monotonic() + LONG)
        assert len(read) > 3000
        read.clear()
        for epoch in range(20):
            partition(writer, "t-500", epoch, [4, 5])
            assert observer.wait(
                lambda: led_in(observer, "t-500-0") == (4, epoch),  # noqa: B023  # called here
                time.monotonic() + LONG,
            )
        counts = count_watches(endpoints(three), LONG)
    assert read <= set(partition_paths("t-500", 0))
    assert counts is not None
    assert counts.any == 0
    seen = [event.data for event in read_journal(journal.path).of("state") if event.node is None]
    led = [data["leader_epoch"] for data in seen if data["what"] == "partition" and data["leader"] == 4]
    assert led == sorted(led)
    assert set(led) == set(range(20))
