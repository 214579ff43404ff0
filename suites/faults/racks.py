"""A consumer reads from the follower in its rack, through faults (KIP-392)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fencepost.suites import vocabulary as v

SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
LAG_MS = 8000
"""So long that a replica which fetches nothing is in the ISR until the follower has been asked."""
FIRST, CUT_OFF, LAST = 12, 60, 40
"""Records for the consumer: before the first fault, while it does not reach the leader, and without the follower."""
COMMITTED = FIRST + CUT_OFF + 1
"""With the one that a client waits for at the follower."""
_LAST_COMMITTED = {f"{v.FETCHED}.records[].offset": [COMMITTED - 1]}
_FROM_LEADER = {f"{v.FETCHED}.preferred_read_replica": -1}
LONG_MS = 5000
"""A leader holds a follower's empty fetch for so long: the follower learns of a commit otherwise."""
OTHER_EPOCH = 1000
WITHOUT_RACK = 10
"""A version of Fetch that does not name the client's rack."""
READ_OF_FOLLOWER, READ_LAST = 20, 5
"""Records of these that the consumer has to get, beside all before them."""


@v.fault_scenario(
    "rack-reads-on",
    "A consumer reads from the follower in its rack while it does not reach the leader, and from the leader after",
    seconds=12,
    workloads={"racks"},
)
def leader_unreachable(draft: v.Draft) -> v.Plan:
    """Clients do not reach the leader, and a consumer reads on from the follower in its rack; then that one dies.

    Between the two the follower holds a record that another in-sync replica lacks: it shows clients nothing of it, and
    tells them that the offset after it is not available yet. A client that waits at the follower gets a record once it
    is committed, although the leader holds empty fetches for long.
    """
    leader, follower, other = draft.roles
    steps: list[v.Step] = [
        *_shown((leader, follower, other)),
        v.Workload(as_="work", action="start"),
        _records("first", leader, FIRST),
        _reads("reads", 1, v.must("LIVE-03")),
        v.inject("cut-off", v.CutParameters(from_="site:main", to=leader)),
        _records("meanwhile", leader, CUT_OFF),
        _reads("read-of-follower", FIRST + READ_OF_FOLLOWER, v.must("DRACK-03", "DRACK-02")),
        v.Checkpoint(as_="committed", node=follower, partition="u-0", at_least=COMMITTED - 1),
        _waits("waits", follower),
        v.produced_at("awaited", leader, "all", v.serves("LIVE-03"), topic="u"),
        v.fetched("known", follower, "u", COMMITTED - 1, answer=_LAST_COMMITTED, within_ms=v.LIVENESS_TIMEOUT_MS),
        v.Bind(as_="epoch", value="leader-epoch:u-0"),
        v.fetched("own-epoch", follower, "u", 0, epoch="$epoch", expect=v.serves("DRACK-05")),
        v.fetched("other-epoch", follower, "u", 0, epoch=OTHER_EPOCH, expect=v.answers("DRACK-05", "error:75")),
        v.fetched("too-old", follower, "u", 0, version=WITHOUT_RACK, expect=v.answers("DRACK-05", "error:6")),
        v.inject("slow", v.StallParameters(from_=other, to=leader)),
        v.produced_at("uncommitted", leader, 1, v.serves("LIVE-03"), topic="u"),
        v.LogEnd(as_="held", node=follower, partition="u-0", is_=COMMITTED + 1),
        _asks("at-the-end", follower, COMMITTED, v.serves("DRACK-03")),
        _asks("not-committed", follower, COMMITTED + 1, v.answers("DRACK-04", "error:78")),
        _asks("not-there", follower, COMMITTED + 2, v.answers("DRACK-04", "error:1")),
        v.IsrIs(as_="lags", partition="u-0", lacks=other, expect=v.must("ISR-05")),
        v.fetched(
            "laggard",
            leader,
            "u",
            0,
            rack=other,
            answer=_FROM_LEADER,
            # The leader hears of the change that it asked for after the controllers have it.
            within_ms=v.LIVENESS_TIMEOUT_MS,
            expect=v.serves("DRACK-02"),
        ),
        v.Heal(as_="released", fault="slow"),
        v.Heal(as_="reachable", fault="cut-off"),
        v.inject("follower-dies", v.KillParameters(nodes=follower)),
        _records("last", leader, LAST),
        _reads("goes-on", COMMITTED + 1 + READ_LAST, v.must("DRACK-02")),
    ]
    return draft.timed(lag_ms=LAG_MS).plan(
        steps,
        *("read-of-follower", "waits", "not-there", "goes-on"),
        settings=v.NodeSettings(broker={"replica.selector.class": SELECTOR, "replica.fetch.wait.max.ms": str(LONG_MS)}),
        topology=v.in_racks(v.smallest_cluster(draft.target, other)),
        topics=[v.topic([leader, follower, other], name="u")],
        workload=v.WorkloadSpec(consumers=(v.ConsumerSpec(name="c1", topic="u", rack=follower),)),
        afterwards=[v.Workload(as_="stop-work", action="stop"), v.burst("afterwards", "u", 10)],
    )


def _records(as_: str, leader: str, records: int) -> v.Step:
    """Send records one after the other, by links that the faults of clients leave alone."""
    return v.produced_at(
        as_,
        leader,
        "all",
        v.serves("LIVE-03"),
        topic="u",
        repeat=records,
        every_ms=50,
        background=True,
        timeout_ms=v.LIVENESS_TIMEOUT_MS,
    )


def _reads(as_: str, records: int, expect: v.Expect) -> v.Step:
    """Wait until the consumer has got so many records in all."""
    return v.WorkloadReads(as_=as_, consumer="c1", more=records, since="start", expect=expect)


def _shown(brokers: Sequence[str]) -> list[v.Step]:
    """Claim that clients are shown the rack of each broker, which has its name, by both requests that have it."""
    ids = {broker: v.node_id(broker) for broker in brokers}
    asked: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("metadata", "node_id", {"topics": []}),
        ("describe_cluster", "broker_id", {}),
    )
    return [
        v.ask_until(
            f"racks-by-{api.replace('_', '-')}",
            brokers[0],
            api,
            body,
            v.serves("DRACK-01"),
            answer={f"brokers[{key}={id}].rack": broker for broker, id in ids.items()},
            timeout_ms=1000,
        )
        for api, key, body in asked
    ]


def _waits(as_: str, follower: str) -> v.Step:
    """Wait at the follower for the next record, less long than the leader holds an empty fetch."""
    return v.fetched(
        as_,
        follower,
        "u",
        COMMITTED - 1,
        wait_ms=LONG_MS - 1000,
        timeout_ms=LONG_MS,
        background=True,
        answer=_LAST_COMMITTED,
        expect=v.serves("DRACK-06"),
    )


def _asks(as_: str, broker: str, offset: int, expect: v.ExpectOutcome) -> v.Step:
    return v.FetchProbe(as_=as_, node=broker, topic="u", offset=offset, expect=expect)
