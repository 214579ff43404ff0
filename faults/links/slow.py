"""Links are slow: every byte comes late, or few come in a second."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from faults.capabilities import CapabilityError, Cluster, Harm, LinkState, Reach, Stream, Toxic, Transfer
from faults.links.holding import STREAMS
from faults.links.link_fault import PATIENCE, SILENT_AFTER, Effect, LinkFault, Look, pairs

TIMED_MS = 300
"""How long the bytes take that prove a bandwidth."""
TRIPS = 3
"""The quickest of them tells a latency: a busy machine makes some late, a toxic all."""
ENOUGH_MS = 50
"""What takes less than that cannot be told from chance."""
AT_LEAST = 0.8
"""Of the time that the bytes should take. Toxiproxy counts in slices of 100 ms."""


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
    measure: ClassVar[str] = "a round trip and, of a rate, bytes by the clock"

    def __init__(
        self,
        cluster: Cluster,
        *,
        from_: Sequence[str],
        to: Sequence[str],
        latency_ms: int = 0,
        rate_kb: int = 0,
        streams: str = "both",
    ) -> None:
        super().__init__(cluster)
        self.latency_ms, self.rate_kb = latency_ms, rate_kb
        self.streams = STREAMS[streams]
        amounts = {Harm.LATENCY: latency_ms, Harm.BANDWIDTH: rate_kb}
        toxics = frozenset(
            Toxic(harm, stream, amount) for harm, amount in amounts.items() if amount for stream in self.streams
        )
        self.effects = tuple(Effect(*pair, LinkState(True, toxics)) for pair in pairs(from_, to))

    def set_up(self) -> None:
        if not self.latency_ms and not self.rate_kb:
            raise CapabilityError("`slow` without latency_ms and rate_kb slows nothing: give one of them, or both")
        super().set_up()
        deadline = time.monotonic() + PATIENCE / 2
        while complaints := self._immeasurable():
            if time.monotonic() > deadline:
                raise CapabilityError("; ".join(complaints))
            self.before = self._each(self._look)

    def _immeasurable(self) -> list[str]:
        """What cannot be told apart from the link as it is; on a busy machine that may pass."""
        return [*self._late_already(), *self._narrow_already()]

    def _late_already(self) -> list[str]:
        least = self.latency_ms * len(self.streams)
        return [
            f"a latency of {least} ms from {effect.source} to {effect.destination} cannot be proven: a round trip "
            f"takes {before.elapsed_ms:g} ms there as it is; ask for more"
            for effect in self.effects
            if least and (before := self.before[effect.pair]).reach is Reach.ANSWERED and before.elapsed_ms >= least
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
        if self.latency_ms and look.reach is Reach.ANSWERED:
            again = (self.cluster.links.round_trip(*effect.pair, self._silent_after(effect)) for _ in range(TRIPS - 1))
            trips = [trip.elapsed_ms for trip in again if trip.reach is Reach.ANSWERED]
            look = replace(look, elapsed_ms=min([look.elapsed_ms, *trips]))
        if not self.rate_kb or look.reach is not Reach.ANSWERED:
            return look
        size, patience = self.rate_kb * TIMED_MS, 10 * TIMED_MS / 1000 + 2 * self._silent_after(effect)
        timed = {
            stream.value: _told(self.cluster.links.transfer(*effect.pair, stream, size, patience, at_once=True))
            for stream in self.streams
        }
        return replace(look, more={"timed": timed})

    def _silent_after(self, effect: Effect) -> float:
        """Late is not silent. A rate holds back a round trip, too, by a few hundred bytes."""
        rate = 1 / self.rate_kb if self.rate_kb else 0.0
        return SILENT_AFTER + len(Stream) * (self.latency_ms / 1000 + rate)

    def _shows(self, effect: Effect, look: Look) -> bool:
        if look.reach is not Reach.ANSWERED or look.elapsed_ms < self.latency_ms * len(self.streams):
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
        late = self.latency_ms and look.reach is Reach.ANSWERED and look.elapsed_ms >= self.latency_ms
        slow = [each for each in self._transfers(look).values() if each["ms"] > each["bytes"] / self.rate_kb / 2]
        return not late and not slow

    def _transfers(self, look: Look) -> dict[str, dict[str, Any]]:
        timed: dict[str, dict[str, Any]] = look.more.get("timed", {})
        return timed


def _told(transfer: Transfer) -> dict[str, Any]:
    return {"bytes": transfer.passed, "trips": transfer.trips, "ms": transfer.elapsed_ms}
