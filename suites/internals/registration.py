"""Two processes claim one broker id: the process with the znode has the id."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

REFUSED = 2
"""The reference's exit code for a node that cannot run as it was configured."""
SESSION_MS = 9000
"""Long enough to kill, start and cut off a broker within a session, also on a busy machine."""
GRACE_MS = 1000
"""How much longer than a session a broker waits for its id."""


@v.internals_scenario(
    "duplicate-id-at-the-znode",
    "A second process with a live broker's id cannot register and changes nothing",
    seconds=12,
)
def at_the_znode(draft: v.Draft) -> v.Plan:
    """The original is a follower: fetches of a second process with its id would be credited to it."""
    leader, original, controller = draft.roles
    duplicate = v.duplicate_of(original, "empty")
    draft = draft.timed(lease_ms=3000)
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value=f"broker-epoch:{original}"),
        v.inject("duplicate", v.DuplicateParameters(node=duplicate.name)),
        v.Connected(as_="fetches", node=duplicate.name, to=leader, within_ms=2000, expect=v.never("DINT-26")),
        *_ends(draft.target, duplicate.name),
        v.BrokerEpochAbove(as_="ousted", node=original, value="$epoch", within_ms=500, expect=v.never("DINT-17")),
        *v.service_probes("original", original, v.serves("INT-50"), repeat=1)[:1],
        v.goes_on(),
        v.Heal(as_="duplicate-is-gone", fault="duplicate"),
    ]
    return draft.plan(
        steps,
        "refused",
        "original-metadata",
        v.acknowledged("refused.ended"),
        topology=v.zookeeper_cluster(controller=controller, more=[duplicate]),
    )


def _ends(target: v.TargetFacts, duplicate: str) -> list[v.Step]:
    """The duplicate waits one session timeout, then ends with the exit code of a refused configuration."""
    expect = target.unless("AZ-02", v.must("DINT-17"), v.must("DINT-17"))
    code = 1 if target.differs("AZ-02") else REFUSED
    return [v.NodeExited(as_="refused", node=duplicate, code=code, expect=expect)]


@v.internals_scenario(
    "id-taken-after-expiry",
    "Without incarnations a broker ends when another process took its id after its session expired",
    seconds=15,
    levels=("base",),
)
def taken_after_expiry(draft: v.Draft) -> v.Plan:
    """The original is cut from ZooKeeper until its session expires and another process has its id."""
    _, original, controller = draft.roles
    duplicate = v.duplicate_of(original, "empty")
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value=f"broker-epoch:{original}"),
        v.inject("cut", v.CutParameters(from_=original, to="zookeeper")),
        v.Registered(as_="gone", node=original, is_=False, expect=v.must("INT-43")),
        v.inject("duplicate", v.DuplicateParameters(node=duplicate.name)),
        v.BrokerEpochAbove(as_="taken", node=original, value="$epoch", expect=v.must("INT-50")),
        v.Heal(as_="mend", fault="cut"),
        *_gives_up(draft.target, original),
        v.Heal(as_="duplicate-dies", fault="duplicate"),
        v.Registered(as_="free", node=original, is_=False, expect=v.must("INT-43")),
        *_started_again(draft.target, original),
    ]
    return draft.plan(
        steps,
        "taken",
        v.acknowledged("duplicate-dies.ended"),
        topology=v.zookeeper_cluster(controller=controller, more=[duplicate]),
    )


def _gives_up(target: v.TargetFacts, original: str) -> list[v.Step]:
    if not target.differs("AZ-03"):
        return [v.NodeExited(as_="original-ends", node=original, expect=v.must("DINT-18"))]
    stays = v.never("DINT-18").model_copy(update={"difference": "AZ-03"})
    return [v.NodeExited(as_="original-ends", node=original, within_ms=5000, expect=stays)]


def _started_again(target: v.TargetFacts, original: str) -> list[v.Step]:
    """Restart the original where it does not end by itself (AZ-03): it does not return by itself either."""
    if not target.differs("AZ-03"):
        return [v.Start(as_="original-starts", nodes=original)]
    outside = v.never("INT-51").model_copy(update={"difference": "AZ-03"})
    return [
        v.Registered(as_="still-outside", node=original, is_=True, within_ms=3000, expect=outside),
        v.inject("operator", v.KillParameters(nodes=original)),
        v.Heal(as_="original-starts", fault="operator"),
    ]


@v.internals_scenario(
    "waits-for-its-id-unheard",
    "A broker that waits for its id waits on while ZooKeeper is silent, and takes the id once it is free",
    seconds=20,
    levels=("heartbeats", "plain"),
    dialects=v.ZOOKEEPER_MODE | v.LEADER_DRIVEN,
)
def hears_nothing(draft: v.Draft) -> v.Plan:
    """A broker restarts inside the session of its dead process, waits for its end, and is cut off meanwhile."""
    broker, _, _ = draft.roles
    waits = "DLD-01" if draft.target.leader_driven else "DINT-17"
    draft = draft.timed(session_ms=SESSION_MS)
    steps: list[v.Step] = [
        v.inject("crash", v.KillParameters(nodes=broker, back="running")),
        v.Heal(as_="restart", fault="crash"),
        v.inject(
            "unheard",
            v.CutParameters(from_=broker, to="zookeeper"),
            when=v.LogLine(says="this process waits for that to end", node=broker),
        ),
        v.Hold(as_="past-its-timeout", after="unheard.proven", ms=draft.timing.session_ms + 2 * GRACE_MS),
        v.NodeExited(as_="gives-up", node=broker, within_ms=400, expect=v.never(waits)),
        v.Heal(as_="mend", fault="unheard"),
        v.Registered(as_="has-its-id", node=broker, is_=True, expect=v.must(waits)),
    ]
    return draft.plan(steps, v.acknowledged("mend.ended"))
