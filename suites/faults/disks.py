"""Disks that fail, fill up, tear writes, flip bits, or lose what was not made durable."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence

from fencepost.suites import vocabulary as v

SEGMENTS = "t-0/*.log"
CUT_OFF = "cut [0-9]+ torn bytes off|invalid messages|corrupt"
"""The log lines of servers that cut a log because a batch in it is damaged."""
STORAGE_ERROR = 56
"""KAFKA_STORAGE_ERROR, of a directory that cannot be used."""
SLOW_MS = 150
"""The delay of each write of the leader: below every deadline, and far above what a disk needs."""
LATE_MS = 600
"""So late is what an active controller has on its own disk: later than its peers have it."""
UNELECTED_MS = 10_000
"""How long a quorum is watched that has no majority of votes: three times as long as an election takes."""
FETCH_MS = 6 * LATE_MS
"""Long enough that a controller with a late disk stays the active one."""


@v.fault_scenario(
    "leader-cannot-write", "A leader whose disk answers writes with errors loses its leadership", False, seconds=12
)
@v.fault_scenario(
    "leader-writes-are-torn",
    "A leader whose writes reach its disk in part loses its leadership, and the torn end is cut off",
    True,
    seconds=12,
)
def leader_cannot_write(torn: bool, draft: v.Draft) -> v.Plan:
    """Each write to the leader's segment fails, without effect or, if `torn`, after its first bytes."""
    leader = draft.leader
    broken: v.DiskErrorParameters | v.TornWriteParameters
    if torn:
        first = random.Random(f"{draft.seed}/{draft.scenario.slug}/bytes").randrange(1, 100)
        broken = v.TornWriteParameters(node=leader, bytes=first, files=SEGMENTS)
    else:
        broken = v.DiskErrorParameters(node=leader, operations=("write",), files=SEGMENTS)
    steps: list[v.Step] = [
        v.inject("broken", broken),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=v.must("DISK-01")),
        v.goes_on(),
        *_repaired(leader, "broken"),
    ]
    return _plan(draft, (leader,), steps)


@v.fault_scenario(
    "one-of-two-disks-fails",
    "A leader with two disks, one of which answers writes with errors, serves on from the other",
    seconds=14,
    needs={v.Capability.LOG_DIRS},
    dialects=v.ZOOKEEPER_MODE | v.LEADER_DRIVEN,
)
def one_of_two_fails(draft: v.Draft) -> v.Plan:
    """The leader has a replica in each of two log directories, and one of them answers writes with errors.

    On clusters that never make a missing directory anew, one of a follower, which has a replica in each as well, is
    gone then, and it starts once without it.
    """
    leader, *others = draft.roles
    steps: list[v.Step] = [
        v.LeaderIs(as_="leader-ready-beside", partition="u-0", is_=leader),
        v.inject("broken", v.DiskErrorParameters(node=leader, operations=("write",), files=SEGMENTS)),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=v.must("DISK-01")),
        v.produced_at("other", leader, 1, v.serves("DISK-07"), topic="u", timeout_ms=3000, repeat=2),
        v.goes_on(),
        *_repaired(leader, "broken"),
        *(_started_without(others[0], draft.target) if draft.target.follows_its_documents else []),
    ]
    plan = _plan(draft, (leader,), steps)
    two = tuple(
        node if "zookeeper" in node.roles else node.model_copy(update={"log_dirs": 2}) for node in plan.topology.nodes
    )
    beside = v.topic([leader, *others[:1]], name="u", min_isr=1)
    return plan.model_copy(
        update={"topology": plan.topology.model_copy(update={"nodes": two}), "topics": (*plan.topics, beside)}
    )


def _started_without(broker: str, target: v.TargetFacts) -> list[v.Step]:
    """Restart the broker while a directory is missing: an empty one in its place would hide what it has lost."""
    returned = v.must(target.rule("K631-44", "INT-51", "DLD-16"))
    return [
        v.inject("gone", v.LogDirParameters(node=broker, partition="t-0", how="removed")),
        v.Shutdown(as_="stop-without", nodes=broker),
        v.Start(as_="start-without", nodes=broker),
        v.BrokerActive(as_="back-without", node=broker, expect=returned),
        v.described_log_dirs(
            "not-made-anew",
            broker,
            v.serves("DSTO-01"),
            {f"results[error_code={STORAGE_ERROR}].error_code": STORAGE_ERROR},
            within_ms=v.LIVENESS_TIMEOUT_MS,
            timeout_ms=1000,
        ),
        *_repaired(broker, "gone", "-again"),
    ]


