"""Draws of links: cut, silent, one way, slow, torn; whole nodes apart, in halves or in a ring."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from faults.capabilities import Capability
from harness.campaign.draws.base import Drawn, Kind, Part, Undo, Who, a_broker, some_brokers, some_of_the_quorum
from harness.campaign.ground import Ground
from harness.plan.base import NodeRefs
from harness.plan.injects.base import InjectStep
from harness.plan.injects.links import (
    InjectBlackhole,
    InjectBridge,
    InjectCut,
    InjectCutAfterBytes,
    InjectFlapping,
    InjectIsolate,
    InjectOneWay,
    InjectReset,
    InjectRing,
    InjectSlow,
    InjectStall,
)
from harness.targets.target import Dialect

AMONG_BROKERS = Part("links among brokers")
TO_QUORUM = Part("links between brokers and quorum")
AMONG_QUORUM = Part("links among the quorum")
OF_CLIENTS = Part("links of clients")

STREAMS = ("both", "both", "requests", "replies")
HOW = ("cut", "cut", "stall", "blackhole")
"""What a partition does to connections."""
RING = 4
"""So many brokers make a ring in which some are no neighbours."""


def cut(rng: random.Random, ground: Ground) -> Drawn:
    who, other, part = _opened(rng, ground)
    turned = rng.random() < 0.2 and part != OF_CLIENTS
    source, destination = (other, who.refs) if turned else (who.refs, other)
    title = f"cut {_text(source)} to {_text(destination)}"
    return _link(InjectCut, ground, who, part, {"from_": source, "to": destination}, title, stalls=False)


def stall(rng: random.Random, ground: Ground) -> Drawn:
    who, other, part = _opened(rng, ground)
    params = {"from_": who.refs, "to": other, "streams": rng.choice(STREAMS)}
    return _link(InjectStall, ground, who, part, params, f"stall {who.text} to {_text(other)}")


def blackhole(rng: random.Random, ground: Ground) -> Drawn:
    who, other, part = _opened(rng, ground)
    params = {"from_": who.refs, "to": other, "streams": rng.choice(STREAMS)}
    return _link(InjectBlackhole, ground, who, part, params, f"bytes from {who.text} to {_text(other)} are lost")


def reset(rng: random.Random, ground: Ground) -> Drawn:
    who, other, part = _opened(rng, ground)
    params = {"from_": who.refs, "to": other}
    return _link(InjectReset, ground, who, part, params, f"reset {who.text} to {_text(other)}")


def slow(rng: random.Random, ground: Ground) -> Drawn:
    """A delay of the stream that a lease outlives, or not."""
    who, other, part = _opened(rng, ground)
    latency = rng.choice((20, 50, 100, 200, 400))
    params = {"from_": who.refs, "to": other, "latency_ms": latency, "streams": rng.choice(STREAMS)}
    return _link(InjectSlow, ground, who, part, params, f"{latency} ms from {who.text} to {_text(other)}")


def cut_after_bytes(rng: random.Random, ground: Ground) -> Drawn | None:
    """Not within a ZooKeeper ensemble: no bytes can be counted on the ports between its servers."""
    who, other, part = _opened(rng, ground)
    if part == AMONG_QUORUM and ground.around_zookeeper:
        return None
    after = rng.choice((20, 100, 400, 2000))
    params = {"from_": who.refs, "to": other, "after_bytes": after}
    title = f"cut {who.text} to {_text(other)} after {after} bytes"
    return _link(InjectCutAfterBytes, ground, who, part, params, title)


def one_way(rng: random.Random, ground: Ground) -> Drawn:
    who, other, part = _ends(rng, ground)
    ends = (who.refs, other) if rng.random() < 0.5 else (other, who.refs)
    params = {"from_": ends[0], "to": ends[1], "how": rng.choice(("stall", "stall", "blackhole"))}
    title = f"nothing flows from {_text(ends[0])} to {_text(ends[1])}"
    return _link(InjectOneWay, ground, who, part, params, title)


def isolate(rng: random.Random, ground: Ground) -> Drawn:
    """From everybody, or from one side only."""
    how = rng.choice(HOW)
    if rng.random() < 0.4:
        who = a_broker(rng, ground)
        params = {"nodes": who.refs, "from_": ("brokers", ground.quorum_role), "how": how}
        title = f"{who.text} apart from everybody ({how})"
        drawn = _link(InjectIsolate, ground, who, AMONG_BROKERS, params, title, stalls=how != "cut")
        return replace(drawn, parts=(AMONG_BROKERS, TO_QUORUM), goes_on=_gives_up(ground))
    who, other, part = _two_sides(rng, ground)
    params = {"nodes": who.refs, "from_": other, "how": how}
    title = f"{who.text} apart from {_text(other)} ({how})"
    drawn = _link(InjectIsolate, ground, who, part, params, title, stalls=how != "cut")
    return replace(drawn, goes_on=part == AMONG_QUORUM)


def flapping(rng: random.Random, ground: Ground) -> Drawn:
    who, other, part = _two_sides(rng, ground)
    how = rng.choice(("cut", "cut", "stall"))
    shortest = 200 if how == "cut" else 1000
    on, off, times = rng.choice((1, 2, 4)) * shortest, rng.choice((1, 2, 4)) * shortest, rng.choice((2, 3, 5))
    params = {"nodes": who.refs, "from_": other, "on_ms": on, "off_ms": off, "count": times, "how": how}
    title = f"{who.text} and {_text(other)} flap ({how}, {on} ms of {on + off})"
    drawn = _link(InjectFlapping, ground, who, part, params, title)
    return replace(drawn, alone=how == "stall")  # toxics come and go, and cannot while an end is paused


def bridge(rng: random.Random, ground: Ground) -> Drawn | None:
    """Two nodes that do not reach each other, and one that both reach: of the brokers, or of the quorum."""
    side, part, names = rng.choice(
        (("brokers", AMONG_BROKERS, ground.brokers), ("quorum", AMONG_QUORUM, ground.quorum))
    )
    if len(names) < 3:
        return None
    over, *rest = rng.sample(names, len(names))
    half = max(1, len(rest) // 2)
    one, other = tuple(sorted(rest[:half])), tuple(sorted(rest[half:]))
    how = rng.choice(HOW)
    params = {"nodes": one, "from_": other, "over": over, "how": how}
    who = Who(one, len(one), side, one)
    title = f"{_text(one)} and {_text(other)} apart but for {over} ({how})"
    return _link(InjectBridge, ground, who, part, params, title, stalls=how != "cut")


def ring(rng: random.Random, ground: Ground) -> Drawn | None:
    """Every broker is apart from one other at least."""
    if len(ground.brokers) < RING:
        return None
    names, how = tuple(rng.sample(ground.brokers, len(ground.brokers))), rng.choice(HOW)
    who = Who(names, len(names), "brokers", names)
    title = f"a ring of {', '.join(names)} ({how})"
    return _link(InjectRing, ground, who, AMONG_BROKERS, {"nodes": names, "how": how}, title, stalls=how != "cut")


def _opened(rng: random.Random, ground: Ground) -> tuple[Who, NodeRefs, Part]:
    """As `_ends`, for faults of the links that one side opens: now and then these are the clients'."""
    if rng.random() < 0.1:
        refs = rng.choice((f"leader:{rng.choice(ground.partitions)}", "brokers"))
        return Who("site:main", 1, "clients"), refs, OF_CLIENTS
    return _ends(rng, ground)


