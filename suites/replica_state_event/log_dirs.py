"""One of two log dirs fails by a real I/O error: its replicas go offline, those of the other serve on."""

from __future__ import annotations

from typing import Literal

from fencepost.suites import vocabulary as v

LONG_LEASE_MS = 12_000
"""Long enough that a broker stays active while it is cut from the controller, so that only its event is lost."""
SESSION_MS = 1500
NOTIFICATION = f"{v.LOG_DIR_EVENTS}/log_dir_event_0000000000"
"""The first notification that a cluster writes."""

FailingReplica = Literal["leader", "follower"]


def two_dirs(controller: str) -> v.Topology:
    return v.zookeeper_cluster(controller=controller, log_dirs=2)


@v.replica_state_event_scenario(
    "log-dir-fails-on-a-leader",
    "A leader reports a failed log dir by RPC, and writes nothing to ZooKeeper for it",
    "leader",
    seconds=17,
    levels=v.REPLICA_EVENTS_OR_SHIPPED,
)
@v.replica_state_event_scenario(
    "log-dir-fails-on-a-leader-at-base",
    "A leader below the raised level reports a failed log dir by a znode",
    "leader",
    seconds=17,
    levels=("base",),
)
@v.replica_state_event_scenario(
    "log-dir-fails-on-a-follower",
    "A follower reports a failed log dir by RPC, and writes nothing to ZooKeeper for it",
    "follower",
    seconds=17,
    levels=v.REPLICA_EVENTS_OR_SHIPPED,
)
@v.replica_state_event_scenario(
    "log-dir-fails-on-a-follower-at-base",
    "A follower below the raised level reports a failed log dir by a znode",
    "follower",
    seconds=17,
    levels=("base",),
)
def fails(which: FailingReplica, draft: v.Draft) -> v.Plan:
    """The broker has replicas of both topics, one in each dir; the dir with `t-0` fails.

    On clusters that follow their documents the leader's dir is gone, and with it all that it held.
    """
    target = draft.target
    leader, follower, controller = draft.roles
    broker = leader if which == "leader" else follower
    level = draft.scenario.level(target)
    is_gone = which == "leader" and level != "base" and target.follows_its_documents
    failure = v.LogDirParameters(node=broker, partition="t-0", how="removed" if is_gone else "replaced")
    steps: list[v.Step] = [
        *([_notified("watched", leader), _taken("watched-and-taken")] if level == "base" else []),
        v.inject("fail", failure),
        _noticed(which, broker),
        v.ReplicaOffline(as_="offline", node=broker, partition="t-0", expect=v.must("DRSE-06")),
        v.produced_at("failed", broker, 1, v.answers("DRSE-10", "error:56", "RSE-04"), repeat=2),
        v.produced_at("other", broker, 1, v.serves("DRSE-06"), topic="u", timeout_ms=3000, repeat=2),
        v.goes_on(),
        *([] if level == "base" else _no_znode(target, broker)),
        *restored(broker),
    ]
    return draft.plan(
        steps,
        "other",
        v.acknowledged("offline.ended", before="repaired.begun"),
        topology=two_dirs(controller),
        topics=[v.topic([leader, follower, controller]), v.topic([broker, controller], name="u", min_isr=1)],
    )


def _noticed(which: FailingReplica, broker: str) -> v.Step:
    if which == "leader":
        return v.LeaderIs(as_="noticed", partition="t-0", is_not=broker, expect=v.must("RSE-05"))
    return v.IsrIs(as_="noticed", partition="t-0", lacks=broker, expect=v.must("RSE-19"))


def _notified(as_: str, broker: str) -> v.Step:
    return v.log_dir_event(as_, broker)


def _taken(as_: str) -> v.Step:
    """Expect that the controller, which watches, deletes the notification once it has handled it."""
    return v.Znode(as_=as_, path=NOTIFICATION, exists=False, expect=v.must("DRSE-11", "RSE-02"))


def _no_znode(target: v.TargetFacts, broker: str) -> list[v.Step]:
    """Expect that our own notification gets the number 0, since no broker wrote one, and stays, since none watches."""
    if target.differs("AZ-04"):
        taken = v.must("RSE-36").model_copy(update={"difference": "AZ-04"})
        return [_notified("ours", broker), v.Znode(as_="first", path=NOTIFICATION, exists=False, expect=taken)]
    return [
        _notified("ours", broker),
        v.Znode(
            as_="first", path=NOTIFICATION, has='"broker"', within_ms=1000, expect=v.must("RSE-36", "RSE-06", "RSE-07")
        ),
        v.Znode(as_="taken", path=NOTIFICATION, exists=False, within_ms=1500, expect=v.never("RSE-37", "RSE-35")),
    ]


def restored(broker: str) -> list[v.Step]:
    """Restore the dir and restart the broker, which then uses it again."""
    return [
        v.Heal(as_="repaired", fault="fail"),
        v.Shutdown(as_="stop", nodes=broker),
        v.Start(as_="start", nodes=broker),
        v.IsrIs(as_="rejoined", partition="t-0", has=broker, expect=v.must("DRSE-09")),
    ]


