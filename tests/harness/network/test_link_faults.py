"""Every fault of links through a real Toxiproxy, between servers that answer: proven, and healed."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from fencepost.faults.capabilities import (
    HEALTHY,
    CapabilityError,
    Cluster,
    Evidence,
    Harm,
    ProbeResult,
    ProcessStatus,
    Running,
    Stream,
    Toxic,
)
from fencepost.faults.fault import Fault
from fencepost.faults.links.flapping import Flapping
from fencepost.faults.links.link_fault import ENDED, SILENT_AFTER, LinkFault
from fencepost.faults.links.slow import LinkSlow, SlowParameters
from fencepost.faults.registry import build, names_in_family
from fencepost.harness.network.addresses import PEER_PORT, Addresses, Endpoint
from fencepost.harness.network.layout import Layout, Listener, Node, Proxy, Role, site_names
from fencepost.harness.network.links import ToxiproxyLinks
from fencepost.harness.network.roundtrip import API_VERSIONS
from fencepost.harness.network.toxiproxy import Toxiproxy
from tests.faults.cases import CASES, A, B

pytestmark = pytest.mark.integration

ANSWER = """
import socket, sys, threading
def answer(connection):
    while request := connection.recv(100):
        connection.sendall(b"\\0\\0\\0\\4" + request[8:12])
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("listening", flush=True)
while True:
    threading.Thread(target=answer, args=[server.accept()[0]], daemon=True).start()
