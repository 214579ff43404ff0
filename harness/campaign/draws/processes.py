"""Draws of whole processes: killed, stopped, ended, restarted, and what they find on disk when they start again."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from faults.capabilities import Capability
from harness.campaign.draws.base import Drawn, Kind, Undo, Who, a_broker, a_replica, anybody, one_of_the_quorum
from harness.campaign.draws.links import TO_QUORUM
from harness.campaign.ground import Ground
from harness.plan.injects import (
    InjectCrashLoop,
    InjectEmptied,
    InjectKill,
    InjectLateBytes,
    InjectPause,
    InjectRestored,
    InjectRollingRestart,
    InjectStep,
    InjectTerminate,
)

KEEPS_ITS_PLACE = (
    "a replica that is killed stays in the ISR and may lead by what its directory holds, so that what it lacks is lost "
    "by design (as LF-01)"
)


def kill(rng: random.Random, ground: Ground) -> Drawn:
    """kill -9 loses nothing that was handed to the kernel, so any number of nodes may be killed at a time."""
    who = anybody(rng, ground)
    return _of(InjectKill, who, {"nodes": who.refs}, f"kill -9 of {who.text}", ends=True, goes_on=True)


def pause(rng: random.Random, ground: Ground) -> Drawn:
    """A stopped process keeps its connections: a client may wait for it as long as the stop lasts."""
    who = anybody(rng, ground)
    return _of(InjectPause, who, {"nodes": who.refs}, f"pause of {who.text}", undo=Undo.PAUSES, ends=True)


def terminate(rng: random.Random, ground: Ground) -> Drawn:
    """Alone: who cannot reach anybody cannot hand over what it leads, and may take its time to end."""
    who = a_broker(rng, ground) if rng.random() < 0.7 else one_of_the_quorum(rng, ground)
    return _of(InjectTerminate, who, {"nodes": who.refs}, f"SIGTERM to {who.text}", ends=True, alone=True)


def crash_loop(rng: random.Random, ground: Ground) -> Drawn:
    who = a_broker(rng, ground) if rng.random() < 0.8 else one_of_the_quorum(rng, ground)
    lease = ground.timing.lease_ms
    lives = tuple(round(lease * rng.choice((0.1, 0.3, 0.7, 1.2)), -1) for _ in range(rng.choice((1, 2, 3))))
    params = {"node": who.refs, "lives_ms": tuple(map(int, lives))}
    return _of(InjectCrashLoop, who, params, f"{who.text} crashes {len(lives) + 1} times", ends=True, alone=True)


def rolling_restart(rng: random.Random, ground: Ground) -> Drawn:
    """One after the other, and nothing is held when it is proven. A replica may not have caught up when the next one
    goes; all come back, so it costs time and nothing else."""
    side = "brokers" if rng.random() < 0.7 or len(ground.quorum) < 2 else "quorum"
    names = ground.brokers if side == "brokers" else ground.quorum
    order = tuple(rng.sample(names, len(names)))
    how = rng.choice(("kill", "shutdown"))
    who = Who(order, 1, side, order)
    title = f"restart of all {'brokers' if side == 'brokers' else ground.quorum_role} in turn ({how})"
    return _of(InjectRollingRestart, who, {"nodes": order, "how": how}, title, alone=True)


def emptied(rng: random.Random, ground: Ground) -> Drawn:
    who = a_replica(rng, ground)
    how = rng.choice(("kill", "kill", "shutdown"))
    title = f"{who.text} loses its directory ({how})"
    return _of(InjectEmptied, who, {"nodes": who.refs, "how": how}, title, ends=True, fragile=True)


def restored(rng: random.Random, ground: Ground) -> Drawn:
    who = a_replica(rng, ground)
    params = {"node": who.refs, "age_ms": rng.choice((500, 1000, 3000)), "how": rng.choice(("kill", "shutdown"))}
    title = f"{who.text} gets an old copy of its directory ({params['how']})"
    return _of(InjectRestored, who, params, title, ends=True, fragile=True)


def late_bytes(rng: random.Random, ground: Ground) -> Drawn:
    """What a dead broker had sent to the quorum arrives beside what its successor sends."""
    who = a_broker(rng, ground)
    params = {"node": who.refs, "to": ground.quorum_role, "queued_ms": rng.choice((1000, 2000))}
    title = f"requests of {who.text} to {ground.quorum_role} arrive after its death"
    drawn = _of(InjectLateBytes, who, params, title, ends=True, alone=True, stalls=True)
    return replace(drawn, parts=(*drawn.parts, TO_QUORUM))


def _of(
    inject: type[InjectStep],
    who: Who,
    params: dict[str, Any],
    title: str,
    *,
    undo: Undo = Undo.PROCESSES,
    **more: bool,
) -> Drawn:
    return Drawn(
        inject=inject,
        params=params,
        who=who,
        undo=undo,
        parts=who.processes(),
        brokers=who.most if who.side == "brokers" else 0,
        quorum=who.most if who.side == "quorum" else 0,
        title=title,
        **more,
    )


KINDS = (
    Kind("kill", 9, Capability.KILL, kill),
    Kind("pause", 7, Capability.PAUSE, pause),
    Kind("terminate", 3, Capability.TERMINATE, terminate),
    Kind("crash-loop", 2, Capability.KILL, crash_loop),
    Kind("rolling-restart", 1, Capability.TERMINATE, rolling_restart),
    Kind("late-bytes", 2, Capability.HELD_BYTES, late_bytes),
    Kind("emptied", 2, Capability.DIRECTORIES, emptied, {"leader-driven": KEEPS_ITS_PLACE}),
    Kind("restored", 2, Capability.DIRECTORIES, restored, {"leader-driven": KEEPS_ITS_PLACE}),
)
