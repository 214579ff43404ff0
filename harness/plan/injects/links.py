"""Steps that break links: `faults.links`."""

from __future__ import annotations

from typing import Literal

from harness.plan.base import NodeRefs
from harness.plan.injects.base import InjectStep


class InjectStall(InjectStep):
    """Links from `from` to `to`: bytes wait, and arrive after healing."""

    fault: Literal["stall"] = "stall"
    from_: NodeRefs
    to: NodeRefs
    streams: Literal["both", "requests", "replies"] = "both"


class InjectCut(InjectStep):
    """Links from `from` to `to`: open connections end, new ones are refused."""

    fault: Literal["cut"] = "cut"
    from_: NodeRefs
    to: NodeRefs


class InjectOneWay(InjectStep):
    """Nothing flows from `from` to `to`, whoever opened the connection; the other way all does."""

    fault: Literal["one-way"] = "one-way"
    from_: NodeRefs
    to: NodeRefs


class InjectIsolate(InjectStep):
    """`nodes` and `from` cannot talk, whoever opens the connection. `how`: see `cut` and `stall`."""

    fault: Literal["isolate"] = "isolate"
    nodes: NodeRefs
    from_: NodeRefs
    how: Literal["cut", "stall"] = "cut"


InjectLinks = InjectStall | InjectCut | InjectOneWay | InjectIsolate
