"""Links between real sockets through a real Toxiproxy: broken as asked, measured, and healed."""

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from fencepost.faults.capabilities import BOTH, HEALTHY, CapabilityError, Harm, LinkState, ProbeResult, Stream, Toxic
from fencepost.harness.errors import InfrastructureError, LinksLost
from fencepost.harness.network import toxiproxy as toxiproxy_client
from fencepost.harness.network.addresses import PEER_PORT, Addresses, Endpoint
from fencepost.harness.network.layout import Layout, Node, Role, site_names
from fencepost.harness.network.links import ToxiproxyLinks
from fencepost.harness.network.roundtrip import API_VERSIONS
from fencepost.harness.network.toxiproxy import Toxiproxy

pytestmark = pytest.mark.integration

A, B = "node-1", "node-2"
SOON, AT_ONCE, LOOK_AGAIN = 5.0, 0.15, 0.02


def stalled(streams: Iterable[Stream]) -> frozenset[Toxic]:
    return frozenset(Toxic(Harm.STALL, stream) for stream in streams)


@pytest.fixture
def paused() -> set[str]:
    return set()


@pytest.fixture
def layout(addresses: Addresses) -> Layout:
    nodes = tuple(
        Node(f"node-{index}", index, index, frozenset({Role.CONTROLLER}), addresses.node(index)) for index in (1, 2)
    )
    return Layout(addresses, nodes, site_names([]))


@pytest.fixture
def links(layout: Layout, toxiproxy: Toxiproxy, serve: Callable[[str, int], None], paused: set[str]) -> ToxiproxyLinks:
    for node in layout.nodes:
        serve(node.address, PEER_PORT)
    toxiproxy.populate(layout.links())
    return ToxiproxyLinks(layout, lambda proxy: toxiproxy, paused.__contains__)


def test_a_healthy_link_answers(links: ToxiproxyLinks) -> None:
    assert links.reach(A, B, SOON) is ProbeResult.ANSWERED
    assert links.reach("site:probe", B, SOON) is ProbeResult.ANSWERED
    assert links.state(A, B) == HEALTHY


@pytest.mark.parametrize("streams", [BOTH, frozenset({Stream.REQUESTS}), frozenset({Stream.REPLIES})])
def test_a_stalled_link_is_silent_one_way_only_and_other_links_live(
    links: ToxiproxyLinks, streams: frozenset[Stream]
) -> None:
    links.harm(A, B, stalled(streams))
    assert links.reach(A, B, AT_ONCE) is ProbeResult.SILENT
    assert links.state(A, B) == LinkState(enabled=True, toxics=stalled(streams))
    assert links.reach(B, A, SOON) is ProbeResult.ANSWERED
    links.restore(A, B)
    assert links.reach(A, B, SOON) is ProbeResult.ANSWERED


@pytest.mark.parametrize("stream", list(Stream))
def test_bytes_held_by_a_stall_arrive_after_healing(links: ToxiproxyLinks, layout: Layout, stream: Stream) -> None:
    links.harm(A, B, stalled([stream]))
    with socket.create_connection(layout.link(A, B).listen, SOON) as connection:
        connection.settimeout(AT_ONCE)
        connection.sendall(API_VERSIONS)
        with pytest.raises(TimeoutError):
            connection.recv(100)
        links.restore(A, B)
        connection.settimeout(SOON)
        assert len(connection.recv(100)) == 8


def test_a_cut_ends_open_connections_and_refuses_new_ones(links: ToxiproxyLinks, layout: Layout) -> None:
    with socket.create_connection(layout.link(A, B).listen, SOON) as connection:
        links.cut(A, B)
        connection.settimeout(SOON)
        assert connection.recv(100) == b""
    assert links.reach(A, B, SOON) is ProbeResult.REFUSED
    links.restore(A, B)
    assert links.reach(A, B, SOON) is ProbeResult.ANSWERED


