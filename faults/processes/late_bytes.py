"""The requests of a dead process arrive while its successor runs."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Literal

from fencepost.faults.capabilities import Capability, Cluster, Evidence, Harm, Running, Stream
from fencepost.faults.generation import LINKS_TO_QUORUM, BreakableCluster, GeneratedFault, one_broker
from fencepost.faults.links.link_fault import Effect, LinkFault, harmed, pairs
from fencepost.faults.parameters import FaultParameters, Milliseconds, NodeRef, NodeRefs, names_in
from fencepost.faults.processes.kill import Kill, KillParameters
from fencepost.faults.processes.process_fault import READY_TIMEOUT_S, await_ready, generated

Pair = tuple[str, str]
Bytes = Mapping[Pair, Mapping[str, int]]
"""The bytes that each link has taken, by the address that they come from."""

LOOK_EVERY = 0.02
QUEUED_WITHIN = 15.0
"""Seconds for the process to send anything, whatever `queued_ms` says."""
SILENT_WITHIN = 2.0
"""Seconds without a byte after which it may be waiting for an answer whose request is in the links already."""
DRAINED_WITHIN = 20.0
"""Seconds from the release of the links until what they held has been delivered, or refused."""


class LateBytesParameters(FaultParameters):
    """Links from `node` to `to` hold its requests for `queued_ms`, then SIGKILL. Healed by a restart, and then by
    releasing what the dead process had sent."""

    node: NodeRef
    to: NodeRefs
    queued_ms: Milliseconds = 1000
    back: Literal["running", "ready"] = "running"
    """The event that releases the bytes: the new process runs, or it answers requests."""


class LateBytes(LinkFault):
    """Links from `node` to `to` hold its requests back for `queued_ms`; then SIGKILL. Healed by a start, and then by
    letting the links go: what the dead process had sent arrives beside what its successor sends.

    Models a network that is slower than a supervisor: segments on their way in switches and tunnels, or in the receive
    buffers of a host that is stopped. Does not model bytes that arrive out of order, nor twice: TCP allows neither.
    `back`: the links are released once the successor runs, or once it answers; it cannot reach any node of `to` before.

    Proven when nothing passed the links any more, and they had taken bytes since from the process that is now dead: the
    kernel counts what the proxy received on each connection. Healed when these connections are over at the proxy, and
    a destination was given held bytes on one of them: all, unless the proxy says after how many it was refused. What a
    destination closes meanwhile is dropped with all that was held for it, as ZooKeeper does at the end of a session.
    Source: Toxiproxy, `bandwidth` at rate 0; `tcpi_bytes_received` of the proxy's side; its log of failed writes.
    """

    name: ClassVar[str] = "late-bytes"
    phrase = "{node} are killed with requests to {to} still in the link"
    capability: ClassVar[Capability] = Capability.HELD_BYTES
    Parameters = LateBytesParameters
    weight = 2

    def __init__(self, cluster: Cluster, parameters: LateBytesParameters) -> None:
        super().__init__(cluster)
        self.node = parameters.node
        self.queued_ms = parameters.queued_ms
        self.back = parameters.back
        held = harmed(Harm.STALL, {Stream.REQUESTS})
        self.effects = tuple(Effect(*pair, held) for pair in pairs([self.node], names_in(parameters.to)))
        self.kill = Kill(cluster, KillParameters(nodes=self.node, back=self.back))
        self.stalled: Evidence | None = None
        self.late: dict[Pair, dict[str, int]] = {}
        """Bytes that are held from the dead process, by the address that they came from."""
        self.released: Bytes = {}
        """The part of them that was still held when the links were released."""
        self._earlier: Bytes = {}
        """Bytes that had been taken before the links held anything."""
        self._others: dict[Pair, set[str]] = {}
        """Addresses at the far end of connections that need not be the node's."""

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        """The requests of a dead broker to the quorum arrive beside those of its successor."""
        aim = one_broker(rng, cluster)
        parameters = LateBytesParameters(node=aim.text, to=cluster.quorum_role, queued_ms=rng.choice((1000, 2000)))
        title = f"requests of {aim.text} to {cluster.quorum_role} arrive after its death"
        fault = generated(parameters, aim, title, stops_nodes=True, exclusive=True, needs_running_nodes=True)
        return replace(fault, resources=(*fault.resources, LINKS_TO_QUORUM))

    def targets(self) -> Mapping[str, object]:
        return {**super().targets(), **self.kill.targets()}

    def nodes(self) -> frozenset[str]:
        return self.kill.nodes()

    def set_up(self) -> None:
        self.kill.set_up()
        self._others = {pair: set() for pair in self.links()}
        own = self._taken()
        super().set_up()
        self._leave_out_since(own)

    def inject(self) -> None:
        """Counted from when the links hold everything to the death of the process, which is to have sent something. A
        request that the links took at the same moment as they were stopped is not counted, and nothing follows it
        before its answer: then the links pass on what they have, and hold what comes next."""
        deadline = time.monotonic() + QUEUED_WITHIN
        began, before = self._hold()
        while not self._sends(before) and time.monotonic() < deadline:
            super().recover()
            began, before = self._hold()
        time.sleep(max(0.0, began + self.queued_ms / 1000 - time.monotonic()))
        self.kill.inject()
        self._count(before)

    def _hold(self) -> tuple[float, Bytes]:
        """Since when nothing passes, and what the links had taken then."""
        super().inject()
        before, began = self._taken(), time.monotonic()
        self._earlier = before
        self.stalled = super().verify()
        self._leave_out_since(before)
        return began, before

    def _sends(self, before: Bytes) -> bool:
        deadline = time.monotonic() + SILENT_WITHIN
        while not self._count(before):
            if time.monotonic() >= deadline:
                return False
            time.sleep(LOOK_EVERY)
        return True

    def verify(self) -> Evidence:
        killed = self.kill.verify()
        stalled = self.stalled is not None and self.stalled.proven
        held = self._held()
        data = {"held bytes": _as_json(self.late), **killed.measured}
        how = f"{held} bytes that the dead process had sent are in {len(self.effects)} links that pass nothing"
        return Evidence(stalled and killed.proven and held > 0, how, data)

    def recover(self) -> None:
        self.kill.recover()
        if self.back == "ready" and self.cluster.processes.status(self.node).running is Running.RUNNING:
            self.cluster.processes.await_ready(self.node, READY_TIMEOUT_S)
        self.released = self.released or self._left()
        super().recover()

    def verify_healed(self) -> Evidence:
        deadline = time.monotonic() + DRAINED_WITHIN
        while (left := self._left()) and time.monotonic() < deadline:
            time.sleep(LOOK_EVERY)
        links = super().verify_healed()
        if not links.proven:
            return links
        ready = await_ready(self.cluster, [self.node])
        given = self._given()
        data = {
            **ready.measured,
            "released": _as_json(self.released),
            "given": _as_json(given),
            "still held": _as_json(left),
        }
        if left:
            return Evidence.against(f"the links still hold what a dead process sent after {DRAINED_WITHIN:g} s", data)
        if self.released and not given:
            return Evidence.against("nothing of the held bytes was passed on", data)
        passed = "their bytes were passed on" if self.released else "their destinations had closed them before"
        how = f"the connections of the dead process ended at the proxy; {passed}"
        return Evidence(ready.proven, how, data, ready.missed)

    def _given(self) -> Bytes:
        """Return the held bytes that were passed on, of connections that are over."""
        given: dict[Pair, dict[str, int]] = {}
        for pair, connections in self.released.items():
            short, earlier = self.cluster.links.cut_short(*pair), self._earlier[pair]
            for address, held in connections.items():
                passed = held if address not in short else short[address] - earlier.get(address, 0)
                if passed > 0:
                    given.setdefault(pair, {})[address] = passed
        return given

    def _leave_out_since(self, before: Bytes) -> None:
        """Connections that came while the links were measured are those of the measurement, or may be."""
        for pair, connections in self._taken().items():
            self._others[pair] |= connections.keys() - before[pair].keys()

    def _taken(self) -> Bytes:
        return {pair: self.cluster.links.taken(*pair) for pair in self.links()}

    def _count(self, before: Bytes) -> bool:
        """Return whether anything was taken since then that is still in the links."""
        for pair, connections in self._taken().items():
            more = {
                address: count - before[pair].get(address, 0)
                for address, count in connections.items()
                if address not in self._others[pair]
            }
            self.late[pair] = {address: count for address, count in more.items() if count > 0}
        return self._held() > 0

    def _held(self) -> int:
        return sum(sum(connections.values()) for connections in self.late.values())

    def _left(self) -> Bytes:
        """Return the held connections that the proxy has not closed."""
        now = self._taken()
        left = {
            pair: {address: count for address, count in connections.items() if address in now[pair]}
            for pair, connections in self.late.items()
        }
        return {pair: connections for pair, connections in left.items() if connections}


def _as_json(held: Bytes) -> dict[str, object]:
    return {f"{source} to {destination}": dict(each) for (source, destination), each in sorted(held.items())}