"""
"""A server that answers requests of the smallest size."""

PARAMS = {name: case.links for name, case in CASES.items() if case.links is not None}


@dataclass
class _Around:
    """Nodes that run until they are named in `dead`, and real links between them."""

    links: ToxiproxyLinks
    dead: set[str] = field(default_factory=set)

    @property
    def processes(self) -> _Around:
        return self

    def status(self, node: str) -> ProcessStatus:
        return ProcessStatus(Running.EXITED if node in self.dead else Running.RUNNING, pid=1)


@pytest.fixture
def layout(addresses: Addresses) -> Layout:
    nodes = tuple(
        Node(f"node-{index}", index, index, frozenset({Role.BROKER}), addresses.node(index)) for index in range(1, 5)
    )
    return Layout(addresses, nodes, site_names([]))


@pytest.fixture
def cluster(layout: Layout, toxiproxy: Toxiproxy, serve: Callable[[str, int], None]) -> Iterator[Cluster]:
    for node in layout.nodes:
        for listener in node.listeners:
            serve(node.address, listener.port)
    toxiproxy.populate(layout.links())
    yield cast("Cluster", _Around(ToxiproxyLinks(layout, lambda proxy: toxiproxy, lambda node: False)))


def _proven(fault: Fault) -> Evidence:
    fault.set_up()
    fault.inject()
    evidence = fault.verify()
    assert evidence.proven, evidence
    return evidence


def _healed(fault: Fault) -> Evidence:
    fault.recover()
    evidence = fault.verify_healed()
    assert evidence.proven, evidence
    return evidence


def test_every_fault_of_links_is_tried_here() -> None:
    assert set(PARAMS) == names_in_family("links")


@pytest.mark.parametrize(("name", "params"), PARAMS.items())
def test_it_is_proven_and_healed_and_spares_other_links(
    name: str, params: Mapping[str, Any], cluster: Cluster, layout: Layout
) -> None:
    fault = build(name, cluster, params)
    _proven(fault)
    every = {(a.name, b.name) for a in layout.nodes for b in layout.nodes if a != b}
    for pair in every - fault.links():
        assert cluster.links.reach(*pair, 5) is ProbeResult.ANSWERED
    _healed(fault)
    for pair in every:
        assert cluster.links.state(*pair) == HEALTHY


@pytest.mark.parametrize(
    ("name", "broken", "healed"),
    [("stall", "silent", "answered"), ("blackhole", "silent", "closed"), ("reset", "closed", "closed")],
)
def test_a_connection_that_was_open_fares_as_it_is_written(
    name: str, broken: str, healed: str, cluster: Cluster
) -> None:
    fault = build(name, cluster, {"from": [A], "to": [B]})
    for evidence, fate in ((_proven(fault), broken), (_healed(fault), healed)):
        measured = cast("dict[str, Any]", evidence.measured[f"{A} to {B}"])
        assert measured["now"]["open connection"] == fate


@pytest.mark.parametrize("name", ["stall", "blackhole"])
def test_the_death_of_a_node_is_not_noticed_through_silent_links_but_by_new_connections(
    name: str, layout: Layout, toxiproxy: Toxiproxy
) -> None:
    """The node is a process, which is killed: its kernel ends its connections."""
    toxiproxy.populate(layout.links())
    around = _Around(ToxiproxyLinks(layout, lambda proxy: toxiproxy, lambda node: False))
    fault = cast("LinkFault", build(name, cast("Cluster", around), {"from": [A], "to": [B]}))
    server = layout.node(B).endpoint(Listener.INTERNAL)
    with subprocess.Popen([sys.executable, "-c", ANSWER, *map(str, server)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with socket.create_connection(layout.link(A, B).listen, 5) as idle:
            _proven(fault)
            process.kill()
            process.wait()
            around.dead.add(B)
            assert fault.held[A, B].fate(SILENT_AFTER) is ProbeResult.SILENT
            idle.settimeout(SILENT_AFTER)
            with pytest.raises(TimeoutError):
                idle.recv(1)
            assert around.links.reach(A, B, 5) in ENDED
            evidence = _healed(fault)
            assert f"; {B} ended meanwhile: the links held the ends of connections that were open" in evidence.how
            idle.settimeout(5)
            with suppress(ConnectionResetError):
                assert idle.recv(1) == b""


@pytest.mark.parametrize("bytes_", [1, 14, 15, 100])
@pytest.mark.parametrize("stream", ["requests", "replies"])
def test_a_frame_is_torn_at_the_byte_that_was_asked_for(
    bytes_: int, stream: str, cluster: Cluster, layout: Layout
) -> None:
    fault = build("cut-after-bytes", cluster, {"from": [A], "to": [B], "after_bytes": bytes_, "stream": stream})
    evidence = _proven(fault)
    now = cast("dict[str, Any]", evidence.measured[f"{A} to {B}"])["now"]
    assert now["more"] == "closed"
    if stream == "replies":
        assert now["bytes"] == bytes_
    _healed(fault)


def test_a_server_is_given_the_beginning_of_a_torn_frame_and_then_the_end(layout: Layout, toxiproxy: Toxiproxy) -> None:
    with socket.create_server((layout.addresses.node(9), PEER_PORT)) as server:
        elsewhere = Proxy("torn", Endpoint(layout.addresses.link(1, 9), PEER_PORT), Endpoint(*server.getsockname()))
        toxiproxy.populate([elsewhere])
        toxiproxy.add("torn", Toxic(Harm.LIMIT, Stream.REQUESTS, 10))
        with socket.create_connection(elsewhere.listen, 5) as connection:
            connection.sendall(API_VERSIONS)
            got, _ = server.accept()
            with got:
                received = b""
                while part := got.recv(100):
                    received += part
    assert received == API_VERSIONS[:10]


def test_a_flapping_link_keeps_its_times_and_ends_whole(cluster: Cluster) -> None:
    fault = cast(
        "Flapping", build("flapping", cluster, {"nodes": [A], "from": [B], "on_ms": 120, "off_ms": 180, "count": 3})
    )
    _proven(fault)
    deadline = time.monotonic() + 10
    while fault.running and time.monotonic() < deadline:
        time.sleep(0.02)
    changes = cast("list[dict[str, Any]]", _healed(fault).measured["changes"])
    assert [change["due_ms"] for change in changes] == [0, 120, 300, 420, 600, 720]
    assert [change["links"] for change in changes] == ["broken", "whole"] * 3
    assert all(change["proven"] and change["at_ms"] >= change["due_ms"] for change in changes)


def test_a_flapping_link_may_be_healed_before_its_time(cluster: Cluster) -> None:
    fault = build("flapping", cluster, {"nodes": [A], "from": [B], "on_ms": 150, "off_ms": 5000, "count": 9})
    _proven(fault)
    began = time.monotonic()
    changes = cast("list[dict[str, Any]]", _healed(fault).measured["changes"])
    assert (len(changes), time.monotonic() - began < 3) == (2, True)
    assert cluster.links.reach(A, B, 5) is ProbeResult.ANSWERED


def test_a_rate_that_a_server_cannot_reach_is_refused(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.faults.links.slow.TIMEOUT_S", 0.0)
    parameters = SlowParameters(from_=(A,), to=(B,), rate_kb=1000, streams="replies")
    parameters = parameters.model_copy(update={"rate_kb": 90_000})
    with pytest.raises(CapabilityError, match="a rate of 90000 KB/s cannot be proven for the replies"):
        LinkSlow(cluster, parameters).set_up()
