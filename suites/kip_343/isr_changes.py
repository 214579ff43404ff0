"""ISR changes through the controller are requested, and requested again when the answer was lost."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

LEASE_MS = 8000
"""So long that a leader without answers is neither given up nor fenced while the scenario runs."""
SESSION_MS = 1500
REQUEST_MS = 1000
"""So short that the leader repeats a change without an answer, and logs that, while the scenario runs."""
UNHURRIED_MS = 20_000
"""So long that the leader still waits for the answer when it comes."""
HEARD_MS = 9000
"""A session whose client waits long before it gives up a server that does not answer."""
UNMISSED_MS = 20_000
"""A lease that outlasts the time in which a broker does not know the controller that expects its heartbeats."""

TORN = 1
"""Bytes of its answers that reach the leader: of no answer enough to read it."""


@v.kip_343_scenario(
    "isr-change-reply-lost",
    "An ISR change whose answer was lost is requested again, and takes effect for its leader",
    seconds=16,
)
def reply_lost(draft: v.Draft) -> v.Plan:
    """The change is made and its answer is lost. The leader asks again, and learns that it was made (KAFKA-14144).

    Until then it waits for the follower that left: nothing is acknowledged, however long that takes.
    """
    leader, slow, controller = draft.roles
    steps: list[v.Step] = [
        v.inject("slow", v.StallParameters(from_=slow, to=leader)),
        v.inject(
            "unanswered", v.CutAfterBytesParameters(from_=leader, to=controller, after_bytes=TORN, stream="replies")
        ),
        v.IsrIs(as_="changed", partition="t-0", lacks=slow, expect=v.must("K343-33")),
        v.Logged(
            as_="asked-again",
            node=leader,
            says=r"\bt-0: the outcome of ISR .* is unknown",
            after=v.After(event="unanswered.injected"),
        ),
        v.Heal(as_="answered", fault="unanswered"),
        v.goes_on("D343-09", "ISR-05", "LIVE-03"),
        v.Heal(as_="fast", fault="slow"),
        v.IsrIs(as_="rejoined", partition="t-0", has=slow, expect=v.must("D343-09")),
    ]
    return draft.timed(lease_ms=LEASE_MS, session_ms=SESSION_MS).plan(
        steps,
        "asked-again",
        "rejoined",
        v.acknowledged("answered.ended"),
        settings=v.NodeSettings(broker={"request.timeout.ms": str(REQUEST_MS)}),
    )


@v.kip_343_scenario("isr-change-overtaken", "An ISR change whose answer was late overwrites nothing newer", seconds=16)
def overtaken(draft: v.Draft) -> v.Plan:
    """The change is made, its answer is late, and the leader asks again while the state has changed once more.

    The follower that left is restarted meanwhile, so the controller writes the partition. The retry finds that write
    and does not overwrite it.
    """
    leader, slow, controller = draft.roles
    draft = draft.timed(lease_ms=LEASE_MS, session_ms=SESSION_MS)
    steps: list[v.Step] = [
        *_changed_unanswered(leader, slow, controller),
        v.Bind(as_="leader-epoch", value="leader-epoch:t-0"),
        v.inject("bounce", v.KillParameters(nodes=slow, back="running")),
        _written_again(),
        v.Heal(as_="back", fault="bounce"),
        v.BrokerActive(as_="active", node=slow, expect=v.must("K343-32")),
        v.Heal(as_="answered", fault="unanswered"),
        v.IsrIs(as_="overwritten", partition="t-0", has=slow, within_ms=1500, expect=v.never("D343-08")),
        v.goes_on(),
        v.Heal(as_="fast", fault="slow"),
        v.IsrIs(as_="rejoined", partition="t-0", has=slow, expect=v.must("D343-09")),
    ]
    return draft.plan(steps, "rejoined", v.acknowledged("answered.ended"))


@v.kip_343_scenario(
    "isr-change-answered-late",
    "The late answer to an ISR change of an earlier leader epoch changes nothing",
    seconds=14,
)
def answered_late(draft: v.Draft) -> v.Plan:
    """The change is made, and its answer comes after the controller has sent the leader a newer state.

    The follower that left dies meanwhile. The answer is of an earlier leader epoch: a leader that adopted it would
    refuse its followers and clients, which know the newer one (KAFKA-12686).
    """
    leader, slow, controller = draft.roles
    steps: list[v.Step] = [
        v.Bind(as_="leader-epoch", value="leader-epoch:t-0"),
        *_changed_unanswered(leader, slow, controller),
        v.inject("death", v.KillParameters(nodes=slow)),
        _written_again(),
        # While it knew of its own change alone, the leader waited for the follower that may still be in its ISR.
        v.WorkloadAcks(as_="notified", more=5, expect=v.must("INT-28")),
        v.Heal(as_="answered", fault="unanswered"),
        v.listed(
            "at-the-earlier-epoch",
            leader,
            "t",
            v.END,
            version=4,
            epoch="$leader-epoch",
            repeat=5,
            timeout_ms=1000,
            expect=v.never_serves("ISR-02"),
        ),
        v.goes_on(),
    ]
    return draft.timed(lease_ms=LEASE_MS, session_ms=SESSION_MS).plan(
        steps,
        v.acknowledged("answered.ended"),
        settings=v.NodeSettings(broker={"request.timeout.ms": str(UNHURRIED_MS)}),
    )


def _changed_unanswered(leader: str, slow: str, controller: str) -> list[v.Step]:
    """Let the controller make the change that drops a follower, and hold its answer back."""
    return [
        v.inject("slow", v.StallParameters(from_=slow, to=leader)),
        v.inject("unanswered", v.StallParameters(from_=leader, to=controller, streams="replies")),
        v.IsrIs(as_="changed", partition="t-0", lacks=slow, expect=v.must("K343-33")),
    ]


def _written_again() -> v.Step:
    """Wait until the controller has written the partition at a later leader epoch than the bound one."""
    return v.LeaderEpochAbove(as_="written-again", partition="t-0", value="$leader-epoch", expect=v.must("DINT-08"))


@v.kip_343_scenario(
    "controller-replaced-unheard",
    "A controller that does not hear of its successor writes nothing any more",
    seconds=12,
)
def former_controller(draft: v.Draft) -> v.Plan:
    """An administrator deletes /controller, and the controller does not hear that another one was elected.

    Its session lives, so ZooKeeper takes what it writes: only the epoch of the controllers tells the two apart
    (KAFKA-6082).
    """
    leader, follower, controller = draft.roles
    steps: list[v.Step] = [
        v.Bind(as_="old", node="active-controller"),
        v.inject("deaf", v.StallParameters(from_="$old", to="zookeeper", streams="replies")),
        v.ZnodeStep(as_="depose", action="delete", path="/controller"),
        v.ActiveController(as_="elected", is_not="$old", expect=v.must("INT-66")),
        v.IsrChangeProbe(
            as_="asks-the-former",
            node="$old",
            topic="t",
            broker=leader,
            isr=(leader, controller),
            timeout_ms=1500,
            expect=v.never_serves("DINT-04"),
            unchanged=("t-0",),
        ),
        v.Heal(as_="hears", fault="deaf"),
        v.goes_on(),
        v.TopicCreatedThrough(as_="works", node=follower, expect=v.must("INT-05")),
    ]
    return draft.timed(lease_ms=UNMISSED_MS, session_ms=HEARD_MS).plan(
        steps, "asks-the-former", v.acknowledged("hears.ended")
    )