@v.replica_state_event_scenario(
    "log-dir-event-of-a-leader-lost",
    "A leader whose event is lost stays leader until it restarts",
    "leader",
    seconds=16,
)
@v.replica_state_event_scenario(
    "log-dir-event-of-a-follower-lost",
    "A follower whose event is lost is removed from the ISR by its leader",
    "follower",
    seconds=16,
)
def event_lost(which: FailingReplica, draft: v.Draft) -> v.Plan:
    """Only the event is lost: the lease is so long that the cut ends before the broker is given up."""
    leader, follower, controller = draft.roles
    broker = leader if which == "leader" else follower
    steps: list[v.Step] = [
        v.inject("cut", v.CutParameters(from_=broker, to=controller)),
        v.inject("fail", v.LogDirParameters(node=broker, partition="t-0")),
        *(_stays(leader) if which == "leader" else _removed(follower)),
        v.Heal(as_="repaired", fault="fail"),
        v.inject("kill", v.KillParameters(nodes=broker)),
        *(_moves_now(leader) if which == "leader" else []),
        v.Heal(as_="mend", fault="cut"),
        v.Heal(as_="restart", fault="kill"),
        v.IsrIs(as_="rejoined", partition="t-0", has=broker, expect=v.must("DRSE-09")),
    ]
    return draft.timed(lease_ms=LONG_LEASE_MS, session_ms=SESSION_MS).plan(
        steps, v.acknowledged("restart.ended"), topology=two_dirs(controller)
    )


def _stays(leader: str) -> list[v.Step]:
    """Expect that the leader stays: it knows that it cannot serve the partition, and the controller does not."""
    return [
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=3000, expect=v.never("RSE-33")),
        v.produced_at("failed", leader, 1, v.answers("DRSE-10", "error:56"), repeat=2),
    ]


def _moves_now(leader: str) -> list[v.Step]:
    return [v.LeaderIs(as_="moves", partition="t-0", is_not=leader, expect=v.must("RSE-33"))]


def _removed(follower: str) -> list[v.Step]:
    return [v.IsrIs(as_="removed", partition="t-0", lacks=follower, expect=v.must("RSE-32")), v.goes_on()]


@v.replica_state_event_scenario(
    "controller-dies-with-the-event",
    "After a controller died with an event unhandled the next one learns of the replica by itself",
    seconds=18,
)
def controller_dies(draft: v.Draft) -> v.Plan:
    """The controller has the event, cannot write, and is killed; the next one asks every broker for its replicas.

    A second event, which the controller answers without being able to act, shows that it has the first.
    """
    leader, follower, controller = draft.roles
    steps: list[v.Step] = [
        v.inject("powerless", v.StallParameters(from_=controller, to="zookeeper")),
        v.inject("fail", v.LogDirParameters(node=leader, partition="t-0")),
        v.ReplicaStateEventProbe(
            as_="received",
            node=controller,
            broker=leader,
            topics=(v.EventTopic(topic="t", partitions=(0,)),),
            expect=v.serves("RSE-22"),
        ),
        v.inject("kill", v.KillParameters(nodes=controller)),
        v.ActiveController(as_="elected", is_not=controller, expect=v.must("INT-66")),
        v.LeaderIs(as_="moved", partition="t-0", is_=follower, expect=v.must("RSE-34")),
        v.ReplicaOffline(as_="offline", node=leader, partition="t-0", expect=v.must("RSE-34")),
        v.Heal(as_="power", fault="powerless"),
        v.Heal(as_="restart", fault="kill"),
        *restored(leader),
    ]
    return draft.timed(session_ms=4000).plan(
        steps, "offline", v.acknowledged("restart.ended"), topology=two_dirs(controller)
    )


@v.replica_state_event_scenario("late-log-dir-event", "A late event of an earlier process changes nothing", seconds=15)
def late_event(draft: v.Draft) -> v.Plan:
    """The event waits in the link while the broker is repaired and restarted, and reaches the controller late.

    A probe sends a second one of the same epoch.
    """
    _, follower, controller = draft.roles
    draft = draft.timed(lease_ms=4000, session_ms=SESSION_MS)
    steps: list[v.Step] = [
        v.Bind(as_="old", value=f"broker-epoch:{follower}"),
        v.inject("waiting", v.StallParameters(from_=follower, to=controller, streams="requests")),
        v.inject("fail", v.LogDirParameters(node=follower, partition="t-0")),
        v.Hold(as_="queued", after="fail.proven", ms=2000),
        v.inject("kill", v.KillParameters(nodes=follower, back="running")),
        v.Heal(as_="repaired", fault="fail"),
        v.Heal(as_="restart", fault="kill"),
        v.Heal(as_="release", fault="waiting"),
        v.BrokerEpochAbove(as_="anew", node=follower, value="$old", expect=v.must("RSE-24")),
        v.BrokerActive(as_="active", node=follower, expect=v.must("RSE-24")),
        v.IsrIs(as_="rejoined", partition="t-0", has=follower, expect=v.must("DRSE-09")),
        v.ReplicaStateEventProbe(
            as_="again",
            node="active-controller",
            broker=follower,
            broker_epoch="$old",
            expect=v.answers("RSE-14", "error:77"),
            unchanged=("t-0", "brokers"),
        ),
        v.ReplicaOffline(as_="offline", node=follower, partition="t-0", within_ms=1000, expect=v.never("RSE-24")),
        v.IsrIs(as_="left-again", partition="t-0", lacks=follower, within_ms=500, expect=v.never("RSE-24")),
    ]
    return draft.plan(steps, "again", v.acknowledged("restart.ended"), topology=two_dirs(controller))