def _ends(rng: random.Random, ground: Ground) -> tuple[Who, NodeRefs, Part]:
    """Whom, from whom, over which links. One of the two is always a group of which the other is at most a part, so
    that some link is left, whichever nodes the roles lead to."""
    weights = (5, 4, 2 if len(ground.quorum) > 1 else 0)
    where = rng.choices(("quorum", "brokers", "among the quorum"), weights=weights)[0]
    if where == "among the quorum":
        return some_of_the_quorum(rng, ground), ground.quorum_role, AMONG_QUORUM
    if where == "quorum":
        return some_brokers(rng, ground), ground.quorum_role, TO_QUORUM
    who = some_brokers(rng, ground)
    if who.leads and rng.random() < 0.5:
        return who, f"followers:{who.partition}", AMONG_BROKERS
    if len(who.named) == 1 and rng.random() < 0.5:
        return who, rng.choice([each for each in ground.brokers if each not in who.named]), AMONG_BROKERS
    return who, "brokers", AMONG_BROKERS


def _two_sides(rng: random.Random, ground: Ground) -> tuple[Who, NodeRefs, Part]:
    """As `_ends`, for faults that part two groups: of a group from itself they are aimed at no link."""
    while True:
        who, other, part = _ends(rng, ground)
        if who.refs != other:
            return who, other, part


def _link(
    inject: type[InjectStep],
    ground: Ground,
    who: Who,
    part: Part,
    params: Mapping[str, Any],
    title: str,
    *,
    stalls: bool = True,
) -> Drawn:
    """The others go on without whom no controller hears, where a lease ends then on both sides."""
    silent = inject in (InjectCut, InjectStall, InjectBlackhole) and part == TO_QUORUM
    return Drawn(
        inject=inject,
        params=params,
        who=who,
        undo=Undo.LINKS,
        parts=(part,),
        brokers=who.most if who.side == "brokers" else 0,
        quorum=who.most if who.side == "quorum" else 0,
        goes_on=silent and params["from_"] == who.refs and _gives_up(ground),
        stalls=stalls,
        title=title,
    )


def _gives_up(ground: Ground) -> bool:
    """A broker that no controller hears stops serving, so that clients look elsewhere. Shipped Kafka's serves on, and
    what it then says of leaders is as old as the cut."""
    return ground.target.dialect is Dialect.KIP_631


def _text(refs: NodeRefs) -> str:
    return refs if isinstance(refs, str) else " and ".join(refs)


KINDS = (
    Kind("cut", 5, Capability.LINKS, cut),
    Kind("stall", 5, Capability.LINKS, stall),
    Kind("blackhole", 3, Capability.LINKS, blackhole),
    Kind("one-way", 4, Capability.LINKS, one_way),
    Kind("isolate", 5, Capability.LINKS, isolate),
    Kind("flapping", 2, Capability.LINKS, flapping),
    Kind("bridge", 2, Capability.LINKS, bridge),
    Kind("ring", 2, Capability.LINKS, ring),
    Kind("slow", 2, Capability.LINKS, slow),
    Kind("reset", 2, Capability.LINKS, reset),
    Kind("cut-after-bytes", 2, Capability.LINKS, cut_after_bytes),
)
