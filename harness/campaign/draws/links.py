"""Draws of links: cut, stalled, one way, whole nodes apart."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from faults.capabilities import Capability
from harness.campaign.draws.base import Drawn, Kind, Part, Undo, Who, a_broker, some_brokers, some_of_the_quorum
from harness.campaign.ground import Ground
from harness.plan.base import NodeRefs
from harness.plan.injects import InjectCut, InjectIsolate, InjectOneWay, InjectStall, InjectStep
from harness.targets.target import Dialect

AMONG_BROKERS = Part("links among brokers")
TO_QUORUM = Part("links between brokers and quorum")
AMONG_QUORUM = Part("links among the quorum")

STREAMS = ("both", "both", "requests", "replies")


def cut(rng: random.Random, ground: Ground) -> Drawn:
    who, other, part = _ends(rng, ground)
    if rng.random() < 0.8:
        return _link(
            InjectCut, ground, who, part, {"from_": who.refs, "to": other}, f"cut {who.text} to {_text(other)}"
        )
    return _link(InjectCut, ground, who, part, {"from_": other, "to": who.refs}, f"cut {_text(other)} to {who.text}")


def stall(rng: random.Random, ground: Ground) -> Drawn:
    who, other, part = _ends(rng, ground)
    params = {"from_": who.refs, "to": other, "streams": rng.choice(STREAMS)}
    return _link(InjectStall, ground, who, part, params, f"stall {who.text} to {_text(other)}", stalls=True)


def one_way(rng: random.Random, ground: Ground) -> Drawn:
    who, other, part = _ends(rng, ground)
    ends = (who.refs, other) if rng.random() < 0.5 else (other, who.refs)
    params = {"from_": ends[0], "to": ends[1]}
    title = f"nothing flows from {_text(ends[0])} to {_text(ends[1])}"
    return _link(InjectOneWay, ground, who, part, params, title, stalls=True)


def isolate(rng: random.Random, ground: Ground) -> Drawn:
    """From everybody, or from one side only."""
    how = rng.choice(("cut", "stall"))
    if rng.random() < 0.4:
        who = a_broker(rng, ground)
        others: tuple[str, ...] = ("brokers", ground.quorum_role)
        title = f"{who.text} apart from everybody ({how})"
        drawn = _link(
            InjectIsolate,
            ground,
            who,
            AMONG_BROKERS,
            {"nodes": who.refs, "from_": others, "how": how},
            title,
            stalls=how == "stall",
        )
        return replace(drawn, parts=(AMONG_BROKERS, TO_QUORUM), goes_on=_gives_up(ground))
    who, other, part = _ends(rng, ground)
    params = {"nodes": who.refs, "from_": other, "how": how}
    title = f"{who.text} apart from {_text(other)} ({how})"
    drawn = _link(InjectIsolate, ground, who, part, params, title, stalls=how == "stall")
    if part == AMONG_QUORUM:
        return replace(drawn, goes_on=True)
    return drawn


def _ends(rng: random.Random, ground: Ground) -> tuple[Who, NodeRefs, Part]:
    """Whom, from whom, over which links. One of the two is always a group of which the other is at most a part, so
    that some link is left, whichever nodes the roles lead to."""
    where = rng.choices(("quorum", "brokers", "among the quorum"), weights=(5, 4, 2 if len(ground.quorum) > 1 else 0))[
        0
    ]
    if where == "among the quorum":
        who = some_of_the_quorum(rng, ground)
        return who, ground.quorum_role, AMONG_QUORUM
    if where == "brokers":
        who = some_brokers(rng, ground)
        if who.leads and rng.random() < 0.5:
            return who, f"followers:{who.partition}", AMONG_BROKERS
        if len(who.named) == 1 and rng.random() < 0.5:
            return who, rng.choice([each for each in ground.brokers if each not in who.named]), AMONG_BROKERS
        return who, "brokers", AMONG_BROKERS
    return some_brokers(rng, ground), ground.quorum_role, TO_QUORUM


def _link(
    inject: type[InjectStep],
    ground: Ground,
    who: Who,
    part: Part,
    params: Mapping[str, Any],
    title: str,
    *,
    stalls: bool = False,
) -> Drawn:
    """The others go on without whom no controller hears, where a lease ends then on both sides."""
    lost = part == TO_QUORUM and params.get("from_") == who.refs and _gives_up(ground)
    return Drawn(
        inject=inject,
        params=params,
        who=who,
        undo=Undo.LINKS,
        parts=(part,),
        brokers=who.most if who.side == "brokers" else 0,
        quorum=who.most if who.side == "quorum" else 0,
        goes_on=lost,
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
    Kind("one-way", 4, Capability.LINKS, one_way),
    Kind("isolate", 4, Capability.LINKS, isolate),
)
