"""Draws of whole processes: killed, stopped."""

from __future__ import annotations

import random

from faults.capabilities import Capability
from harness.campaign.draws.base import Drawn, Kind, Undo, anybody
from harness.campaign.ground import Ground
from harness.plan.injects import InjectKill, InjectPause


def kill(rng: random.Random, ground: Ground) -> Drawn:
    """kill -9 loses nothing that was handed to the kernel, so any number of nodes may be killed at a time."""
    who = anybody(rng, ground)
    return Drawn(
        inject=InjectKill,
        params={"nodes": who.refs},
        who=who,
        undo=Undo.PROCESSES,
        parts=who.processes(),
        brokers=who.most if who.side == "brokers" else 0,
        quorum=who.most if who.side == "quorum" else 0,
        ends=True,
        goes_on=True,
        title=f"kill -9 of {who.text}",
    )


def pause(rng: random.Random, ground: Ground) -> Drawn:
    """A stopped process keeps its connections: a client may wait for it as long as the stop lasts."""
    who = anybody(rng, ground)
    return Drawn(
        inject=InjectPause,
        params={"nodes": who.refs},
        who=who,
        undo=Undo.PAUSES,
        parts=who.processes(),
        brokers=who.most if who.side == "brokers" else 0,
        quorum=who.most if who.side == "quorum" else 0,
        ends=True,
        title=f"pause of {who.text}",
    )


KINDS = (
    Kind("kill", 8, Capability.KILL, kill),
    Kind("pause", 6, Capability.PAUSE, pause),
)
