"""A link ends each connection after so many bytes: a frame torn in the middle."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fencepost.faults.capabilities import CapabilityError, Cluster, Harm, ProbeResult, Stream, Transfer
from fencepost.faults.generation import LINKS_AMONG_QUORUM, BreakableCluster, GeneratedFault, text_of
from fencepost.faults.links.link_fault import Effect, LinkFault, Look, harmed, pairs
from fencepost.faults.links.link_generation import generated, opened_links
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in

COUNTED_WITHIN = 10.0
"""Seconds for the bytes that are counted."""


CutStream = Literal["requests", "replies"]
STREAM_CHOICES: tuple[CutStream, ...] = ("requests", "replies")
"""A request that is torn was never made; one whose reply is torn was, and its sender cannot know (KAFKA-14144)."""


class CutAfterBytesParameters(FaultParameters):
    """Links from `from` to `to`: each connection ends after so many bytes of one stream, in the middle of a frame."""

    from_: NodeRefs
    to: NodeRefs
    after_bytes: Annotated[int, Field(ge=1, le=1_000_000)]
    stream: CutStream = "requests"


class CutAfterBytes(LinkFault):
    """Each connection that `from` opens to `to` carries `after_bytes` of its requests, or of its replies, and ends.

    The receiver gets the beginning of a frame and then the end of the connection. Connections that are open begin to be
    counted when the fault begins; each new connection has as many bytes, until it is healed. Models a peer or a
    path that dies in the middle of a message. Does not model bytes that are lost or changed in between. Proven by
    counting: of requests one byte less passes whole and one more does not, of replies exactly so many come.
    Source: Toxiproxy, `limit_data` on one stream.
    """

    name: ClassVar[str] = "cut-after-bytes"
    phrase = "each connection from {from} to {to} is cut after {after_bytes} bytes of its {stream}"
    measure: ClassVar[str] = "bytes counted"
    holds: ClassVar[bool] = False
    counts_bytes: ClassVar[bool] = True
    Parameters = CutAfterBytesParameters
    weight = 2

    def __init__(self, cluster: Cluster, parameters: CutAfterBytesParameters) -> None:
        super().__init__(cluster)
        self.after_bytes, self.stream = parameters.after_bytes, Stream(parameters.stream)
        wanted = harmed(Harm.LIMIT, {self.stream}, self.after_bytes)
        links = pairs(names_in(parameters.from_), names_in(parameters.to))
        self.effects = tuple(Effect(*pair, wanted) for pair in links)

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        """Not within a ZooKeeper ensemble: no bytes can be counted on the ports between its servers."""
        aim, other, links = opened_links(rng, cluster)
        if links == LINKS_AMONG_QUORUM and cluster.uses_zookeeper:
            return None
        stream = rng.choice(STREAM_CHOICES)
        after = rng.choice((20, 100, 400, 1000) if stream == "replies" else (20, 100, 400, 2000))
        parameters = CutAfterBytesParameters(from_=aim.refs, to=other, after_bytes=after, stream=stream)
        title = f"cut {aim.text} to {text_of(other)} after {after} bytes of {stream}"
        return generated(parameters, aim, links, title)

    def set_up(self) -> None:
        super().set_up()
        for effect in self.effects:
            before = self.before[effect.pair]
            if before.reach is ProbeResult.ANSWERED and before.more.get("more") != ProbeResult.ANSWERED.value:
                raise CapabilityError(
                    f"{self.after_bytes} bytes of {self.stream.value} from {effect.source} to {effect.destination} "
                    f"cannot be counted: {before.more}; choose fewer, or the other stream"
                )

    def _look(self, effect: Effect) -> Look:
        """`less`, `more`: what became of a byte less and of a byte more than pass."""
        look = super()._look(effect)
        if look.reach in (ProbeResult.REFUSED, ProbeResult.SILENT):
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
        if look.more.get("more") not in (ProbeResult.CLOSED.value, ProbeResult.RESET.value):
            return False
        if self.stream is Stream.REPLIES:
            return bool(look.more["bytes"] == self.after_bytes)
        return bool(look.more.get("less", ProbeResult.ANSWERED.value) == ProbeResult.ANSWERED.value)

    def _healed(self, effect: Effect, look: Look) -> bool:
        if not super()._healed(effect, look):
            return False
        return look.reach is not ProbeResult.ANSWERED or bool(look.more.get("more") == ProbeResult.ANSWERED.value)
