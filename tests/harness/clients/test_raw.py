"""One question, one answer, or the one way in which there was none."""

from __future__ import annotations

import io
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from kio.schema.errors import ErrorCode
from kio.schema.response_header.v1.header import ResponseHeader
from kio.serial import entity_writer
from kio.static.primitive import i8, i16, i32, i32Timedelta, i64

from fencepost.cluster_impl.wire import messages as m
from fencepost.harness.clients.raw import Closed, NotOffered, RawConnection, Unanswered, Unreadable
from fencepost.harness.plan.requests.heartbeat import DraftBrokerState
from fencepost.harness.wire.entities import entity, own_module
from fencepost.harness.wire.no_answer import NotReached
from tests.harness.clients.offering import offering

DRAFTED = own_module(50, 0)
HEARTBEAT = DRAFTED.BrokerHeartbeatRequest(
    target_state=i8(DraftBrokerState.ACTIVE),
    broker_id=i32(4),
    broker_epoch=i64(17),
    lease_start_time_ms=i64(1000),
    cur_metadata_offset=i64(42),
    listeners=(),
)
ANSWER = DRAFTED.BrokerHeartbeatResponse(
    throttle_time=i32Timedelta.parse(timedelta(0)),
    error_code=ErrorCode.stale_broker_epoch,
    active_controller_id=i32(1),
    next_state=i8(DraftBrokerState.FENCED),
    broker_epoch=i64(-1),
    lease_end_time_ms=i64(2500),
)


FIRST = 2
"""The correlation id of the first request after ApiVersions."""
OFFERED = {int(HEARTBEAT.__api_key__): (0, 0)}


def framed(correlation_id: int) -> bytes:
    out = io.BytesIO()
    entity_writer(ResponseHeader)(out, ResponseHeader(correlation_id=i32(correlation_id)))
    entity_writer(DRAFTED.BrokerHeartbeatResponse)(out, ANSWER)
    return struct.pack(">i", len(out.getvalue())) + out.getvalue()


@contextmanager
def server(
    behave: Callable[[socket.socket], None], offered: Mapping[int, tuple[int, int]] = OFFERED
) -> Iterator[RawConnection]:
    """A connection to a server of one connection that says what it takes, and behaves so once a request is there."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(offering(1, offered))
                connection.recv(4096)
                behave(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        host, port = listening.getsockname()
        with RawConnection(host, port, timeout=0.3) as raw:
            yield raw
        thread.join()


def test_an_answer_is_read_even_in_pieces() -> None:
    def slowly(connection: socket.socket) -> None:
        for byte in framed(FIRST):
            connection.sendall(bytes([byte]))

    with server(slowly) as raw:
        assert raw.call(HEARTBEAT, DRAFTED.BrokerHeartbeatResponse) == ANSWER


def test_silence_ends_the_connection_so_that_a_late_answer_is_nobodys() -> None:
    with server(lambda connection: void(connection.recv(1))) as raw:
        with pytest.raises(Unanswered, match="did not answer in time"):
            raw.call(HEARTBEAT, DRAFTED.BrokerHeartbeatResponse)
        with pytest.raises(Closed):
            raw.call(HEARTBEAT, DRAFTED.BrokerHeartbeatResponse)


def test_an_end_in_place_of_an_answer() -> None:
    with (
        server(lambda connection: connection.sendall(framed(FIRST)[:9])) as raw,
        pytest.raises(Closed, match="closed the connection"),
    ):
        raw.call(HEARTBEAT, DRAFTED.BrokerHeartbeatResponse)


def test_an_answer_to_another_question_is_not_taken() -> None:
    with (
        server(lambda connection: connection.sendall(framed(FIRST + 1))) as raw,
        pytest.raises(Unreadable, match=f"correlation id {FIRST + 1}"),
    ):
        raw.call(HEARTBEAT, DRAFTED.BrokerHeartbeatResponse)


def test_a_request_that_the_node_does_not_have_is_not_sent() -> None:
    with (
        server(lambda connection: void(connection.recv(1)), offered={3: (0, 7)}) as raw,
        pytest.raises(NotOffered, match="has no request BrokerHeartbeat; version 0 is needed"),
    ):
        raw.call(HEARTBEAT, DRAFTED.BrokerHeartbeatResponse)


def test_no_listener() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        host, port = listening.getsockname()
    with pytest.raises(NotReached, match="refused the connection"):
        RawConnection(host, port, timeout=1)


def test_a_connection_that_ends_before_the_first_byte_shows_no_node() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        host, port = listening.getsockname()
        with RawConnection(host, port, timeout=1) as raw:
            listening.accept()[0].close()
            with pytest.raises(NotReached, match="closed the connection"):
                raw.call(HEARTBEAT, DRAFTED.BrokerHeartbeatResponse)


def test_the_drafts_heartbeat_is_what_the_reference_cluster_reads() -> None:
    out = io.BytesIO()
    listener = DRAFTED.request.Listener(name="INTERNAL", host="node-4", port=i16(9090))
    entity_writer(DRAFTED.BrokerHeartbeatRequest)(out, replace(HEARTBEAT, listeners=(listener,)))
    read = m.BrokerHeartbeatRequest.decode(out.getvalue(), 0)
    assert (read.target_state, read.broker_id, read.broker_epoch, read.cur_metadata_offset) == (3, 4, 17, 42)
    assert [(each.name, each.host, each.port) for each in read.listeners] == [("INTERNAL", "node-4", 9090)]


def test_the_drafts_isr_change_is_what_the_reference_cluster_reads() -> None:
    change = {"partition_index": 0, "leader_epoch": 5, "new_isr": [4, 5], "current_isr_version": 5}
    body = {"broker_id": 4, "broker_epoch": 17, "topics": [{"name": "t", "partitions": [change]}]}
    out = io.BytesIO()
    request = entity(own_module(56, 0).AlterIsrRequest, body)
    entity_writer(type(request))(out, request)
    read = m.AlterIsrRequest.decode(out.getvalue(), 0)
    partition = read.topics[0].partitions[0]
    assert (read.broker_epoch, read.topics[0].name) == (17, "t")
    assert (partition.leader_epoch, list(partition.new_isr), partition.current_isr_version) == (5, [4, 5], 5)


def void(_: object) -> None:
    """For lambdas that must give nothing back."""
