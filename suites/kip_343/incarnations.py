"""Two processes with one broker id differ by their incarnations: the newer wins, the older counts as no replica."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

INVALID_INCARNATION = "error:1343"


@v.kip_343_scenario(
    "newer-incarnation-wins",
    "The newer of two incarnations of a broker wins, and the older is refused everywhere",
    seconds=22,
)
def newer_wins(draft: v.Draft) -> v.Plan:
    """The original's session ends while it is cut off, another process registers its id, and the original returns."""
    leader, original, controller = draft.roles
    duplicate = v.duplicate_of(original, "empty")
    steps: list[v.Step] = [
        *_taken(original, duplicate.name),
        v.BrokerActive(as_="serves", node=duplicate.name, expect=v.must("D343-17")),
        v.IsrIs(as_="replicates", partition="t-0", has=original, expect=v.must("ISR-06")),
        v.Heal(as_="mend", fault="cut"),
        v.Hold(as_="noticed", after="taken.ended", ms=draft.timing.fence_ms),
        *_refused("first", leader, original),
        v.inject("failover", v.KillParameters(nodes=controller)),
        v.ActiveController(as_="elected", is_not=controller, expect=v.must("INT-66")),
        v.TopicCreatedThrough(as_="works", node=leader, expect=v.must("INT-05")),
        *_refused("second", leader, original),
        v.Heal(as_="restored", fault="failover"),
        v.Bind(as_="newer", value=f"broker-epoch:{original}"),
        v.Heal(as_="duplicate-dies", fault="duplicate"),
        v.BrokerEpochAbove(as_="original-back", node=original, value="$newer", expect=v.must("D343-16")),
        v.BrokerActive(as_="original-serves", node=original, expect=v.must("D343-16")),
    ]
    return draft.plan(
        steps,
        "second-fetch",
        v.acknowledged("original-back.ended"),
        topology=v.zookeeper_cluster(controller=controller, more=[duplicate]),
    )


def _taken(original: str, duplicate: str) -> list[v.Step]:
    return [
        v.Bind(as_="older", value=f"broker-epoch:{original}"),
        v.inject("cut", v.CutParameters(from_=original, to="zookeeper")),
        v.Registered(as_="gone", node=original, is_=False, expect=v.must("INT-43")),
        v.inject("duplicate", v.DuplicateParameters(node=duplicate)),
        v.BrokerEpochAbove(as_="taken", node=original, value="$older", expect=v.must("K343-06")),
    ]


def _refused(name: str, leader: str, original: str) -> list[v.Step]:
    """Expect that clients, the controller and the leader are refused by, or refuse, the original."""
    state = ("t-0", "brokers")
    return [
        *v.service_probes(f"{name}-original", original, v.never_serves("D343-17"), repeat=1),
        v.MetadataHeartbeatProbe(
            as_=f"{name}-heartbeat",
            node="active-controller",
            broker=original,
            incarnation="$older",
            expect=v.answers("D343-17", INVALID_INCARNATION),
            unchanged=state,
        ),
        v.IsrChangeProbe(
            as_=f"{name}-isr-change",
            node="active-controller",
            topic="t",
            broker=original,
            incarnation="$older",
            expect=v.answers("K343-47", INVALID_INCARNATION),
            unchanged=state,
        ),
        v.ReplicaFetchProbe(
            as_=f"{name}-fetch",
            node=leader,
            topic="t",
            broker=original,
            broker_epoch="$older",
            repeat=3,
            expect=v.answers("DINT-26", "refused"),
        ),
    ]


@v.kip_343_scenario(
    "older-incarnation-is-no-replica",
    "A broker whose id was taken keeps no replica in the ISR by its fetches, and is not elected",
    seconds=18,
)
def no_replica(draft: v.Draft) -> v.Plan:
    """The original, cut from ZooKeeper only, goes on fetching with an id that is no longer its own.

    When the duplicate dies, the id leaves the ISR. The original lacks the records that are acknowledged then, and is
    not elected when the leader dies too.
    """
    leader, original, controller = draft.roles
    duplicate = v.duplicate_of(original, "empty")
    steps: list[v.Step] = [
        v.burst("before", "u", 50, idempotent=False),
        *_taken(original, duplicate.name),
        v.IsrIs(as_="in-sync", partition="u-0", has=(leader, original), expect=v.must("ISR-06")),
        v.burst("together", "u", 20, idempotent=False),
        v.Heal(as_="duplicate-dies", fault="duplicate"),
        v.IsrIs(as_="left", partition="u-0", is_=leader, expect=v.must("DINT-26")),
        v.burst("during", "u", 50, idempotent=False),
        v.inject("leader-dies", v.KillParameters(nodes=leader)),
        v.LeaderIs(
            as_="elected",
            partition="u-0",
            is_=original,
            within_ms=3 * draft.timing.session_ms,
            expect=v.never("ISR-07", "DINT-13"),
        ),
    ]
    return draft.plan(
        steps,
        v.acknowledged("left.ended", by="during", at_least=50),
        topology=v.zookeeper_cluster(controller=controller, more=[duplicate]),
        topics=[v.topic([leader, original], name="u", min_isr=1)],
        workload=None,
        afterwards=[v.burst("afterwards", "u", 10, idempotent=False)],
    )
