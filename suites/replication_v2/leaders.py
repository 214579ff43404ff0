"""Leaders die, are paused, and return; epochs are never used twice."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.replication_v2 import log_lines as log

WAITS_MS = 6000
"""KeepInSyncTime of a scenario that observes a leader while it waits for so long."""
LATE_TO_STAND = {"leader.election.wait.time.ms": str(3 * WAITS_MS), "preferred.replica.wait.time.ms": str(2 * WAITS_MS)}
"""The settings of a broker that leaves every other replica time to win an election."""
DROPPED_MS, HEARD_MS = 1500, 9000
"""KeepInSyncTime, and a session whose client waits for longer before it gives up a server that does not answer."""
TAKEN = 40
"""An epoch that no partition of a short run reaches by itself."""


@v.replication_v2_scenario(
    "v2-leader-killed",
    "After kill -9 of a leader another member of the ISR leads at the next epoch, and goes on leading",
    seconds=10,
)
def killed(draft: v.Draft) -> v.Plan:
    """The next leader has the next epoch; the old one returns as a follower, and stays one."""
    leader, *others = draft.roles
    steps: list[v.Step] = [
        *_only_the_leader(*others),
        v.Bind(as_="epoch", value="leader-epoch:t-0"),
        v.inject("kill", v.KillParameters(nodes=leader)),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=v.must("LD-31")),
        v.LeaderEpochAbove(as_="next", partition="t-0", value="$epoch", expect=v.must("LD-50")),
        *(
            log.has_line(f"notified-{broker}", broker, log.saw_a_change("t-0"), v.must("LD-20"), after="kill.proven")
            for broker in others
        ),
        v.IsrIs(as_="without", partition="t-0", lacks=leader, expect=v.must("DLD-34")),
        v.goes_on("LD-55"),
        v.Heal(as_="restart", fault="kill"),
        v.IsrIs(as_="rejoined", partition="t-0", has=leader, expect=v.must("LD-49")),
        v.LeaderIs(as_="leads-again", partition="t-0", is_=leader, within_ms=1000, expect=v.never("LD-45")),
    ]
    return draft.plan(steps, v.acknowledged("moved.ended", before="restart.begun"))


def _only_the_leader(asked: str, asking: str) -> list[v.Step]:
    """Expect that a follower refuses requests that only the leader may answer."""
    return [
        v.produced_at("not-to-a-follower", asked, 1, v.answers("LD-67", "error:6")),
        v.ReplicaFetchProbe(
            as_="not-from-a-follower", node=asked, topic="t", broker=asking, expect=v.answers("LD-79", "error:6")
        ),
    ]


@v.replication_v2_scenario(
    "v2-new-leader-waits", "A new leader waits for the live replicas, and serves no client before", seconds=16
)
def waits(draft: v.Draft) -> v.Plan:
    """A new leader waits for one follower, which lives and cannot reach it, until KeepInSyncTime has passed.

    Until then it answers followers and no client, and neither does its other follower, which reaches it, and which
    stands for election so late that it does not win.
    """
    leader, *others = draft.roles
    one, two = others
    guest = v.node_name(v.GUEST_ID)
    draft = draft.timed(lag_ms=WAITS_MS)
    steps: list[v.Step] = [
        v.inject("apart", v.StallParameters(from_=one, to=two)),
        v.inject("apart-too", v.StallParameters(from_=two, to=one)),
        v.inject("kill", v.KillParameters(nodes=leader)),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=v.must("LD-50")),
        v.Bind(as_="new", node="leader:t-0"),
        v.produced_at("not-yet", "$new", 1, v.answers("DLD-06", "error:6"), repeat=5),
        v.fetched("nor-its-follower", guest, "t", 0, repeat=5, every_ms=200, expect=v.answers("DRACK-05", "error:6")),
        v.IsrIs(as_="at-last", partition="t-0", is_=("$new", guest), expect=v.must("LD-52")),
        v.goes_on("LD-55"),
    ]
    return draft.plan(
        steps,
        "not-yet",
        v.acknowledged("at-last.ended"),
        topology=v.zookeeper_cluster(more=[v.fourth_broker(LATE_TO_STAND)]),
        topics=[v.topic([leader, *others, guest], min_isr=1)],
    )


@v.replication_v2_scenario(
    "v2-leader-paused",
    "A leader that is paused past its session acknowledges nothing that was sent to it meanwhile",
    seconds=11,
)
def paused(draft: v.Draft) -> v.Plan:
    """The leader is paused past its session, with requests in its sockets; it wakes without any leadership."""
    leader = draft.leader
    steps: list[v.Step] = [
        v.Bind(as_="broker-epoch", value=f"broker-epoch:{leader}"),
        v.inject("sleep", v.PauseParameters(nodes=leader)),
        *(
            v.produced_at(
                f"asleep-{acks}",
                leader,
                acks,
                v.never_serves("DLD-15"),
                background=True,
                timeout_ms=6 * draft.timing.session_ms,
            )
            for acks in (1, "all")
        ),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=v.must("LD-12")),
        v.goes_on("LD-55"),
        v.Heal(as_="wake", fault="sleep"),
        v.BrokerEpochAbove(as_="anew", node=leader, value="$broker-epoch", expect=v.must("DLD-16")),
        v.BrokerActive(as_="returned", node=leader, expect=v.must("DLD-16")),
        v.IsrIs(as_="rejoined", partition="t-0", has=leader, expect=v.must("LD-49")),
    ]
    return draft.plan(steps, "asleep-1", "asleep-all", v.acknowledged("moved.ended"))


@v.replication_v2_scenario(
    "v2-leader-dies-young", "Epochs only grow when two leaders die in quick succession", seconds=13
)
def two_die(draft: v.Draft) -> v.Plan:
    """Two leaders die in turn, the second as soon as it leads: the third has a later epoch than both."""
    first = draft.leader
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value="leader-epoch:t-0"),
        v.inject("first-dies", v.KillParameters(nodes=first)),
        v.LeaderIs(as_="moved", partition="t-0", is_not=first, expect=v.must("LD-31")),
        v.Bind(as_="second", node="leader:t-0"),
        v.inject("second-dies", v.KillParameters(nodes="$second")),
        v.LeaderIs(as_="moved-again", partition="t-0", is_not=(first, "$second"), expect=v.must("LD-30")),
        v.LeaderEpochAbove(as_="later", partition="t-0", value="$epoch", expect=v.must("LD-03")),
        v.Heal(as_="second-returns", fault="second-dies"),
        v.Heal(as_="first-returns", fault="first-dies"),
    ]
    return draft.plan(steps, "later", v.acknowledged("first-returns.ended"), may_lose=True)


@v.replication_v2_scenario(
    "v2-epoch-never-reused", "The epoch of a leader that died between its two writes is never used again", seconds=12
)
def between_its_writes(draft: v.Draft) -> v.Plan:
    """The ISR path holds an epoch whose leader died before it wrote the leader's path: the epoch counts as used.

    The step writes that epoch while no broker runs that could lead.
    """
    leader, follower, other = draft.roles
    ids = ",".join(str(v.node_id(broker)) for broker in (leader, follower))
    steps: list[v.Step] = [
        v.LeaderIs(as_="led", partition="u-0", is_=leader),
        v.IsrIs(as_="in-sync", partition="u-0", is_=(leader, follower)),
        v.inject("both-die", v.KillParameters(nodes=(leader, follower))),
        v.LeaderIs(as_="leaderless", partition="u-0", is_="none", expect=v.must("LD-12")),
        v.ZnodeStep(
            as_="taken", action="set", path="/brokers/topics/u/0/ISR", data=f'{{"isr":[{ids}],"epoch":{TAKEN}}}'
        ),
        v.Heal(as_="back", fault="both-die"),
        v.LeaderEpochAbove(as_="never-twice", partition="u-0", value=TAKEN, expect=v.must("DLD-04")),
    ]
    return draft.plan(
        steps,
        "taken",
        "never-twice",
        topics=[v.topic([other], min_isr=1), v.topic([leader, follower], name="u", min_isr=1)],
        afterwards=[v.MetadataProbe(as_="known", node=other, topic="u", expect=v.serves("DLD-19"))],
    )


@v.replication_v2_scenario(
    "v2-preferred-leader-returns",
    "Leadership returns to the preferred replica when it is in sync again",
    seconds=12,
    levels=("balancing",),
)
def preferred_returns(draft: v.Draft) -> v.Plan:
    """Leadership returns by itself, without a request, when the preferred replica has caught up."""
    leader = draft.leader
    returns: list[v.Step] = [
        v.IsrIs(as_="rejoined", partition="t-0", has=leader, expect=v.must("LD-71")),
        v.LeaderIs(as_="leads-again", partition="t-0", is_=leader, expect=v.must("LD-73")),
        v.WorkloadAcks(as_="under-load", more=20, expect=v.must("DLD-21")),
    ]
    steps: list[v.Step] = [
        v.inject("kill", v.KillParameters(nodes=leader)),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=v.must("LD-31")),
        v.goes_on("LD-55"),
        v.Heal(as_="restart", fault="kill"),
        *returns,
    ]
    return draft.plan(steps, v.acknowledged("leads-again.ended"))


@v.replication_v2_scenario(
    "v2-leader-replaced-unheard",
    "A leader that does not hear of its successor does not overwrite the successor's ISR",
    seconds=12,
)
def replaced_unheard(draft: v.Draft) -> v.Plan:
    """An administrator deletes the leader's znode, and the leader does not hear that another one was elected.

    Its session lives, so ZooKeeper takes what it writes. Its followers have left it: once they lack a record it drops
    them from its ISR, and that write must not undo the epoch and the ISR of its successor.
    """
    leader = draft.leader
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value="leader-epoch:t-0"),
        v.inject("deaf", v.StallParameters(from_=leader, to="zookeeper", streams="replies")),
        v.ZnodeStep(as_="depose", action="delete", path="/brokers/topics/t/0/leader"),
        v.LeaderEpochAbove(as_="replaced", partition="t-0", value="$epoch", expect=v.must("DLD-04")),
        # A follower lags only if there is something that it lacks.
        v.produced_at("believes", leader, 1),
        v.Logged(as_="drops-them", node=leader, says=r"\bt-0: asks for ISR", after=v.After(event="deaf.injected")),
        v.IsrIs(as_="overwritten", partition="t-0", is_=leader, within_ms=1000, expect=v.never("ISR-02")),
        v.Heal(as_="hears", fault="deaf"),
        v.goes_on(),
    ]
    return draft.timed(session_ms=HEARD_MS, lag_ms=DROPPED_MS).plan(
        steps, v.OutcomeSeen(step="believes", outcome="served"), "drops-them", v.acknowledged("hears.ended")
    )


@v.replication_v2_scenario(
    "v2-outside-the-isr", "A replica outside the ISR does not lead, even if no other replica is left", seconds=13
)
def outside_the_isr(draft: v.Draft) -> v.Plan:
    return v.led_from_inside_the_isr(draft)
