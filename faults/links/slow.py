"""Links are slow: every byte comes late, or few come in a second."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from fencepost.faults.capabilities import (
    CapabilityError,
    Cluster,
    Harm,
    LinkState,
    ProbeResult,
    Stream,
    Toxic,
    Transfer,
)
from fencepost.faults.generation import LINKS_AMONG_QUORUM, LINKS_TO_QUORUM, BreakableCluster, GeneratedFault, text_of
from fencepost.faults.links import link_generation
from fencepost.faults.links.link_fault import (
    SILENT_AFTER,
    STREAMS,
    TIMEOUT_S,
    Effect,
    LinkFault,
    Look,
    StreamChoice,
    pairs,
)
from fencepost.faults.links.link_generation import generated, opened_links
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in

TIMED_MS = 300
"""How long the bytes take that prove a bandwidth."""
TRIPS = 3
"""The quickest of them tells a latency: a busy machine makes some late, a toxic all."""
ENOUGH_MS = 50
"""The shortest time that is measured: less cannot be distinguished from chance."""
AT_LEAST = 0.8
"""The fraction of the expected time that the bytes have to take. Toxiproxy counts in slices of 100 ms."""


NARROW, RATE_KB = 0.3, 50
"""The fraction of random delays that are narrow as well, and how narrow. Of ZooKeeper no bytes are timed."""


class SlowParameters(FaultParameters):
    """Links from `from` to `to`: each byte comes `latency_ms` late, or `rate_kb` thousand bytes come in a second on
    each connection, or both. A delay of the stream, not of packets."""

    from_: NodeRefs
    to: NodeRefs
    latency_ms: Annotated[int, Field(ge=0, le=60_000)] = 0
    rate_kb: Annotated[int, Field(ge=0, le=1000)] = 0
    streams: StreamChoice = "both"

    @model_validator(mode="after")
    def _slow_somehow(self) -> Self:
        if not self.latency_ms and not self.rate_kb:
            raise ValueError("what is slow has `latency_ms`, `rate_kb` or both")
        if 0 < self.latency_ms < 10:
            raise ValueError("a latency below 10 ms cannot be distinguished from a busy machine")
        return self


class LinkSlow(LinkFault):
    """Connections that `from` opens to `to` deliver requests, replies or both late (`latency_ms`), or only so many
    thousand bytes a second (`rate_kb`), or both.

    A delay of the *stream*, not of packets: handshakes are as fast as ever, nothing is lost or reordered, and TCP sees
    no congestion. The latency of a round trip grows by `latency_ms` for each stream; a rate is that of one connection,
    and several share nothing. Constant: nothing here is random. Proven by a round trip before and after, a rate by
    timing bytes; what a server cannot be made to say faster than that is refused.
    Models a long way, or a narrow one. Does not model jitter, loss, or a full queue that many share.
    Source: Toxiproxy, `latency` without jitter, and `bandwidth`.
    """

    name: ClassVar[str] = "slow"
    phrase = "the {streams} of connections from {from} to {to} are slowed down"
    measure: ClassVar[str] = "a round trip and, of a rate, bytes by the clock"
    Parameters = SlowParameters
    weight = 2

    def __init__(self, cluster: Cluster, parameters: SlowParameters) -> None:
        super().__init__(cluster)
        self.latency_ms, self.rate_kb = parameters.latency_ms, parameters.rate_kb
        self.streams = STREAMS[parameters.streams]
        amounts = {Harm.LATENCY: self.latency_ms, Harm.BANDWIDTH: self.rate_kb}
        toxics = frozenset(
            Toxic(harm, stream, amount) for harm, amount in amounts.items() if amount for stream in self.streams
        )
        links = pairs(names_in(parameters.from_), names_in(parameters.to))
        self.effects = tuple(Effect(*pair, LinkState(True, toxics)) for pair in links)

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        """Delays the stream by less or by more than a lease lasts."""
        aim, other, links = opened_links(rng, cluster)
        latency = rng.choice((20, 50, 100, 200, 400))
        streams = rng.choice(link_generation.STREAMS)
        narrow = rng.random() < NARROW and not (
            cluster.uses_zookeeper and links in (LINKS_TO_QUORUM, LINKS_AMONG_QUORUM)
        )
        rate = RATE_KB if narrow else 0
        parameters = SlowParameters(from_=aim.refs, to=other, latency_ms=latency, rate_kb=rate, streams=streams)
        width = f" and {rate} KB/s" if rate else ""
        return generated(parameters, aim, links, f"{latency} ms{width} from {aim.text} to {text_of(other)}")

    def set_up(self) -> None:
        super().set_up()
        deadline = time.monotonic() + TIMEOUT_S / 2
        while complaints := self._immeasurable():
            if time.monotonic() > deadline:
                raise CapabilityError("; ".join(complaints))
            self.before = self._each(self._look)

    def _immeasurable(self) -> list[str]:
        """Return why the effect would not show on the link as it is; on a busy machine that may pass."""
        return [*self._late_already(), *self._narrow_already()]

    def _late_already(self) -> list[str]:
        least = self.latency_ms * len(self.streams)
        return [
            f"a latency of {least} ms from {effect.source} to {effect.destination} cannot be proven: a round trip "
            f"takes {before.elapsed_ms:g} ms there as it is; ask for more"
            for effect in self.effects
            if least
            and (before := self.before[effect.pair]).reach is ProbeResult.ANSWERED
            and before.elapsed_ms >= least
        ]

    def _narrow_already(self) -> list[str]:
        return [
            f"a rate of {self.rate_kb} KB/s cannot be proven for the {stream} from {effect.source} to "
            f"{effect.destination}: {each['bytes']} bytes took {each['ms']:g} ms there as it is; ask for less, or for "
            "latency"
            for effect in self.effects
            for stream, each in self._transfers(self.before[effect.pair]).items()
            if (due := each["bytes"] / self.rate_kb) < ENOUGH_MS or each["ms"] > due / 2
        ]

    def _look(self, effect: Effect) -> Look:
        look = super()._look(effect)
        if self.latency_ms and look.reach is ProbeResult.ANSWERED:
            again = (self.cluster.links.round_trip(*effect.pair, self._silent_after(effect)) for _ in range(TRIPS - 1))
            trips = [trip.elapsed_ms for trip in again if trip.reach is ProbeResult.ANSWERED]
            look = replace(look, elapsed_ms=min([look.elapsed_ms, *trips]))
        if not self.rate_kb or look.reach is not ProbeResult.ANSWERED:
            return look
        size, timeout = self.rate_kb * TIMED_MS, 10 * TIMED_MS / 1000 + 2 * self._silent_after(effect)
        timed = {
            stream.value: _as_json(self.cluster.links.transfer(*effect.pair, stream, size, timeout, at_once=True))
            for stream in self.streams
        }
        return replace(look, more={"timed": timed})

    def _silent_after(self, effect: Effect) -> float:
        """Late is not silent. A rate holds back a round trip, too, by a few hundred bytes."""
        rate = 1 / self.rate_kb if self.rate_kb else 0.0
        return SILENT_AFTER + len(Stream) * (self.latency_ms / 1000 + rate)

    def _shows(self, effect: Effect, look: Look) -> bool:
        if look.reach is not ProbeResult.ANSWERED or look.elapsed_ms < self.latency_ms * len(self.streams):
            return False
        late = self.latency_ms * len(self.streams)
        return all(
            each["ms"] - each["trips"] * late >= AT_LEAST * each["bytes"] / self.rate_kb
            for each in self._transfers(look).values()
        )

    def _healed(self, effect: Effect, look: Look) -> bool:
        """And is as fast as a link is."""
        if not super()._healed(effect, look):
            return False
        late = self.latency_ms and look.reach is ProbeResult.ANSWERED and look.elapsed_ms >= self.latency_ms
        slow = [
            transfer
            for transfer in self._transfers(look).values()
            if transfer["ms"] > transfer["bytes"] / self.rate_kb / 2
        ]
        return not late and not slow

    def _transfers(self, look: Look) -> dict[str, dict[str, Any]]:
        timed: dict[str, dict[str, Any]] = look.more.get("timed", {})
        return timed


def _as_json(transfer: Transfer) -> dict[str, Any]:
    return {"bytes": transfer.passed, "trips": transfer.trips, "ms": transfer.elapsed_ms}