def test_breaking_and_healing_may_be_repeated(links: ToxiproxyLinks) -> None:
    for _ in range(2):
        links.harm(A, B, stalled(BOTH))
        links.cut(A, B)
    for _ in range(2):
        links.restore(A, B)
    assert links.state(A, B) == HEALTHY


def test_a_paused_peer_s_link_is_cut_but_not_stalled(links: ToxiproxyLinks, paused: set[str]) -> None:
    paused.add(B)
    with pytest.raises(CapabilityError, match="while node-2 is paused"):
        links.harm(A, B, stalled(BOTH))
    links.cut(A, B)
    assert links.reach(A, B, SOON) is ProbeResult.REFUSED


def test_a_link_of_several_ports_is_broken_and_healed_at_each(addresses: Addresses, toxiproxy: Toxiproxy) -> None:
    nodes = tuple(Node(f"zk-{n}", n, n, frozenset({Role.ZOOKEEPER}), addresses.node(n)) for n in (1, 2))
    layout = Layout(addresses, nodes, site_names([]))
    toxiproxy.populate(layout.links())
    links = ToxiproxyLinks(layout, lambda proxy: toxiproxy, lambda node: False)
    links.cut("zk-1", "zk-2")
    for proxy in layout.proxies("zk-1", "zk-2"):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(proxy.listen, SOON)
    toxiproxy.enable(layout.link("zk-1", "zk-2").name, True)
    assert links.state("zk-1", "zk-2") == LinkState(enabled=False, alike=False)
    links.restore("zk-1", "zk-2")
    assert links.state("zk-1", "zk-2") == HEALTHY


def test_a_link_without_a_listener_is_closed(layout: Layout, toxiproxy: Toxiproxy) -> None:
    toxiproxy.populate(layout.links())
    assert ToxiproxyLinks(layout, lambda proxy: toxiproxy, lambda node: False).reach(A, B, SOON) in (
        ProbeResult.CLOSED,
        ProbeResult.RESET,
    )


def test_a_proxy_whose_address_is_taken_is_an_error_with_a_message(layout: Layout, toxiproxy: Toxiproxy) -> None:
    with (
        socket.create_server(layout.link(A, B).listen),
        pytest.raises(InfrastructureError, match=str(layout.link(A, B).listen)),
    ):
        toxiproxy.populate(layout.links())


def test_a_toxiproxy_that_is_gone_is_an_error_with_a_message(addresses: Addresses) -> None:
    with pytest.raises(InfrastructureError, match="could not be asked to GET /version: it is gone"):
        Toxiproxy(addresses.toxiproxy).version()


def test_a_toxiproxy_that_hangs_is_not_waited_for(addresses: Addresses) -> None:
    with (
        socket.create_server(addresses.toxiproxy),
        pytest.raises(InfrastructureError, match=r"within 0\.1 s"),
    ):
        Toxiproxy(addresses.toxiproxy, timeout=0.1).version()


