"""The controller, a leader, or all brokers in turn are killed, paused, or lose their sessions."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.internals.split_brain import refused_at_old_epoch

LAG_MS = 8000
INSIDE_MS = 4000
"""A session that outlasts a restart."""
UNSEEN_MS = 6000
"""A session in which a broker starts, also on a busy machine."""


@v.internals_scenario(
    "leader-killed",
    "After kill -9 of a leader a member of the ISR leads, and on request the preferred replica again",
    seconds=11,
)
def leader_killed(draft: v.Draft) -> v.Plan:
    """Another replica leads; on request the leadership returns to the preferred replica."""
    leader = draft.leader
    steps: list[v.Step] = [
        v.inject("kill", v.KillParameters(nodes=leader)),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=v.must("INT-37")),
        v.goes_on("INT-33"),
        v.Heal(as_="restart", fault="kill"),
        v.IsrIs(as_="rejoined", partition="t-0", has=leader, expect=v.must("INT-26")),
        v.elect_preferred("prefer", "t-0"),
        v.LeaderIs(as_="leads-again", partition="t-0", is_=leader, expect=v.must("INT-39")),
        v.znode_absent("done", v.PREFERRED, v.must("DINT-21")),
    ]
    return draft.plan(steps, v.acknowledged("leads-again.ended"))


@v.internals_scenario(
    "controller-cut-from-zookeeper",
    "A controller that is cut from ZooKeeper resigns, and returns as an ordinary broker",
    v.CutParameters(from_="$old", to="zookeeper"),
    seconds=12,
    requirements=("INT-64",),
)
@v.internals_scenario(
    "controller-paused",
    "A controller that is paused past its session wakes as an ordinary broker",
    v.PauseParameters(nodes="$old"),
    seconds=12,
    requirements=("INT-64",),
)
@v.internals_scenario(
    "controller-killed",
    "After kill -9 of the controller another broker takes over its state",
    v.KillParameters(nodes="$old"),
    seconds=12,
    requirements=("INT-64",),
)
def controller_lost(parameters: v.KillParameters | v.PauseParameters | v.CutParameters, draft: v.Draft) -> v.Plan:
    """The next controller has the old one's state; the old one, if it lives, returns as an ordinary broker."""
    leader, follower, controller = draft.roles
    steps: list[v.Step] = [
        v.Bind(as_="old", node="active-controller"),
        v.Bind(as_="old-epoch", value="controller-epoch"),
        v.Bind(as_="old-broker-epoch", value=f"broker-epoch:{controller}"),
        v.CreateTopicProbe(as_="promised", node="$old", topic="promised", timeout_ms=10_000, expect=v.serves("INT-03")),
        v.inject("fault", parameters),
        v.ActiveController(as_="elected", is_not="$old", expect=v.must("INT-66", "INT-63")),
        *(
            v.TopicCreatedThrough(as_=f"create-{broker}", node=broker, expect=v.must("INT-05", "INT-09"))
            for broker in (leader, follower)
        ),
        v.MetadataFrom(as_="kept", node=follower, partition="promised-0", expect=v.must("INT-06")),
        *refused_at_old_epoch("past", leader, "$old-epoch"),
        v.goes_on(),
        v.Heal(as_="mend", fault="fault"),
        v.BrokerActive(as_="returned", node=controller, expect=v.must("INT-51")),
        v.BrokerEpochAbove(as_="anew", node=controller, value="$old-broker-epoch", expect=v.must("INT-51")),
        v.ActiveController(as_="active-again", is_=controller, within_ms=500, expect=v.never("INT-62")),
        # Otherwise its return to the ISR, or the updates about that, would be taken for an effect of the probe.
        v.Converged(as_="settled", expect=v.must("LIVE-01")),
        v.ControlledShutdownProbe(
            as_="not-controller",
            node=controller,
            broker=follower,
            expect=v.answers("INT-62", "error:[11, 41]"),
            unchanged=("brokers", "t-0"),
        ),
    ]
    return draft.plan(steps, "kept", "not-controller", v.acknowledged("elected.ended"))


