"""The tree is read as Kafka writes it, at a server that answers; nothing that goes wrong is taken for news."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient

from fencepost.harness.clients.observer import ObservedNode, Observer
from fencepost.harness.clients.views import Answer
from fencepost.harness.clients.zookeeper.connection import ZooKeeperConnection
from fencepost.harness.clients.zookeeper.reading import read_tree
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.plan.dialect import Dialect
from fencepost.results.records.journal import JournalWriter, read_journal
from tests.cluster_impl.zookeeper import CLIENT_PORT, Ensemble, ZooKeeperServer, ensemble

pytestmark = pytest.mark.integration
SOON = 30.0


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ensemble]:
    with ensemble(tmp_path_factory.mktemp("ensemble"), size=3) as servers:
        yield servers


@pytest.fixture
def writer(three: Ensemble) -> Iterator[KazooClient]:
    """Not at the server that observers follow first."""
    client = KazooClient(",".join(server.connect for server in three.servers[1:]), timeout=10)
    client.start(timeout=SOON)
    for path in ("/brokers", "/controller", "/controller_epoch", "/admin"):
        client.delete(path, recursive=True)
    yield client
    client.stop()
    client.close()


def endpoint(server: ZooKeeperServer) -> Endpoint:
    return Endpoint(server.address, CLIENT_PORT)


def answer_of(observer: Observer, name: str) -> Answer | None:
    """Return how a server answered last; None if it was not asked yet."""
    server = observer.now.servers.get(name)
    return server.answer if server else None


def write(client: KazooClient, path: str, value: Any) -> None:
    data = json.dumps(value).encode()
    if client.exists(path):
        client.set(path, data)
    else:
        client.create(path, data, makepath=True)


def elect(client: KazooClient, broker: int, epoch: int) -> None:
    """Both in one transaction, as Kafka does it."""
    if not client.exists("/controller_epoch"):
        client.create("/controller_epoch", b"0")
    change = client.transaction()
    if client.exists("/controller"):
        change.delete("/controller")
    change.create("/controller", json.dumps({"version": 2, "brokerid": broker, "timestamp": "1"}).encode())
    change.set_data("/controller_epoch", str(epoch).encode())
    change.commit()


def register(client: KazooClient, broker: int, host: str, version: int = 5) -> int:
    fields = {"version": version, "host": None, "port": -1, "endpoints": [f"INTERNAL://{host}:9090"]}
    path = f"/brokers/ids/{broker}"
    write(client, path, fields)
    return int(client.exists(path).czxid)


def create_topic(client: KazooClient, name: str, leader: int, epoch: int, isr: list[int]) -> None:
    id = "AAAAAAAAAAAAAAAAAAAAKg"
    write(client, f"/brokers/topics/{name}", {"version": 3, "topic_id": id, "partitions": {"0": [4, 5]}})
    state = {"controller_epoch": 1, "leader": leader, "version": 1, "leader_epoch": epoch, "isr": isr}
    write(client, f"/brokers/topics/{name}/partitions/0/state", state)


def watched(three: Ensemble) -> tuple[ObservedNode, ...]:
    """The servers, and brokers without a process."""
    servers = [ObservedNode(f"zk-{s.id}", s.id, endpoint(s), False, is_zookeeper=True) for s in three.servers]
    brokers = [ObservedNode(f"node-{id}", id, Endpoint("127.252.251.1", 9), False) for id in (4, 5)]
    return (*servers, *brokers)


def test_the_tree_is_read_as_of_one_transaction(three: Ensemble, writer: KazooClient) -> None:
    czxid = register(writer, 4, "node-4")
    create_topic(writer, "t", 4, 3, [4, 5])
    elect(writer, 4, 7)
    with ZooKeeperConnection(endpoint(three.leader()), 2.0) as connection:
        connection.catch_up()
        tree = read_tree(connection, ["/brokers/ids/4", "/nowhere"])
    assert tree.whole
    assert tree.claim is not None
    assert (tree.claim.broker, tree.claim.epoch) == (4, 7)
    assert (tree.image.brokers[4].epoch, tree.image.brokers[4].version) == (czxid, 5)
    entry = tree.image.partitions["t-0"]
    assert (entry.leader, entry.leader_epoch, entry.isr, entry.replicas, entry.version) == (4, 3, (4, 5), (4, 5), 0)
    topic_id = tree.image.topic_id("t")
    assert topic_id is not None
    assert topic_id.int == 42
    assert tree.znodes["/nowhere"] is None
    assert (known := tree.znodes["/brokers/ids/4"]) is not None
    assert "node-4" in known.text


def test_what_is_not_kafkas_is_named(three: Ensemble, writer: KazooClient) -> None:
    writer.create("/brokers/topics/odd", b"{", makepath=True)
    writer.create("/admin/delete_topics/t", b"", makepath=True)
    with ZooKeeperConnection(endpoint(three.leader()), 2.0) as connection:
        connection.catch_up()
        tree = read_tree(connection, [])
    assert tree.malformed == ("/brokers/topics/odd",)
    assert tree.pending == ("/admin/delete_topics/t",)


def test_a_holder_that_has_not_raised_the_epoch_is_not_the_controller(three: Ensemble, writer: KazooClient) -> None:
    elect(writer, 4, 1)
    writer.delete("/controller")
    writer.create("/controller", json.dumps({"version": 2, "brokerid": 5}).encode())
    with ZooKeeperConnection(endpoint(three.leader()), 2.0) as connection:
        connection.catch_up()
        assert read_tree(connection, []).claim is None
        writer.set("/controller_epoch", b"2")
        connection.catch_up()
        claim = read_tree(connection, []).claim
    assert claim is not None
    assert (claim.broker, claim.epoch) == (5, 2)


def test_each_change_is_journalled(three: Ensemble, writer: KazooClient, tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "journal.jsonl")
    with Observer(watched(three), Dialect.ZOOKEEPER, journal) as observer:

        def until(condition: Any) -> None:
            assert observer.wait(condition, time.monotonic() + SOON), observer.now

        until(lambda: any(server.leads for server in observer.now.servers.values()))
        first = register(writer, 4, "node-4")
        elect(writer, 4, 1)
        create_topic(writer, "t", 4, 0, [4, 5])
        until(lambda: "node-4" in observer.now.controllers and "t-0" in observer.now.image.partitions)
        until(lambda: observer.now.image.partitions["t-0"].leader_epoch == 0)
        create_topic(writer, "t", 5, 1, [5])
        writer.delete("/brokers/ids/4")
        writer.delete("/controller")
        until(lambda: not observer.now.controllers and observer.now.image.partitions["t-0"].leader == 5)
        assert observer.now.image.brokers[4].state == "gone"
        second = register(writer, 4, "node-4")
        writer.delete("/brokers/topics", recursive=True)
        until(lambda: observer.now.image.brokers[4].epoch == second and not observer.now.image.partitions)
        observer.want("/admin/x")
        until(lambda: observer.now.znodes.get("/admin/x", 0) is None)
    seen = [event.data for event in read_journal(journal.path).of("state") if event.node is None]
    brokers = [(data["state"], data["epoch"]) for data in seen if data["what"] == "broker"]
    assert brokers == [("registered", first), ("gone", first), ("registered", second)]
    assert [(data["active"], data["epoch"]) for data in seen if data["what"] == "controller"] == [(4, 1), (-1, 1)]
    epochs = [data["leader_epoch"] for data in seen if data["what"] == "partition"]
    assert epochs == [0, 1]
    assert [data["topic"] for data in seen if data["what"] == "partition-gone"] == ["t"]


def test_of_two_processes_with_one_id_the_session_tells_which_is_the_controller(
    three: Ensemble, writer: KazooClient, tmp_path: Path
) -> None:
    other = KazooClient(three.servers[1].connect, timeout=10)
    other.start(timeout=SOON)
    registration = json.dumps({"version": 5, "endpoints": ["INTERNAL://node-4b:9090"]}).encode()
    nodes = (*watched(three), ObservedNode("node-4b", 4, Endpoint("127.252.251.1", 9), False))
    with Observer(nodes, Dialect.ZOOKEEPER, JournalWriter(tmp_path / "journal.jsonl")) as observer:
        writer.create("/controller", json.dumps({"brokerid": 4}).encode(), ephemeral=True)
        writer.create("/controller_epoch", b"1")
        other.create("/brokers/ids/4", registration, ephemeral=True, makepath=True)
        assert observer.wait(lambda: 4 in observer.now.image.brokers, time.monotonic() + SOON)
        assert observer.wait(lambda: set(observer.now.controllers) == {"node-4"}, time.monotonic() + SOON)
        writer.delete("/controller")
        other.create("/controller", json.dumps({"brokerid": 4}).encode(), ephemeral=True)
        writer.set("/controller_epoch", b"2")
        assert observer.wait(lambda: set(observer.now.controllers) == {"node-4b"}, time.monotonic() + SOON)
    other.stop()


def test_another_server_is_followed_when_one_is_silent(three: Ensemble, writer: KazooClient, tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "journal.jsonl")
    with Observer(watched(three), Dialect.ZOOKEEPER, journal) as observer:
        assert observer.wait(lambda: observer.now.image.offset > 0, time.monotonic() + SOON)
        first = three.servers[0]
        first.signal(signal.SIGSTOP)
        try:
            assert observer.wait(lambda: answer_of(observer, "zk-1") is Answer.SILENT, time.monotonic() + SOON)
            czxid = register(writer, 5, "node-5")
            assert observer.catch_up([], time.monotonic() + SOON)
            assert observer.now.image.brokers[5].epoch == czxid
            assert observer.now.news
        finally:
            first.signal(signal.SIGCONT)


def test_without_a_quorum_there_is_no_news_and_no_controller(
    three: Ensemble, writer: KazooClient, tmp_path: Path
) -> None:
    elect(writer, 4, 1)
    journal = JournalWriter(tmp_path / "journal.jsonl")
    with Observer(watched(three), Dialect.ZOOKEEPER, journal) as observer:
        assert observer.wait(lambda: "node-4" in observer.now.controllers, time.monotonic() + SOON)
        for server in three.servers[1:]:
            server.signal(signal.SIGSTOP)
        try:
            assert observer.wait(lambda: not observer.now.news, time.monotonic() + SOON)
            assert observer.now.controllers == {}
            assert observer.wait(lambda: answer_of(observer, "zk-1") is Answer.REFUSING, time.monotonic() + SOON)
        finally:
            for server in three.servers[1:]:
                server.signal(signal.SIGCONT)
        assert observer.wait(lambda: "node-4" in observer.now.controllers, time.monotonic() + SOON)
    seen = [event.data for event in read_journal(journal.path).of("state") if event.node is None]
    assert [data["answers"] for data in seen if data["what"] == "ensemble"] == [False, True]
    assert {data["active"] for data in seen if data["what"] == "controller"} == {4}
