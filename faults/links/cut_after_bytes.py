"""A link ends each connection after so many bytes: a frame torn in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from faults.capabilities import CapabilityError, Cluster, Harm, Reach, Stream, Transfer
from faults.links.holding import harmed
from faults.links.link_fault import Effect, LinkFault, Look, pairs

COUNTED_WITHIN = 10.0
"""Seconds for the bytes that are counted."""


class CutAfterBytes(LinkFault):
    """Each connection that `from` opens to `to` carries `after_bytes` of its requests, or of its replies, and ends.

    The receiver gets the beginning of a frame and then the end of the connection. Connections that are open begin to be
    counted when the fault begins; whoever connects again has as many bytes anew, until it is healed. Models a peer or a
    path that dies in the middle of a message. Does not model bytes that are lost or changed in between. Proven by
    counting: of requests one byte less passes whole and one more does not, of replies exactly so many come.
    Source: Toxiproxy, `limit_data` on one stream.
    """

    name: ClassVar[str] = "cut-after-bytes"
    measure: ClassVar[str] = "bytes counted"
    holds: ClassVar[bool] = False

    def __init__(
        self,
        cluster: Cluster,
        *,
        from_: Sequence[str],
        to: Sequence[str],
        after_bytes: int,
        stream: str = "requests",
    ) -> None:
        super().__init__(cluster)
        self.after_bytes, self.stream = after_bytes, Stream(stream)
        wanted = harmed(Harm.LIMIT, {self.stream}, after_bytes)
        self.effects = tuple(Effect(*pair, wanted) for pair in pairs(from_, to))

    def set_up(self) -> None:
        super().set_up()
        for effect in self.effects:
            before = self.before[effect.pair]
            if before.reach is Reach.ANSWERED and before.more.get("more") != Reach.ANSWERED.value:
                raise CapabilityError(
                    f"{self.after_bytes} bytes of {self.stream.value} from {effect.source} to {effect.destination} "
                    f"cannot be counted: {before.more}; choose fewer, or the other stream"
                )

    def _look(self, effect: Effect) -> Look:
        """`less`, `more`: what became of a byte less and of a byte more than pass."""
        look = super()._look(effect)
        if look.reach in (Reach.REFUSED, Reach.SILENT):
            return look
        more = self._transfer(effect, self.after_bytes + 1)
        counted = {"more": more.reach.value, "bytes": more.passed}
        if self.stream is Stream.REQUESTS:
            less = self._transfer(effect, self.after_bytes - 1)
            counted |= {"less": less.reach.value} if less.asked < self.after_bytes else {}
        return replace(look, more=counted)

    def _transfer(self, effect: Effect, size: int) -> Transfer:
        return self.cluster.links.transfer(*effect.pair, self.stream, size, COUNTED_WITHIN)

    def _shows(self, effect: Effect, look: Look) -> bool:
        if look.more.get("more") not in (Reach.CLOSED.value, Reach.RESET.value):
            return False
        if self.stream is Stream.REPLIES:
            return bool(look.more["bytes"] == self.after_bytes)
        return bool(look.more.get("less", Reach.ANSWERED.value) == Reach.ANSWERED.value)

    def _healed(self, effect: Effect, look: Look) -> bool:
        if not super()._healed(effect, look):
            return False
        return look.reach is not Reach.ANSWERED or bool(look.more.get("more") == Reach.ANSWERED.value)
