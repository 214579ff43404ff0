"""The observer journals each change once, and wakes threads that wait for it."""

from __future__ import annotations

import io
import socket
import struct
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from kio.schema.errors import ErrorCode
from kio.schema.metadata.v12.response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kio.schema.response_header.v1.header import ResponseHeader
from kio.schema.types import BrokerId, TopicName
from kio.serial import entity_writer
from kio.static.primitive import i32, i32Timedelta

from fencepost.harness.clients.observer import ObservedNode, Observer, controllers_by_id
from fencepost.harness.clients.views import Answer, BrokerView
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.plan.dialect import Dialect
from fencepost.results.records.events import Event
from fencepost.results.records.journal import JournalWriter, read_journal
from tests.harness.clients.offering import asks_for_versions, offering

SOON = 30.0


class Broker:
    """Offers Metadata, and answers with `leader` of t-0 and itself as the only broker; None: hangs up."""

    def __init__(self) -> None:
        self.leader: int | None = 4
        self._listening = socket.create_server(("127.0.0.1", 0))
        host, port = self._listening.getsockname()
        self.endpoint = Endpoint(host, port)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection:
                while request := connection.recv(4096):
                    if self.leader is None:
                        break
                    (correlation_id,) = struct.unpack_from(">i", request, 8)
                    if asks_for_versions(request):
                        connection.sendall(offering(correlation_id, {3: (0, 12)}))
                    else:
                        connection.sendall(answer(correlation_id, self.leader))


def answer(correlation_id: int, leader: int) -> bytes:
    partition = MetadataResponsePartition(
        error_code=ErrorCode.none,
        partition_index=i32(0),
        leader_id=BrokerId(leader),
        leader_epoch=i32(3),
        replica_nodes=(BrokerId(4), BrokerId(5)),
        isr_nodes=(BrokerId(4), BrokerId(5)),
        offline_replicas=(),
    )
    response = MetadataResponse(
        throttle_time=i32Timedelta.parse(timedelta()),
        brokers=(MetadataResponseBroker(node_id=BrokerId(4), host="node-4", port=i32(9092), rack=None),),
        cluster_id="c",
        controller_id=BrokerId(4),
        topics=(
            MetadataResponseTopic(
                error_code=ErrorCode.none, name=TopicName("t"), topic_id=None, partitions=(partition,)
            ),
        ),
    )
    out = io.BytesIO()
    entity_writer(ResponseHeader)(out, ResponseHeader(correlation_id=i32(correlation_id)))
    entity_writer(MetadataResponse)(out, response)
    return struct.pack(">i", len(out.getvalue())) + out.getvalue()


@pytest.fixture
def broker() -> Iterator[Broker]:
    broker = Broker()
    yield broker
    broker.close()


def states(path: Path, what: str) -> list[Event]:
    return [event for event in read_journal(path).of("state") if event.data["what"] == what]


def test_changes_are_journalled_once_and_wake_waiting_threads(broker: Broker, tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "journal.jsonl")
    nodes = (ObservedNode("node-4", 4, broker.endpoint, is_controller=False),)
    with Observer(nodes, Dialect.KIP_631, journal) as observer:

        def view() -> BrokerView:
            return observer.now.brokers.get("node-4", BrokerView())

        def leads(id: int) -> bool:
            return "t-0" in view().partitions and view().partitions["t-0"].leader == id

        assert observer.wait(lambda: leads(4), time.monotonic() + SOON)
        broker.leader = 5
        assert observer.wait(lambda: leads(5), time.monotonic() + SOON)
        assert view().answer is Answer.SERVING
        broker.leader = None
        assert observer.wait(lambda: view().answer is Answer.CLOSED, time.monotonic() + SOON)
        assert view().partitions == {}
    assert [event.data["state"] for event in states(journal.path, "answer")] == ["serving", "closed"]
    assert [event.data["leader"] for event in states(journal.path, "partition")] == [4, 5]
    assert {event.node for event in states(journal.path, "partition")} == {"node-4"}


def test_waiting_ends_at_its_deadline(tmp_path: Path) -> None:
    with Observer((), Dialect.KIP_631, JournalWriter(tmp_path / "journal.jsonl")) as observer:
        assert observer.wait(lambda: True, deadline=0.0)
        assert not observer.wait(lambda: False, deadline=0.0)


def test_no_thread_waits_for_an_observer_that_failed(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr("fencepost.harness.clients.observer.ask_metadata", fail)
    journal = JournalWriter(tmp_path / "journal.jsonl")
    nodes = (ObservedNode("node-4", 4, broker.endpoint, is_controller=False),)
    with (
        Observer(nodes, Dialect.KIP_631, journal) as observer,
        pytest.raises(InfrastructureError, match="watching the cluster failed"),
    ):
        observer.wait(lambda: False, time.monotonic() + SOON)
    assert any(event.data["what"] == "infrastructure" for event in read_journal(journal.path).of("note"))


def test_the_id_of_a_leader_never_names_a_second_process_for_it() -> None:
    at = Endpoint("127.0.0.1", 1)
    nodes = [
        ObservedNode("node-1b", 1, at, is_controller=True, is_duplicate=True),
        ObservedNode("node-1", 1, at, is_controller=True),
        ObservedNode("node-2b", 1, at, is_controller=True, is_duplicate=True),
        ObservedNode("node-4", 4, at, is_controller=False),
    ]
    assert controllers_by_id(nodes) == {1: "node-1"}