@v.fault_scenario(
    "follower-disk-full",
    "A follower whose disk is full leaves the ISR, and returns when it has space and is restarted",
    seconds=14,
)
def follower_is_full(draft: v.Draft) -> v.Plan:
    """Restarted with space again, the follower is in the ISR, and then its power fails.

    A clean stop has made the names of all files durable, also of small ones whose content never was: they are there,
    and empty (KAFKA-16541). Without a controller it would keep its place in the ISR with less than the others have.
    """
    _, follower, _ = draft.roles
    goes_dark = draft.target.follows_its_documents and not draft.target.leader_driven
    steps: list[v.Step] = [
        v.inject("full", v.DiskFullParameters(node=follower)),
        v.IsrIs(as_="left", partition="t-0", lacks=follower, expect=v.must("DISK-02")),
        v.goes_on(),
        *_repaired(follower, "full"),
        *(_dark(follower) if goes_dark else []),
    ]
    return _plan(draft, (follower,), steps)


def _dark(follower: str) -> list[v.Step]:
    return [
        v.IsrIs(as_="rejoined", partition="t-0", has=follower, expect=v.must("ISR-06")),
        v.Shutdown(as_="stop-cleanly", nodes=follower),
        v.Start(as_="start-again", nodes=follower),
        v.inject("dark", v.PowerLossParameters(nodes=follower)),
        v.IsrIs(as_="left-again", partition="t-0", lacks=follower, expect=v.must("ISR-05")),
        v.Heal(as_="restart", fault="dark"),
        v.IsrIs(as_="refilled", partition="t-0", has=follower, expect=v.must("DIR-04")),
    ]


@v.fault_scenario(
    "leader-disk-slow", "A leader with a slow disk acknowledges more slowly and loses nothing", seconds=12
)
def leader_is_slow(draft: v.Draft) -> v.Plan:
    """The leader may or may not go on leading; records are acknowledged, and none is lost."""
    leader = draft.leader
    steps: list[v.Step] = [
        v.inject("slow", v.DiskSlowParameters(node=leader, ms=SLOW_MS, operations=("write",), files=SEGMENTS)),
        v.goes_on("DISK-03"),
        v.Heal(as_="quick", fault="slow"),
    ]
    return _plan(draft, (leader,), steps)


@v.fault_scenario(
    "bit-flip-on-a-follower",
    "A follower that crashes finds the flipped bit on its disk, and fetches the batch again",
    seconds=12,
)
def bit_flips(draft: v.Draft) -> v.Plan:
    """A bit on a follower's disk flips and the follower crashes, so that it starts on a damaged log."""
    _, follower, _ = draft.roles
    draw = random.Random(f"{draft.seed}/{draft.scenario.slug}/place")
    steps: list[v.Step] = [
        v.inject(
            "flip", v.BitFlipParameters(node=follower, file=SEGMENTS, byte=draw.randrange(1000), bit=draw.randrange(8))
        ),
        v.inject("crash", v.KillParameters(nodes=follower)),
        v.Heal(as_="restart", fault="crash"),
        v.Logged(as_="found", node=follower, says=CUT_OFF, expect=v.must("DISK-04")),
        v.IsrIs(as_="rejoined", partition="t-0", has=follower, expect=v.must("DIR-04")),
    ]
    return _plan(draft, (follower,), steps)


@v.fault_scenario(
    "stale-blocks-on-a-follower",
    "A follower whose disk lost confirmed writes in the midst of its log finds that, and fetches the records again",
    seconds=12,
)
def blocks_are_stale(draft: v.Draft) -> v.Plan:
    """A follower crashes, and a block of its log is what it was before the last writes to it."""
    _, follower, _ = draft.roles
    draw = random.Random(f"{draft.seed}/{draft.scenario.slug}/place")
    stale = v.StaleBlocksParameters(
        node=follower, file=SEGMENTS, age_ms=draw.randrange(500, 2000), first=draw.randrange(8)
    )
    steps: list[v.Step] = [
        v.inject("stale", stale),
        v.Heal(as_="restart", fault="stale"),
        v.Logged(as_="found", node=follower, says=CUT_OFF, expect=v.must("DISK-04")),
        v.IsrIs(as_="rejoined", partition="t-0", has=follower, expect=v.must("DIR-04")),
    ]
    return _plan(draft, (follower,), steps)


@v.fault_scenario(
    "leader-loses-power",
    "A leader that loses power, and all that it had not made durable, loses no acknowledged record",
    seconds=14,
)
def leader_loses_power(draft: v.Draft) -> v.Plan:
    """The leader's disk loses acknowledged records that the other replicas have."""
    leader = draft.leader
    steps: list[v.Step] = [
        v.inject("dark", v.PowerLossParameters(nodes=leader)),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=v.must("DISK-05")),
        v.goes_on(),
        v.Heal(as_="restart", fault="dark"),
        v.IsrIs(as_="refilled", partition="t-0", has=leader, expect=v.must("DIR-04")),
    ]
    return _plan(draft, (leader,), steps)


