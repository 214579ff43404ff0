"""Single messages through a real Toxiproxy, between a client and a server of raw sockets: their fate, counted."""

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress

import pytest

from fencepost.faults.capabilities import CapabilityError, Fate, MessageCounts, MessageRule, Part
from fencepost.harness.network.addresses import PEER_PORT, Addresses
from fencepost.harness.network.layout import Layout, Node, Role, site_names
from fencepost.harness.network.messages import ToxiproxyMessages
from fencepost.harness.network.server import without_messages
from fencepost.harness.network.toxiproxy import Toxiproxy
from tests.waiting import eventually

pytestmark = pytest.mark.integration

A, B = "node-1", "node-2"
SOON, AT_ONCE = 10.0, 0.15
PRODUCE, FETCH, SASL_HANDSHAKE = 0, 1, 17


def request(correlation: int, key: int = PRODUCE, version: int = 9, body: bytes = b"body") -> bytes:
    return struct.pack(">ihhi", 8 + len(body), key, version, correlation) + body


def answer(correlation: int) -> bytes:
    return struct.pack(">ii", 4, correlation)


class Server:
    """Answers each request, so long as it is to, and keeps the bytes that it got."""

    def __init__(self, address: str) -> None:
        self.received = b""
        self.connections: list[socket.socket] = []
        self._listener = socket.create_server((address, PEER_PORT))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections.append(connection)
                threading.Thread(target=self._answer, args=[connection], daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        unread = b""
        with suppress(OSError), connection:
            while part := connection.recv(1 << 16):
                self.received += part
                unread += part
                while len(unread) >= 12 and len(unread) >= (end := 4 + struct.unpack_from(">i", unread)[0]):
                    connection.sendall(struct.pack(">i", 4) + unread[8:12])
                    unread = unread[end:]

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def layout(addresses: Addresses) -> Layout:
    nodes = (
        Node(A, 1, 1, frozenset({Role.CONTROLLER}), addresses.node(1)),
        Node(B, 2, 2, frozenset({Role.CONTROLLER}), addresses.node(2)),
        Node("node-3", 3, 3, frozenset({Role.ZOOKEEPER}), addresses.node(3)),
    )
    return Layout(addresses, nodes, site_names([]))


@pytest.fixture
def server(layout: Layout) -> Iterator[Server]:
    server = Server(layout.node(B).address)
    yield server
    server.close()


@pytest.fixture
def paused() -> set[str]:
    return set()


@pytest.fixture
def messages(layout: Layout, toxiproxy: Toxiproxy, server: Server, paused: set[str]) -> ToxiproxyMessages:
    if reason := without_messages():
        pytest.skip(reason)
    toxiproxy.populate(layout.links())
    return ToxiproxyMessages(layout, lambda _: toxiproxy, paused.__contains__)


@pytest.fixture
def connect(layout: Layout) -> Iterator[Callable[[], socket.socket]]:
    with ExitStack() as stack:

        def connect() -> socket.socket:
            connection = stack.enter_context(socket.create_connection(layout.link(A, B).listen, SOON))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection

        yield connect


def read(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size and (part := connection.recv(size - len(received))):
        received += part
    return received


def exchange(connection: socket.socket, correlation: int, key: int = PRODUCE, version: int = 9) -> None:
    connection.sendall(request(correlation, key, version))
    assert read(connection, 8) == answer(correlation)


def assert_silent(connection: socket.socket) -> None:
    connection.settimeout(AT_ONCE)
    with pytest.raises(TimeoutError):
        connection.recv(1)
    connection.settimeout(SOON)


def rule(fate: Fate, part: Part = Part.REQUEST, **more: int) -> MessageRule:
    return MessageRule(api_key=PRODUCE, part=part, fate=fate, **more)


def test_without_a_rule_everything_passes_and_nothing_is_counted(
    messages: ToxiproxyMessages, connect: Callable[[], socket.socket], server: Server
) -> None:
    connection = connect()
    for correlation in range(5):
        exchange(connection, correlation)
    assert server.received == b"".join(map(request, range(5)))
    assert messages.counts(A, B) == MessageCounts()


def test_a_lost_request_and_all_behind_it_never_arrive_until_its_connection_ends(
    messages: ToxiproxyMessages, connect: Callable[[], socket.socket], server: Server
) -> None:
    open_before, beside = connect(), connect()
    exchange(open_before, 1)
    messages.decide(A, B, rule(Fate.LOSE, skip=1))
    exchange(open_before, 2)
    open_before.sendall(request(3) + request(4, FETCH))
    assert_silent(open_before)
    exchange(beside, 1)
    assert server.received == request(1) + request(2) + request(1)
    counts = messages.counts(A, B)
    assert (counts.active, counts.passing, counts.matched, counts.lost, counts.broken) == (True, {PRODUCE: 3}, 3, 1, 1)
    messages.release(A, B)
    assert open_before.recv(1) == b""
    eventually(lambda: messages.counts(A, B).broken == 0)
    exchange(beside, 2)
    assert not messages.counts(A, B).active


def test_a_lost_answer_is_that_of_the_chosen_request_which_arrived(
    messages: ToxiproxyMessages, connect: Callable[[], socket.socket], server: Server
) -> None:
    connection = connect()
    messages.decide(A, B, rule(Fate.LOSE, Part.ANSWER))
    connection.sendall(request(7, FETCH) + request(8) + request(9, FETCH))
    assert read(connection, 8) == answer(7)
    assert_silent(connection)
    assert server.received == request(7, FETCH) + request(8) + request(9, FETCH)
    assert (messages.counts(A, B).lost, messages.counts(A, B).broken) == (1, 1)
    connection.close()
    eventually(lambda: messages.counts(A, B).broken == 0)


@pytest.mark.parametrize("part", Part)
def test_a_connection_can_end_with_the_message(
    part: Part, messages: ToxiproxyMessages, connect: Callable[[], socket.socket], server: Server
) -> None:
    connection = connect()
    messages.decide(A, B, rule(Fate.END, part))
    connection.sendall(request(1))
    assert connection.recv(1) == b""
    assert server.received == (b"" if part is Part.REQUEST else request(1))
    counts = messages.counts(A, B)
    assert (counts.lost, counts.broken) == (1, 0)
    exchange(connect(), 1)


@pytest.mark.parametrize("part", Part)
def test_a_held_message_arrives_when_the_rule_is_released_and_what_follows_it_behind_it(
    part: Part, messages: ToxiproxyMessages, connect: Callable[[], socket.socket], server: Server
) -> None:
    connection = connect()
    messages.decide(A, B, rule(Fate.HOLD, part))
    connection.sendall(request(1) + request(2, FETCH))
    assert_silent(connection)
    assert server.received == (b"" if part is Part.REQUEST else request(1) + request(2, FETCH))
    assert (messages.counts(A, B).held, messages.counts(A, B).delivered) == (1, 0)
    messages.release(A, B)
    assert read(connection, 16) == answer(1) + answer(2)
    assert (messages.counts(A, B).held, messages.counts(A, B).delivered) == (1, 1)


def test_a_held_message_arrives_after_its_time_though_its_sender_is_gone(
    messages: ToxiproxyMessages, connect: Callable[[], socket.socket], server: Server
) -> None:
    messages.decide(A, B, rule(Fate.HOLD, hold_ms=300))
    began = time.monotonic()
    with connect() as connection:
        connection.sendall(request(1))
    eventually(lambda: server.received == request(1))
    assert time.monotonic() - began >= 0.3
    assert messages.counts(A, B).delivered == 1


def test_a_held_message_whose_receiver_has_gone_is_not_counted_as_delivered(
    messages: ToxiproxyMessages, connect: Callable[[], socket.socket], server: Server
) -> None:
    connection = connect()
    exchange(connection, 1)
    messages.decide(A, B, rule(Fate.HOLD))
    connection.sendall(request(2))
    eventually(lambda: messages.counts(A, B).held == 1)
    server.connections[0].shutdown(socket.SHUT_RDWR)
    assert connection.recv(1) == b""
    messages.release(A, B)
    eventually(lambda: messages.counts(A, B).undelivered == 1)
    assert server.received == request(1)


def test_a_repeated_request_arrives_twice_and_has_one_answer(
    messages: ToxiproxyMessages, connect: Callable[[], socket.socket], server: Server
) -> None:
    connection = connect()
    messages.decide(A, B, rule(Fate.TWICE, count=2))
    connection.sendall(request(1) + request(2, FETCH) + request(3) + request(4))
    assert read(connection, 32) == b"".join(map(answer, (1, 2, 3, 4)))
    assert_silent(connection)
    assert server.received == 2 * request(1) + request(2, FETCH) + 2 * request(3) + request(4)
    counts = messages.counts(A, B)
    assert (counts.matched, counts.repeated, counts.dropped) == (3, 2, 2)


def test_only_requests_of_the_api_and_version_are_chosen(
    messages: ToxiproxyMessages, connect: Callable[[], socket.socket], server: Server
) -> None:
    connection = connect()
    messages.decide(A, B, rule(Fate.LOSE, version=10))
    exchange(connection, 1)
    exchange(connection, 2, FETCH, version=10)
    assert messages.counts(A, B).passing == {PRODUCE: 1, FETCH: 1}
    connection.sendall(request(3, version=10))
    assert_silent(connection)


@pytest.mark.parametrize("size", [1, 3, 11, 12, 13, 1000])
def test_messages_are_found_in_any_pieces(
    size: int, messages: ToxiproxyMessages, connect: Callable[[], socket.socket], server: Server
) -> None:
    connection = connect()
    messages.decide(A, B, rule(Fate.TWICE, skip=2))
    large = b"x" * 100
    sent = [request(1, body=b""), request(2, body=large), request(3, body=large), request(4, FETCH), request(5)]
    whole = b"".join(sent)
    for at in range(0, len(whole), size):
        connection.sendall(whole[at : at + size])
    assert read(connection, 40) == b"".join(map(answer, (1, 2, 3, 4, 5)))
    assert server.received == b"".join([*sent[:2], 2 * sent[2], *sent[3:]])


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
        struct.pack(">ihhi", 1 << 29, PRODUCE, 9, 1) + b"more",
        struct.pack(">ihhi", 20, -5, 9, 1) + b"more",
        request(1, SASL_HANDSHAKE, 0) + b"token of SASL",
    ],
    ids=["http", "tls", "oversized", "negative key", "sasl"],
)
def test_what_is_no_message_passes_untouched_and_is_counted(
    sent: bytes, messages: ToxiproxyMessages, connect: Callable[[], socket.socket], server: Server
) -> None:
    messages.decide(A, B, rule(Fate.LOSE))
    connection = connect()
    connection.sendall(sent)
    eventually(lambda: server.received == sent)
    connection.sendall(request(1))
    eventually(lambda: server.received == sent + request(1))
    assert (messages.counts(A, B).unread, messages.counts(A, B).lost) == (1, 0)