@v.internals_scenario(
    "brokers-killed-in-turn",
    "A cluster whose brokers are killed in turn, controller included, becomes whole each time",
    seconds=20,
    dialects=v.ZOOKEEPER_MODE | v.LEADER_DRIVEN,
)
def in_turn(draft: v.Draft) -> v.Plan:
    """A replica that stays in the ISR while it is down may truncate its log and lead at the next kill (LF-01)."""
    target = draft.target
    leader, follower, controller = draft.roles
    gone = v.must("LD-10" if target.leader_driven else "INT-43")
    steps: list[v.Step] = []
    for broker in (follower, leader, controller):
        steps += [
            v.inject(f"kill-{broker}", v.KillParameters(nodes=broker)),
            v.Registered(as_=f"gone-{broker}", node=broker, is_=False, expect=gone),
            v.Heal(as_=f"restart-{broker}", fault=f"kill-{broker}"),
            v.Converged(as_=f"whole-{broker}", expect=v.must("LIVE-01")),
        ]
    return draft.plan(steps, v.acknowledged(f"kill-{controller}.proven"), may_lose=True)


@v.internals_scenario(
    "bounce-beyond-the-session",
    "A broker that restarts after its session finds new versions on its partitions",
    True,
    seconds=11,
)
@v.internals_scenario(
    "bounce-inside-the-session",
    "A broker that restarts inside its session registers when the old znode is gone",
    False,
    seconds=12,
)
def bounced(beyond: bool, draft: v.Draft) -> v.Plan:
    """A follower is killed and restarted; inside its session the new process waits for the old one's znode to go.

    Either way the partition gets a version that the earlier process never saw. The lag time is long, so that the
    controller, not the leader, removes the follower from the ISR.
    """
    _, follower, _ = draft.roles
    away: list[v.Step] = [
        v.Registered(as_="gone", node=follower, is_=False, expect=v.must("INT-43")),
        v.IsrIs(as_="left", partition="t-0", lacks=follower, expect=v.must("INT-28")),
    ]
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value=f"broker-epoch:{follower}"),
        v.Bind(as_="leader-epoch", value="leader-epoch:t-0"),
        v.inject("kill", v.KillParameters(nodes=follower, back="running")),
        *(away if beyond else ()),
        v.Heal(as_="restart", fault="kill"),
        v.BrokerEpochAbove(as_="anew", node=follower, value="$epoch", expect=v.must("DINT-17")),
        v.BrokerActive(as_="active", node=follower, expect=v.must("INT-25")),
        v.LeaderEpochAbove(as_="new-version", partition="t-0", value="$leader-epoch", expect=v.must("DINT-11")),
        v.ControlledShutdownProbe(
            as_="predecessor",
            node="active-controller",
            broker=follower,
            broker_epoch="$epoch",
            expect=v.answers("DINT-24", "error:77"),
            unchanged=("brokers",),
        ),
        v.IsrIs(as_="rejoined", partition="t-0", has=follower, expect=v.must("INT-26")),
    ]
    return draft.timed(session_ms=None if beyond else INSIDE_MS, lag_ms=LAG_MS).plan(
        steps, "predecessor", v.acknowledged("restart.ended")
    )


@v.internals_scenario(
    "bounce-unseen",
    "A controller that slept while a broker was replaced by a new process notices that",
    seconds=18,
    levels=("base", "plain"),
)
def bounced_unseen(draft: v.Draft) -> v.Plan:
    """A follower dies and returns while the controller sleeps, so that the controller finds the same brokers alive.

    It still has to notice that another process has the id: the new one knows of no partition before it is notified
    (KAFKA-1120). The controller wakes before its own session is over; if it does not, its successor finds the same.
    """
    leader, follower, controller = draft.roles
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value=f"broker-epoch:{follower}"),
        v.inject("kill", v.KillParameters(nodes=follower, back="running")),
        v.Heal(as_="restart", fault="kill"),
        _most_of_its_session(draft.target, follower),
        v.inject("sleep", v.PauseParameters(nodes=controller)),
        v.BrokerEpochAbove(as_="anew", node=follower, value="$epoch", expect=v.must("DINT-17")),
        v.Heal(as_="wake", fault="sleep"),
        v.BrokerActive(as_="active", node=follower, expect=v.must("INT-25")),
        v.IsrIs(as_="rejoined", partition="t-0", has=follower, expect=v.must("INT-26")),
    ]
    return draft.timed(session_ms=UNSEEN_MS).plan(
        steps, "rejoined", v.acknowledged("wake.ended"), topics=[v.topic([leader, follower, controller], min_isr=1)]
    )


def _most_of_its_session(target: v.TargetFacts, broker: str) -> v.Step:
    """Wait for most of the session of a killed broker. The process that took its place does not end meanwhile.

    Shipped Kafka may end (AZ-02).
    """
    if target.differs("AZ-02"):
        return v.Hold(as_="most-of-its-session", after="kill.proven", ms=UNSEEN_MS // 2)
    return v.NodeExited(as_="gives-up", node=broker, within_ms=UNSEEN_MS // 2, expect=v.never("DINT-17"))
