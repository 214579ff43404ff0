"""Logs in at the listener of a real node's server, which asks for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from kio.schema.errors import ErrorCode
from kio.schema.metadata.v11 import MetadataRequest, MetadataResponse

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.registry import KAFKA
from fencepost.cluster_impl.wire.sasl import PlainUsers
from fencepost.cluster_impl.wire.server import Request, Server
from fencepost.harness.clients.login import Access, Credentials, connect, log_in
from fencepost.harness.clients.raw import Closed, RawConnection
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.wire.no_answer import Refused


def handshake(request: Request) -> Message:
    return m.MetadataResponse(cluster_id=request.principal)


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a listener that knows alice."""
    loop = asyncio.new_event_loop()
    server = Server(KAFKA, {3: handshake})
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    users = PlainUsers({"alice": "hers"})
    yield asyncio.run_coroutine_threadsafe(server.listen("127.0.0.1", 0, "INTERNAL", users), loop).result(10)
    asyncio.run_coroutine_threadsafe(server.close(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def ask(connection: RawConnection) -> str | None:
    return connection.call(
        MetadataRequest(topics=None, include_topic_authorized_operations=False), MetadataResponse
    ).cluster_id


def test_after_a_login_questions_are_answered_in_the_users_name(port: int) -> None:
    with RawConnection("127.0.0.1", port, 5.0) as connection:
        assert log_in(connection, Credentials("alice", "hers")) is ErrorCode.none
        assert ask(connection) == "User:alice"


def test_a_connection_with_credentials_is_logged_in_or_refused_with_the_user_and_the_error(port: int) -> None:
    at = Endpoint("127.0.0.1", port)
    with connect(at, 5.0, Access(Credentials("alice", "hers"))) as connection:
        assert ask(connection) == "User:alice"
    with pytest.raises(Refused, match="does not let alice log in: sasl_authentication_failed"):
        connect(at, 5.0, Access(Credentials("alice", "his")))


def test_a_wrong_password_is_reported(port: int) -> None:
    with RawConnection("127.0.0.1", port, 5.0) as connection:
        assert log_in(connection, Credentials("alice", "his")) is ErrorCode.sasl_authentication_failed


def test_without_a_login_the_connection_ends(port: int) -> None:
    with RawConnection("127.0.0.1", port, 5.0) as connection, pytest.raises(Closed):
        ask(connection)