def test_an_answer_to_nothing_makes_its_connection_one_that_is_not_read(
    messages: ToxiproxyMessages, connect: Callable[[], socket.socket], server: Server
) -> None:
    connection = connect()
    exchange(connection, 1)
    server.connections[0].sendall(answer(99))
    assert read(connection, 8) == answer(99)
    messages.decide(A, B, rule(Fate.LOSE))
    exchange(connection, 2)
    assert messages.counts(A, B).unread == 1


def test_rules_are_refused_for_a_paused_end_and_for_zookeeper(messages: ToxiproxyMessages, paused: set[str]) -> None:
    with pytest.raises(CapabilityError, match="no messages of Kafka"):
        messages.decide(A, "node-3", rule(Fate.LOSE))
    messages.decide(A, B, rule(Fate.LOSE))
    paused.add(B)
    with pytest.raises(CapabilityError, match="while node-2 is paused"):
        messages.release(A, B)
    paused.clear()
    messages.release(A, B)
    messages.release(A, B)


def test_many_connections_at_once_lose_no_other_message(
    messages: ToxiproxyMessages, connect: Callable[[], socket.socket], server: Server
) -> None:
    """Rules come and go while messages flow: each connection has all of its answers, in order."""
    connections = [connect() for _ in range(8)]
    failures: list[str] = []

    def talk(connection: socket.socket) -> None:
        for correlation in range(300):
            connection.sendall(request(correlation) + request(correlation + 1000, FETCH))
            if read(connection, 16) != answer(correlation) + answer(correlation + 1000):
                failures.append(f"answer {correlation}")
                return

    threads = [threading.Thread(target=talk, args=[connection]) for connection in connections]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        messages.decide(A, B, rule(Fate.TWICE, count=3))
        messages.release(A, B)
    for thread in threads:
        thread.join()
    assert not failures
    assert messages.counts(A, B).unread == 0