@v.fault_scenario(
    "controllers-lose-power",
    "Controllers that all lose power at once remember their decisions and their votes",
    seconds=14,
    dialects=v.WITHOUT_ZOOKEEPER,
)
def controllers_lose_power(draft: v.Draft) -> v.Plan:
    """All controllers lose power at once: their decisions and their votes are on their disks.

    On clusters that decide while the leader's own disk is late, its last decisions are on the disks of the two others
    only. It may not lead on in its epoch with what it has (KAFKA-10527).
    """
    leader, *others = draft.roles
    controllers = tuple(map(v.node_name, v.CONTROLLER_IDS))
    is_late = draft.target.follows_its_documents
    late = v.DiskSlowParameters(node="$first", ms=LATE_MS, operations=("fsync",))
    steps: list[v.Step] = [
        v.Bind(as_="first", node="active-controller"),
        *([v.inject("late", late)] if is_late else []),
        v.CreateTopicProbe(
            as_="promised", node="$first", topic="promised", timeout_ms=20 * LATE_MS, expect=v.serves("K631-17")
        ),
        v.inject("dark", v.PowerLossParameters(nodes=controllers)),
        v.Heal(as_="restart", fault="dark"),
        *([v.Heal(as_="in-time", fault="late")] if is_late else []),
        v.ActiveController(as_="elected", expect=v.must("LIVE-02")),
        *(
            v.TopicCreatedThrough(as_=f"create-{broker}", node=broker, expect=v.must("LIVE-02"))
            for broker in (leader, *others)
        ),
        *(
            v.MetadataProbe(as_=f"kept-{broker}", node=broker, topic="promised", expect=v.serves("K631-15"))
            for broker in (leader, *others)
        ),
    ]
    draft = draft.timed(fetch_ms=FETCH_MS) if is_late else draft
    return _plan(draft, controllers, steps)


@v.fault_scenario(
    "controller-cannot-fsync",
    "An active controller whose disk answers fsync with errors makes no more decisions",
    seconds=16,
    dialects=v.WITHOUT_ZOOKEEPER,
)
def controller_cannot_fsync(draft: v.Draft) -> v.Plan:
    """The active controller decides nothing that it cannot make durable; another controller decides."""
    _, follower, _ = draft.roles
    controllers = tuple(map(v.node_name, v.CONTROLLER_IDS))
    steps: list[v.Step] = [
        v.Bind(as_="first", node="active-controller"),
        v.inject("broken", v.DiskErrorParameters(node="$first", operations=("fsync",))),
        v.inject("crash", v.KillParameters(nodes=follower)),
        v.IsrIs(as_="left", partition="t-0", lacks=follower, expect=v.must("DISK-06")),
        v.ActiveController(as_="another", is_not="$first", expect=v.must("DISK-06")),
        v.Heal(as_="restart", fault="crash"),
        *_repaired("$first", "broken"),
    ]
    return _plan(draft, controllers, steps)


@v.fault_scenario(
    "vote-not-stored",
    "A controller whose disk refuses renames, and so its vote, elects no other until it is repaired",
    seconds=22,
    dialects=v.WITHOUT_ZOOKEEPER,
)
def vote_cannot_be_stored(draft: v.Draft) -> v.Plan:
    """One of two controllers that are left cannot replace the file with its vote, which is written beside it."""
    leader = draft.leader
    controllers = tuple(map(v.node_name, v.CONTROLLER_IDS))
    elected = v.ActiveController(
        as_="elected-by-one", is_not="$first", within_ms=UNELECTED_MS, expect=v.never("DISK-08")
    )
    steps: list[v.Step] = [
        v.Bind(as_="first", node="active-controller"),
        v.Bind(as_="stuck", node="standby-controller"),
        v.inject("no-renames", v.RenameErrorParameters(node="$stuck", files="quorum-state")),
        v.inject("crash", v.KillParameters(nodes="$first")),
        elected,
        *_repaired("$stuck", "no-renames"),
        v.ActiveController(as_="elected", is_not="$first", expect=v.must("DISK-08", "LIVE-02")),
        v.TopicCreatedThrough(as_="decides", node=leader, expect=v.must("LIVE-02")),
        v.Heal(as_="restart", fault="crash"),
    ]
    return _plan(draft, controllers, steps)


def _repaired(broker: str, fault: str, suffix: str = "") -> list[v.Step]:
    """Repair the disk and restart the server: it has given the disk up, or has ended, and uses it again only then."""
    return [
        v.Heal(as_=f"repaired{suffix}", fault=fault),
        v.Shutdown(as_=f"stop{suffix}", nodes=broker),
        v.Start(as_=f"start{suffix}", nodes=broker),
    ]


def _plan(draft: v.Draft, broken: Collection[str], steps: Sequence[v.Step]) -> v.Plan:
    """Return the plan on a cluster in which the disks of the nodes `broken` can be broken."""
    topology = _with_disks(v.smallest_cluster(draft.target, draft.roles[-1]), broken)
    return draft.plan(steps, "whole", v.acknowledged("heal.ended"), topology=topology, may_lose=True)


def _with_disks(topology: v.Topology, names: Collection[str]) -> v.Topology:
    """Make the disks of these nodes breakable."""
    nodes = (node.model_copy(update={"disk": "breakable"}) if node.name in names else node for node in topology.nodes)
    return topology.model_copy(update={"nodes": tuple(nodes)})
