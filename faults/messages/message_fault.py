"""The base of the faults of single messages: a rule in the proxy of each link, and its counts as the proof.

    requests   ──▶ [ rule: API, version, which ones ] ──▶ server
    answers    ◀── [ the answers to those requests  ] ◀──

TCP delivers the bytes of a connection in order or not at all. So a message that is lost takes with it all that follows
on its stream of that connection, and one that is late holds back what follows: no client ever sees what TCP excludes,
such as an answer to its second request without that to its first. Other connections go on, and the end of a connection
passes.
Source: the toxics in `faults/messages/toxiproxy`, which find messages by their size (4 bytes) and the first fields of
their headers. An answer has only the correlation id of its request; servers answer in the order of requests.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Annotated, ClassVar

from kio.schema.index import api_key_map
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from fencepost.faults.capabilities import (
    Capability,
    CapabilityError,
    Cluster,
    Evidence,
    Fate,
    MessageCounts,
    MessageRule,
    Part,
    ProbeResult,
    Running,
)
from fencepost.faults.fault import Fault
from fencepost.faults.generation import BreakableCluster, GeneratedFault, HealOrder
from fencepost.faults.links.link_fault import SILENT_AFTER, Pair, pairs
from fencepost.faults.messages.message_generation import flowing
from fencepost.faults.parameters import FaultParameters, Milliseconds, NodeRefs, names_in

Counted = Mapping[Pair, MessageCounts]

APIS: Mapping[str, int] = {
    **{name: key for key, name in api_key_map.items()},
    "leader_and_isr": 4,
    "stop_replica": 5,
    "update_metadata": 6,
    "controlled_shutdown": 7,
    "kip_631_broker_heartbeat": 50,
    "controller_heartbeat": 51,
    "metadata_heartbeat": 1343,
    "isr_change": 1344,
    "replica_state_event": 1589,
}
"""The key of each API by its name. The last nine are of controllers that use ZooKeeper, and of what documents propose
and no Kafka was shipped with: a heartbeat has another key in KIP-631 than in Kafka."""

HEALED_WITHIN = 20.0
"""Seconds until what was held has been passed on, and the connections that lack a message are over."""
LOOK_EVERY = 0.02


def _is_an_api(api: int | str) -> int | str:
    if isinstance(api, str) and api not in APIS:
        raise PydanticCustomError("no_api", "there is no API `{api}`", {"api": api, "hint": "names are in snake case"})
    return api


Api = Annotated[Annotated[int, Field(ge=0, lt=1 << 14)] | str, AfterValidator(_is_an_api)]
"""The name of an API of Kafka in snake case (`alter_partition`), or a key, such as those that only one design has."""


class MessageParameters(FaultParameters):
    """Messages on links from `from` to `to`: of the requests of an API (and version), the `nth` and more, `count` in
    all, on each link."""

    from_: NodeRefs
    to: NodeRefs
    api: Api
    version: Annotated[int, Field(ge=0)] | None = None
    """The version of the requests; without it, any."""
    nth: Annotated[int, Field(ge=1)] = 1
    """The first request that is hit, counted from the injection."""
    count: Annotated[int, Field(ge=1)] = 1
    """The number of requests that are hit on each link."""
    within_ms: Milliseconds = 30_000
    """The time in which the first of them has to come."""


class MessageFault(Fault):
    """A fault made of one rule for messages on each of some links. Subclasses say which fate, and of which part.

    Proven when the proxy of one link has counted a message that met this fate. Healed when no rule stands, no
    connection is open from which a message was lost, no message is held, and each link carries a round trip.
    """

    capability: ClassVar[Capability] = Capability.MESSAGES
    part: ClassVar[Part] = Part.REQUEST
    done: ClassVar[str]
    """The count of messages that met the fate."""
    summary: ClassVar[str]
    """The line of a random plan that has it, with `{api}`, `{aim}` and `{to}`."""
    Parameters: ClassVar[type[MessageParameters]]

    def __init__(self, cluster: Cluster, parameters: MessageParameters) -> None:
        self.cluster = cluster
        self.parameters = parameters
        self.pairs: list[Pair] = pairs(names_in(parameters.from_), names_in(parameters.to))
        self.api_key = parameters.api if isinstance(parameters.api, int) else APIS[parameters.api]

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        """Return one of some messages that come all the time, so that the fault takes effect soon."""
        flow = flowing(rng, cluster)
        given = {"from": flow.aim.refs, "to": flow.to, "api": flow.api, "nth": rng.choice((1, 1, 2, 5))}
        return GeneratedFault(
            parameters=cls.Parameters.model_validate({**given, **cls.random_parameters(rng)}),
            aim=flow.aim,
            heal_order=HealOrder.LINKS,
            resources=(flow.links,),
            title=cls.summary.format(api=flow.api, aim=flow.aim.text, to=flow.to),
            brokers=flow.aim.away_brokers,
            quorum=flow.aim.away_quorum,
            needs_running_nodes=True,
        )

    @classmethod
    def random_parameters(cls, rng: random.Random) -> Mapping[str, object]:
        """Return random values of the parameters that only this fault has."""
        return {}

    @property
    def fate(self) -> Fate:
        raise NotImplementedError

    @property
    def hold_ms(self) -> int:
        return 0

    @property
    def _rule(self) -> MessageRule:
        asked = self.parameters
        return MessageRule(self.api_key, self.part, self.fate, asked.version, asked.nth - 1, asked.count, self.hold_ms)

    def targets(self) -> Mapping[str, object]:
        links = [{"from": source, "to": destination} for source, destination in self.pairs]
        return {"links": links, "messages": f"{self.part.value} of {self.parameters.api}: {self.fate.value}"}

    def links(self) -> frozenset[Pair]:
        return frozenset(self.pairs)

    def set_up(self) -> None:
        if not self.pairs:
            raise CapabilityError(f"{self.name} is aimed at no link; name two different nodes or groups of nodes")
        for pair in self.pairs:
            if self.cluster.messages.counts(*pair).active:
                raise CapabilityError(f"there is a rule for messages from {pair[0]} to {pair[1]} already")

    def inject(self) -> None:
        for pair in self.pairs:
            self.cluster.messages.decide(*pair, self._rule)

    def verify(self) -> Evidence:
        counts = self._await(lambda counts: self._done(counts) > 0, self.parameters.within_ms / 1000)
        done = self._done(counts)
        links = f"{len(self.pairs)} link{'s' if len(self.pairs) > 1 else ''}"
        how = f"{done} {'message' if done == 1 else 'messages'} {self.done} on {links}, as their proxies counted"
        return Evidence(done > 0, how, _measured(counts), self._missed(counts))

    def recover(self) -> None:
        for pair in self.pairs:
            self.cluster.messages.release(*pair)

    def verify_healed(self) -> Evidence:
        counts = self._await(lambda counts: all(map(_is_over, counts.values())), HEALED_WITHIN)
        measured = _measured(counts)
        if open_ := [pair for pair, count in counts.items() if not _is_over(count)]:
            return Evidence.against(f"the messages of {_named(open_)} are not let go", measured)
        if silent := [pair for pair in self.pairs if not self._passes(pair)]:
            return Evidence.against(f"there is no round trip from {_named(silent)}", measured)
        return Evidence(True, f"{self._summary(counts)}; now all messages pass", measured)

    def _done(self, counts: Counted) -> int:
        return sum(getattr(count, self.done) for count in counts.values())

    def _await(
        self, right: Callable[[Mapping[Pair, MessageCounts]], bool], seconds: float
    ) -> dict[Pair, MessageCounts]:
        """Look until it is right, and so many seconds at most. Return the last counts."""
        deadline = time.monotonic() + seconds
        while True:
            counts = {pair: self.cluster.messages.counts(*pair) for pair in self.pairs}
            if right(counts) or time.monotonic() > deadline:
                return counts
            time.sleep(LOOK_EVERY)

    def _missed(self, counts: Counted) -> str:
        matched, unread = (sum(getattr(count, name) for count in counts.values()) for name in ("matched", "unread"))
        without = f", and {unread} connections carry nothing that is read as messages" if unread else ""
        return (
            f"{matched} requests of {self.parameters.api} came in {self.parameters.within_ms} ms, and no message was "
            f"{self.done}{without}"
        )

    def _summary(self, counts: Counted) -> str:
        return f"{self._done(counts)} {self.done} in all"

    def _passes(self, pair: Pair) -> bool:
        """Return whether a round trip comes back, or an end by a destination that does not listen or is stopped."""
        deadline = time.monotonic() + HEALED_WITHIN
        while True:
            reach = self.cluster.links.reach(*pair, SILENT_AFTER)
            if reach in (ProbeResult.ANSWERED, ProbeResult.CLOSED, ProbeResult.RESET):
                return True
            if self.cluster.processes.status(pair[1]).running is Running.PAUSED:
                return True
            if time.monotonic() > deadline:
                return False
            time.sleep(LOOK_EVERY)


def _is_over(counts: MessageCounts) -> bool:
    return not counts.active and counts.broken == 0 and counts.held == counts.delivered + counts.undelivered


def _named(links: list[Pair]) -> str:
    return ", ".join(f"{source} to {destination}" for source, destination in links)


def _measured(counts: Counted) -> dict[str, object]:
    return {
        f"{source} to {destination}": {
            **asdict(count),
            "passing": {str(key): number for key, number in sorted(count.passing.items())},
        }
        for (source, destination), count in counts.items()
    }