def test_a_toxiproxy_that_says_503_is_an_error_with_a_message(addresses: Addresses) -> None:
    class Unavailable(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_error(503)

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(addresses.toxiproxy, Unavailable) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(LinksLost, match=r"answered 503 to POST /proxies/x/toxics"):
            Toxiproxy(addresses.toxiproxy).add("x", Toxic(Harm.STALL, Stream.REQUESTS))
        server.shutdown()


def test_a_toxiproxy_that_hung_is_given_less_time(addresses: Addresses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toxiproxy_client, "IMPATIENT", 0.05)
    client = Toxiproxy(addresses.toxiproxy, timeout=0.2)
    with socket.create_server(addresses.toxiproxy):
        for seconds in ("0.2", "0.05", "0.05"):
            with pytest.raises(LinksLost, match=rf"did not answer GET /version within {seconds} s"):
                client.version()


def fill(sender: socket.socket) -> None:
    """Send until nothing more is taken; a Toxiproxy that only had no processor takes more a little later."""
    quiet = 0
    while quiet < 3:
        try:
            sender.send(bytes(1 << 16))
            quiet = 0
        except TimeoutError:
            quiet += 1


@pytest.mark.parametrize("harmed", [True, False])
def test_a_receiver_that_does_not_read_holds_up_toxics_and_no_cut(
    harmed: bool, layout: Layout, toxiproxy: Toxiproxy
) -> None:
    """As a stopped process under load does: adding a toxic hangs, and is given up; closing the link works."""
    toxiproxy.populate(layout.links())
    name, impatient = layout.link(A, B).name, Toxiproxy(toxiproxy.api, timeout=0.5)
    with (
        socket.create_server((layout.nodes[1].address, PEER_PORT)) as server,
        socket.create_connection(layout.link(A, B).listen, SOON),
    ):
        sender, _ = server.accept()
        with sender:
            sender.settimeout(0.3)
            fill(sender)
            if harmed:
                with pytest.raises(LinksLost, match="a stopped receiver holds it up"):
                    impatient.add(name, Toxic(Harm.STALL, Stream.REPLIES))
            else:
                toxiproxy.enable(name, False)
                assert not toxiproxy.state(name).enabled


def test_many_threads_may_ask_at_a_time(layout: Layout, toxiproxy: Toxiproxy) -> None:
    toxiproxy.populate(layout.links())
    name = layout.link(A, B).name
    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(lambda _: toxiproxy.state(name), range(300))) == {HEALTHY}


def test_a_stall_heals_at_once_though_a_receiver_closed_meanwhile(
    links: ToxiproxyLinks, layout: Layout, toxiproxy: Toxiproxy
) -> None:
    """A ZooKeeper server closes the connections of a session that expires; their bytes wait in the link."""
    with socket.create_server((layout.nodes[1].address, 0)) as receiver:
        listen = layout.link(A, B).listen
        toxiproxy.enable(layout.link(A, B).name, False)
        toxiproxy.populate(
            [replace(layout.link(A, B), name="link-closing", upstream=Endpoint(*receiver.getsockname()[:2]))]
        )
        with socket.create_connection(listen, SOON) as sender:
            accepted, _ = receiver.accept()
            stall = Toxic(Harm.STALL, Stream.REQUESTS)
            toxiproxy.add("link-closing", stall)
            for _ in range(20):
                sender.sendall(b"x" * 10)
                time.sleep(0.01)  # one chunk for each write: Toxiproxy reads what there is
            accepted.close()
            began = time.monotonic()
            toxiproxy.remove("link-closing", stall)
            assert time.monotonic() - began < 4  # the client waits for 5 s
            assert toxiproxy.state("link-closing").toxics == frozenset()


def test_the_server_survives_that_stalls_of_many_connections_heal(
    links: ToxiproxyLinks, layout: Layout, toxiproxy: Toxiproxy
) -> None:
    """A chunk in each connection is in the middle of its way, so that a change of the rate would be read there."""
    stall = Toxic(Harm.STALL, Stream.REQUESTS)
    with socket.create_server((layout.nodes[1].address, 0), backlog=100) as receiver, ExitStack() as senders:
        link = replace(layout.link(A, B), name="link-many", upstream=Endpoint(*receiver.getsockname()[:2]))
        toxiproxy.enable(layout.link(A, B).name, False)
        toxiproxy.populate([link])
        opened = [senders.enter_context(socket.create_connection(link.listen, SOON)) for _ in range(60)]
        for _ in range(10):
            toxiproxy.add("link-many", stall)
            for each in opened:
                each.sendall(b"fourteen bytes")
                time.sleep(0.1 / len(opened))  # it looks at each chunk every 100 ms: one of them is always at its turn
            toxiproxy.remove("link-many", stall)
        assert toxiproxy.state("link-many") == HEALTHY


