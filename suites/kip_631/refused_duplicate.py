"""A process that holds no lease does not count as a replica, whatever id it fetches with.

The partition has two replicas: the leader, and the broker whose id two processes claim. Once one of the two is cut
from the leader and the other keeps fetching, the outcome depends on which process the leader credits.
"""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.suites import vocabulary as v

BEFORE, DURING, ALONE = 100, 220, 5
NO_WORK = v.WorkloadSpec()


@v.scenario("refused-duplicate", "A refused duplicate does not count as a replica", seconds=20)
def original_cut(draft: v.Draft) -> v.Plan:
    """The original is cut from the leader while the duplicate runs; then duplicate and leader die.

    If the duplicate wins, it is a valid replica. The original, which lacks all records acknowledged meanwhile, gets its
    id back when the duplicate is gone, and must not be elected. If the duplicate is refused (AK-01) and credited all
    the same (AK-06), acknowledged records are lost.
    """
    target = draft.target
    if target.differs("AK-01") and not target.differs("AK-06"):
        return _refused_without_fetches(draft)
    leader, original, _ = draft.roles
    steps = [
        *_joined(target, leader, original, _duplicate(original).name),
        v.inject("cut", v.CutParameters(from_=original, to=leader)),
        v.Hold(as_="lagging", after="cut.proven", ms=2 * draft.timing.lag_ms),
        *_credited(target, original),
        v.Produce(as_="during", topic="u", records=DURING, idempotent=True, timeout_ms=15_000),
        v.Heal(as_="duplicate-dies", fault="duplicate"),
        *_leader_dies(target, leader, original),
    ]
    coverage: list[v.Coverage] = [
        v.acknowledged(by="before", at_least=BEFORE),
        v.acknowledged("cut.proven", before="leader-dies.injected", by="during", at_least=DURING),
    ]
    lost = [
        v.Deviation(difference="AK-06", requirement="ACK-01"),
        *(v.Deviation(difference="AK-06", requirement=rule, level="may") for rule in v.broken_by_loss()),
    ]
    return _plan(draft, steps, coverage, lost if target.differs("AK-06") else ())


def _refused_without_fetches(draft: v.Draft) -> v.Plan:
    """Expect that a refused duplicate does not fetch at all: so nothing can count as the original."""
    leader, original, _ = draft.roles
    duplicate = _duplicate(original).name
    steps: list[v.Step] = [
        v.inject("duplicate", v.DuplicateParameters(node=duplicate)),
        v.Connected(
            as_="fetching", node=duplicate, to=leader, within_ms=4 * draft.timing.lag_ms, expect=v.never("ISR-07")
        ),
        v.Heal(as_="duplicate-dies", fault="duplicate"),
    ]
    return _plan(draft, steps, [v.acknowledged(by="before", at_least=BEFORE)])


def _duplicate(original: str) -> v.NodeSpec:
    return v.duplicate_of(original, "empty")


def _plan(
    draft: v.Draft, steps: Sequence[v.Step], coverage: Sequence[v.Coverage], deviations: Sequence[v.Deviation] = ()
) -> v.Plan:
    """Return the plan with `steps` between records that were acknowledged before and after them."""
    leader, original, _ = draft.roles
    return draft.plan(
        [v.burst("before", "u", BEFORE, idempotent=False), *steps],
        *coverage,
        topology=v.quorum_cluster(more=[_duplicate(original)]),
        topics=[_pair(leader, original)],
        workload=NO_WORK,
        deviations=deviations,
        afterwards=[v.burst("afterwards", "u", 10, idempotent=False)],
    )


def _joined(target: v.TargetFacts, leader: str, original: str, duplicate: str) -> list[v.Step]:
    """Start the duplicate and wait until it fetches from the leader, accepted or refused."""
    start: list[v.Step] = [
        v.Bind(as_="original-epoch", value=f"broker-epoch:{original}"),
        v.inject("duplicate", v.DuplicateParameters(node=duplicate)),
    ]
    if not target.differs("AK-01"):
        start.append(v.BrokerEpochAbove(as_="won", node=original, value="$original-epoch", expect=v.must("K631-39")))
    return [
        *start,
        v.Connected(as_="fetching", node=duplicate, to=leader),
        v.IsrIs(as_="in-sync", partition="u-0", has=(leader, original)),
    ]


