"""A connection that goes past the links cannot hide from the socket tables."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from fencepost.harness.network.addresses import PEER_PORT, Addresses, Endpoint
from fencepost.harness.network.layout import Layout, Listener, Node, Role, site_names
from fencepost.harness.network.sockets import Bypass, bypasses, peers

pytestmark = pytest.mark.integration

DIALLER = """
import json, socket, sys
family, listen, dial = json.loads(sys.argv[1])
listener = socket.create_server(tuple(listen)) if listen else None
if family == 6:
    connection = socket.socket(socket.AF_INET6)
    connection.connect(("::ffff:" + dial[0], dial[1]))
else:
    connection = socket.create_connection(tuple(dial))
accepted = listener.accept() if listener else None
print("connected", flush=True)
sys.stdin.read()
"""


SERVING = """
import socket, sys
listener = socket.create_server(("0.0.0.0", 0))
print(listener.getsockname()[1], flush=True)
accepted = listener.accept()
print("accepted", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def layout(addresses: Addresses) -> Layout:
    nodes = tuple(
        Node(f"node-{index}", index, index, frozenset({Role.BROKER}), addresses.node(index)) for index in (1, 2)
    )
    return Layout(addresses, nodes, site_names([]))


@contextmanager
def _node_that_dials(dial: Endpoint, *, listen: Endpoint | None = None, family: int = 4) -> Iterator[int]:
    argv = [sys.executable, "-c", DIALLER, json.dumps([family, listen, dial])]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "connected\n"
            yield process.pid
        finally:
            process.kill()


def test_connections_through_links_are_in_order(layout: Layout, serve: Callable[[str, int], None]) -> None:
    link = layout.link("node-1", "node-2").listen
    serve(*link)
    with _node_that_dials(link) as pid:
        assert bypasses(layout, {"node-1": [pid]}) == []
        assert peers(layout, "node-1", [pid]) == {"node-2"}


@pytest.mark.parametrize("family", [4, 6])
def test_a_planted_bypass_is_seen_and_named(layout: Layout, serve: Callable[[str, int], None], family: int) -> None:
    direct = Endpoint(layout.node("node-2").address, PEER_PORT)
    serve(*direct)
    with _node_that_dials(direct, family=family) as pid:
        assert bypasses(layout, {"node-1": [pid]}) == [Bypass("node-1", direct, "node-2")]
        assert "the address of node-2 itself" in str(bypasses(layout, {"node-1": [pid]})[0])


def test_another_node_s_link_and_a_client_s_site_are_bypasses_too(
    layout: Layout, serve: Callable[[str, int], None]
) -> None:
    for wrong in (layout.link("node-2", "node-1").listen, layout.link("site:main", "node-2").listen):
        serve(*wrong)
        with _node_that_dials(wrong) as pid:
            assert [found.remote for found in bypasses(layout, {"node-1": [pid]})] == [wrong]


def test_accepted_connections_are_no_bypass(layout: Layout) -> None:
    own = Endpoint(layout.node("node-1").address, PEER_PORT)
    with ExitStack() as stack:
        pid = stack.enter_context(_node_that_dials(own, listen=own))
        assert bypasses(layout, {"node-1": [pid]}) == []


def test_what_any_process_of_a_node_dials_is_seen(layout: Layout, serve: Callable[[str, int], None]) -> None:
    link, direct = layout.link("node-1", "node-2").listen, Endpoint(layout.node("node-2").address, PEER_PORT)
    for each in (link, direct):
        serve(*each)
    with _node_that_dials(link) as main, _node_that_dials(direct) as helper:
        assert bypasses(layout, {"node-1": [main, helper]}) == [Bypass("node-1", direct, "node-2")]
        assert peers(layout, "node-1", [main, helper]) == {"node-2"}


def test_connections_between_the_processes_of_a_node_are_no_bypass(layout: Layout) -> None:
    argv = [sys.executable, "-c", SERVING]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as helper:
        assert helper.stdout is not None
        port = int(helper.stdout.readline())
        with _node_that_dials(Endpoint("127.0.0.1", port)) as main:
            assert helper.stdout.readline() == "accepted\n"
            assert bypasses(layout, {"node-1": [main, helper.pid]}) == []
            assert [each.remote.port for each in bypasses(layout, {"node-1": [main]})] == [port]
        helper.kill()


def test_a_process_that_is_gone_has_no_connections(layout: Layout) -> None:
    assert bypasses(layout, {"node-1": [2**22 + 1]}) == []


ENDING = """
import json, socket, sys
listener = socket.create_server(tuple(json.loads(sys.argv[1])))
print("listening", flush=True)
accepted = listener.accept()
listener.close()
print("ending", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("acceptor", "one_process", "seen"),
    [("node-1", (), 0), ("node-2", ("node-1", "node-2"), 0), ("node-2", (), 1)],
)
def test_what_a_process_accepted_before_it_stopped_listening_is_no_way_around(
    acceptor: str, one_process: tuple[str, ...], seen: int, layout: Layout
) -> None:
    """The process is node-1, or both nodes together."""
    at = layout.node(acceptor).endpoint(Listener.INTERNAL)
    argv = [sys.executable, "-c", ENDING, json.dumps(at)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "listening\n"
        with socket.create_connection(at):
            assert process.stdout.readline() == "ending\n"
            assert len(bypasses(layout, {"node-1": [process.pid]}, one_process)) == seen
        process.kill()