@pytest.fixture
def ends(layout: Layout, toxiproxy: Toxiproxy) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a connection from A to B."""
    toxiproxy.populate([layout.link(A, B)])
    with (
        socket.create_server((layout.nodes[1].address, PEER_PORT)) as server,
        socket.create_connection(layout.link(A, B).listen, SOON) as opened,
    ):
        accepted, _ = server.accept()
        with accepted:
            yield opened, accepted


def hears(end: socket.socket, timeout: float) -> bytes | None:
    """Return what comes: nothing at the end of the connection, None if it is silent."""
    end.settimeout(timeout)
    try:
        return end.recv(100)
    except TimeoutError:
        return None


@pytest.mark.parametrize(("abrupt", "queued"), [(False, b""), (False, b"before the end"), (True, b"")])
@pytest.mark.parametrize("stream", list(Stream))
@pytest.mark.parametrize("harm", [Harm.STALL, Harm.BLACKHOLE])
def test_the_end_of_a_connection_comes_through_a_silent_link_once_it_heals(
    harm: Harm,
    stream: Stream,
    abrupt: bool,
    queued: bytes,
    ends: tuple[socket.socket, socket.socket],
    layout: Layout,
    toxiproxy: Toxiproxy,
) -> None:
    """As when a node dies: the other side learns nothing, whether it waits for an answer or sends."""
    dead, waits = ends if stream is Stream.REQUESTS else reversed(ends)
    links = ToxiproxyLinks(layout, lambda proxy: toxiproxy, lambda node: False)
    links.harm(A, B, frozenset(Toxic(harm, each) for each in BOTH))
    dead.sendall(queued)
    if abrupt:  # as of a process that had not read everything
        dead.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    dead.close()
    assert hears(waits, 3 * AT_ONCE) is None
    for _ in range(3):
        waits.sendall(b"are you there?")
        assert hears(waits, AT_ONCE) is None
    links.restore(A, B)
    if queued and harm is Harm.STALL:
        assert hears(waits, SOON) == queued
    with suppress(ConnectionResetError):
        assert hears(waits, SOON) == b""


def test_what_the_other_side_closes_goes_on_through_the_stream_that_is_whole(
    ends: tuple[socket.socket, socket.socket], layout: Layout, toxiproxy: Toxiproxy
) -> None:
    opened, accepted = ends
    links = ToxiproxyLinks(layout, lambda proxy: toxiproxy, lambda node: False)
    links.harm(A, B, stalled([Stream.REQUESTS]))
    accepted.close()
    assert hears(opened, SOON) == b""


def test_a_reset_ends_idle_connections_as_well(
    ends: tuple[socket.socket, socket.socket], layout: Layout, toxiproxy: Toxiproxy
) -> None:
    links = ToxiproxyLinks(layout, lambda proxy: toxiproxy, lambda node: False)
    links.harm(A, B, frozenset(Toxic(Harm.RESET, each) for each in BOTH))
    assert [hears(end, SOON) for end in ends] == [b"", b""]


def test_it_is_known_how_much_a_receiver_took_that_ended_in_the_middle(
    ends: tuple[socket.socket, socket.socket], layout: Layout, toxiproxy: Toxiproxy
) -> None:
    opened, accepted = ends
    links = ToxiproxyLinks(layout, lambda proxy: toxiproxy, lambda node: False)
    opened.sendall(bytes(5000))
    assert sum(len(accepted.recv(1)) for _ in range(5000)) == 5000
    assert links.cut_short(A, B) == {}
    links.harm(A, B, stalled([Stream.REPLIES]))  # or the sender would learn of it
    accepted.close()
    while not (short := links.cut_short(A, B)):
        opened.sendall(b"in vain")
        time.sleep(LOOK_AGAIN)
    address, port = opened.getsockname()
    assert list(short) == [f"{address}:{port}"]
    assert 5000 <= short[f"{address}:{port}"] <= 5000 + 3 * len(b"in vain")


def test_a_log_that_tells_nothing_of_connections_is_an_error(layout: Layout, toxiproxy: Toxiproxy) -> None:
    toxiproxy.populate([layout.link(A, B)])
    with pytest.raises(LinksLost, match="does not tell what became of the bytes in link-node-1-node-2"):
        toxiproxy.cut_short(layout.link(A, B).name)
