"""Steps that break links: `faults.links`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from harness.plan.base import NodeRef, NodeRefs
from harness.plan.injects.base import InjectStep

Streams = Literal["both", "requests", "replies"]
How = Literal["cut", "stall", "blackhole"]
"""Connections end and are refused; bytes wait; bytes are lost."""

SHORTEST_MS = {"cut": 100, "stall": 800, "blackhole": 800}
"""Of a period of flapping: each change has to show before the next one."""


class InjectStall(InjectStep):
    """Links from `from` to `to`: bytes wait, and arrive after healing."""

    fault: Literal["stall"] = "stall"
    from_: NodeRefs
    to: NodeRefs
    streams: Streams = "both"


class InjectCut(InjectStep):
    """Links from `from` to `to`: open connections end, new ones are refused."""

    fault: Literal["cut"] = "cut"
    from_: NodeRefs
    to: NodeRefs


class InjectBlackhole(InjectStep):
    """Links from `from` to `to`: bytes are lost, and healing ends the connections."""

    fault: Literal["blackhole"] = "blackhole"
    from_: NodeRefs
    to: NodeRefs
    streams: Streams = "both"


class InjectOneWay(InjectStep):
    """Nothing flows from `from` to `to`, whoever opened the connection; the other way all does."""

    fault: Literal["one-way"] = "one-way"
    from_: NodeRefs
    to: NodeRefs
    how: Literal["stall", "blackhole"] = "stall"


class InjectIsolate(InjectStep):
    """`nodes` and `from` cannot talk, whoever opens the connection."""

    fault: Literal["isolate"] = "isolate"
    nodes: NodeRefs
    from_: NodeRefs
    how: How = "cut"


class InjectBridge(InjectStep):
    """`nodes` and `from` cannot talk, whoever opens the connection; `over` reaches both."""

    fault: Literal["bridge"] = "bridge"
    nodes: NodeRefs
    from_: NodeRefs
    over: NodeRef
    how: How = "cut"

    one_node: ClassVar[tuple[str, ...]] = ("over",)


class InjectRing(InjectStep):
    """Each of `nodes` reaches only the one before and the one after it, in this order."""

    fault: Literal["ring"] = "ring"
    nodes: NodeRefs
    how: How = "cut"


class InjectFlapping(InjectStep):
    """`nodes` and `from` cannot talk for `on_ms`, then can for `off_ms`, and so `count` times. It ends whole."""

    fault: Literal["flapping"] = "flapping"
    nodes: NodeRefs
    from_: NodeRefs
    on_ms: Annotated[int, Field(le=60_000)]
    off_ms: Annotated[int, Field(le=60_000)]
    count: Annotated[int, Field(ge=1, le=1000)]
    how: How = "cut"

    @model_validator(mode="after")
    def _long_enough(self) -> InjectFlapping:
        if min(self.on_ms, self.off_ms) < SHORTEST_MS[self.how]:
            raise ValueError(f"what flaps by `{self.how}` needs {SHORTEST_MS[self.how]} ms for each change to show")
        return self


class InjectSlow(InjectStep):
    """Links from `from` to `to`: each byte comes `latency_ms` late, or `rate_kb` thousand bytes come in a second on
    each connection, or both. A delay of the stream, not of packets."""

    fault: Literal["slow"] = "slow"
    from_: NodeRefs
    to: NodeRefs
    latency_ms: Annotated[int, Field(ge=0, le=60_000)] = 0
    rate_kb: Annotated[int, Field(ge=0, le=1000)] = 0
    streams: Streams = "both"

    @model_validator(mode="after")
    def _slow_somehow(self) -> InjectSlow:
        if not self.latency_ms and not self.rate_kb:
            raise ValueError("what is slow has `latency_ms`, `rate_kb` or both")
        if 0 < self.latency_ms < 10:
            raise ValueError("a latency below 10 ms cannot be told from a busy machine")
        return self


class InjectReset(InjectStep):
    """Links from `from` to `to`: open connections end, new ones are taken and then reset."""

    fault: Literal["reset"] = "reset"
    from_: NodeRefs
    to: NodeRefs


class InjectCutAfterBytes(InjectStep):
    """Links from `from` to `to`: each connection ends after so many bytes of one stream, in the middle of a frame."""

    fault: Literal["cut-after-bytes"] = "cut-after-bytes"
    from_: NodeRefs
    to: NodeRefs
    after_bytes: Annotated[int, Field(ge=1, le=1_000_000)]
    stream: Literal["requests", "replies"] = "requests"


InjectLinks = (
    InjectStall
    | InjectCut
    | InjectBlackhole
    | InjectOneWay
    | InjectIsolate
    | InjectBridge
    | InjectRing
    | InjectFlapping
    | InjectSlow
    | InjectReset
    | InjectCutAfterBytes
)