def _credited(target: v.TargetFacts, original: str) -> list[v.Step]:
    """Expect, after twice the lag time, that the duplicate's fetches alone keep the id in the ISR.

    A duplicate that waited for a processor meanwhile may have left the ISR. Its fetches bring the id back (AK-06).
    """
    if not target.differs("AK-06"):
        return [v.IsrIs(as_="credited", partition="u-0", has=original, within_ms=1000)]
    held = v.must("ISR-07").model_copy(update={"difference": "AK-06"})
    return [v.IsrIs(as_="credited", partition="u-0", has=original, expect=held)]


def _leader_dies(target: v.TargetFacts, leader: str, original: str) -> list[v.Step]:
    """Kill the leader and expect that the original is not elected.

    The lease of the duplicate ends first, so that the leader alone is in the ISR. If the duplicate never had a lease,
    the original is a member of the ISR, and is elected.
    """
    dies = v.inject("leader-dies", v.KillParameters(nodes=leader))
    if target.differs("AK-06"):
        elected = v.must("ISR-07").model_copy(update={"difference": "AK-06"})
        return [dies, v.LeaderIs(as_="elected", partition="u-0", is_=original, expect=elected)]
    return [
        v.IsrIs(as_="left", partition="u-0", is_=leader, expect=v.must("D631-07")),
        dies,
        v.LeaderIs(
            as_="elected",
            partition="u-0",
            is_=original,
            within_ms=3 * v.scaled_timing(target).lease_ms,
            expect=v.never("ISR-07"),
        ),
    ]


@v.scenario(
    "foreign-fetches",
    "Fetches without the registered epoch keep no replica in the ISR",
    seconds=10,
    dialects=v.ALL_DESIGNS,
)
def foreign_fetches(draft: v.Draft) -> v.Plan:
    """A follower is cut from the leader, which then takes records that the follower lacks.

    Raw fetches in the follower's name ask for later offsets, as if it had those records.
    """
    target = draft.target
    leader, follower, _ = draft.roles
    rule = target.rule("D631-16", "DINT-26", "DLD-02")
    without_epoch = target.unless("AK-06", v.answers(rule, "refused"), v.serves(rule))
    for difference in ("AK-12", "AZ-05"):
        without_epoch = target.unless(difference, without_epoch, v.serves(rule))
    stale = target.unless("AZ-05", v.answers(rule, "refused"), v.serves(rule))
    steps: list[v.Step] = [
        v.burst("before", "u", BEFORE, idempotent=False),
        v.inject("cut", v.CutParameters(from_=follower, to=leader)),
        v.Produce(as_="missing", topic="u", node=leader, acks=1, records=ALONE, expect=v.serves("LIVE-03")),
        *_fetches("without-epoch", leader, follower, -1, without_epoch),
        *_fetches("stale", leader, follower, "stale", stale),
        v.Produce(as_="more", topic="u", node=leader, acks=1, expect=v.serves("LIVE-03")),
        v.IsrIs(as_="alone", partition="u-0", is_=leader, expect=v.must("ISR-05")),
        v.logs_sole_isr("adopted", leader, "u-0", since="cut.injected"),
        v.produced_at(
            "too-few", leader, "all", v.answers("ISR-08", "error:[19, 20]"), topic="u", repeat=2, after="adopted.ended"
        ),
        v.Heal(as_="mend", fault="cut"),
        v.IsrIs(as_="rejoined", partition="u-0", has=follower, expect=v.must("ISR-06")),
        v.burst("afterwards", "u", 10, idempotent=False),
    ]
    return draft.plan(
        steps,
        "fetch-without-epoch",
        "fetch-stale",
        v.acknowledged(by="before", at_least=BEFORE),
        v.Acknowledged(by="missing", acks=1, at_least=ALONE, after="cut.proven"),
        topics=[_pair(leader, follower)],
        workload=NO_WORK,
    )


def _fetches(name: str, leader: str, follower: str, epoch: int | str, expect: v.ExpectOutcome) -> list[v.Step]:
    return [
        v.ReplicaFetchProbe(
            as_=f"fetch-{name}",
            node=leader,
            topic="u",
            broker=follower,
            broker_epoch=epoch,
            offset=BEFORE + ALONE,
            repeat=8,
            expect=expect,
        )
    ]


def _pair(leader: str, original: str) -> v.TopicSpec:
    return v.topic([leader, original], name="u")
