"""Segments end, retention deletes them, and brokers that stop, start and crash show what they showed before."""

from __future__ import annotations

from typing import Any, Literal

from fencepost.suites import vocabulary as v

TOPIC, STOPPED, INDEXED = "d", "kept", "indexed"
"""The topic whose start moves; and two of one replica, whose leader stops cleanly and finds damaged indexes."""
SEGMENT_MS = 600_000
LONG_AGO = 1_000_000_000_000
VALUE = "x" * 100
BATCH_BYTES = 280
"""About the size of a batch of two such records."""
KEPT_BYTES = BATCH_BYTES * 3 // 2
"""The last two of the segments have more than that, and the last one has less."""
KEPT_MS = 3_600_000
OUT_OF_RANGE = "error:1"
RECORDS, RECORD_BYTES, MIDDLE = 60, 30_000, 40
"""Records of a log that is too long to be read at each start, and an offset for which its index is needed."""
SOON_MS = 2 * v.LIVENESS_TIMEOUT_MS
AGAIN_MS = 5000
"""For so long a replica may still open its logs, or not know yet where its leader's begins."""


@v.fault_scenario(
    "log-start-moves",
    "Retention deletes whole segments, and nothing before the start of a log is shown again",
    seconds=20,
)
def start_moves(draft: v.Draft) -> v.Plan:
    """The oldest segments are deleted by size and by age, as the settings of a running topic say.

    A follower is away meanwhile, and its log ends before the leader's begins when it is back. Then the leader stops,
    its indexes are damaged, and it starts; and at last all brokers are killed. Shipped Kafka believes an index that is
    there, so it loses them; and it has not written yet where the log begins if all brokers crash.
    """
    target = draft.target
    leader, follower, other = replicas = draft.roles
    everything = replicas if target.follows_its_documents else [leader]
    steps: list[v.Step] = [
        *_filled(),
        _written("first", leader, 0, LONG_AGO),
        v.inject("away", v.TerminateParameters(nodes=follower)),
        _written("same-segment", leader, 2, LONG_AGO + SEGMENT_MS // 2),
        _written("second-segment", leader, 4, LONG_AGO + SEGMENT_MS + 1000),
        _written("third-segment", leader, 6, LONG_AGO + 2 * SEGMENT_MS + 2000),
        _changed("by-size", leader, "retention.bytes", str(KEPT_BYTES)),
        _starts("by-size", leader, 4, "DSTO-08", "DSTO-06", "ADM-04"),
        *_shown("by-size", leader, 4),
        *_shown_by_follower("by-size", other, 4, "DSTO-08"),
        v.Heal(as_="back", fault="away"),
        v.IsrIs(as_="in-sync", partition=f"{TOPIC}-0", has=follower, expect=v.must("DSTO-10")),
        *_shown_by_follower("anew", follower, 4, "DSTO-10"),
        _written("now", leader, 8),
        _changed("by-age", leader, "retention.ms", str(KEPT_MS)),
        _starts("by-age", leader, 8, "DSTO-08", "DSTO-06", "ADM-04"),
        *_shown("by-age", leader, 8),
        _served_by_leader(leader, rack=follower),
        _deleted(leader, 9),
        *_stopped_and_started(leader, "garbage" if target.follows_its_documents else "lost"),
        v.inject("crash", v.KillParameters(nodes=tuple(everything))),
        v.Heal(as_="restart", fault="crash"),
        _starts("crash", f"leader:{TOPIC}-0", 9, "DSTO-07"),
        *_shown("crash", f"leader:{TOPIC}-0", 9),
    ]
    return draft.plan(
        steps,
        "whole",
        settings=v.NodeSettings(broker=_settings(target)),
        topology=v.in_racks(v.smallest_cluster(target, other)),
        topics=[
            _with(v.topic(replicas, name=TOPIC), {"retention.ms": "-1", "segment.ms": str(SEGMENT_MS)}),
            *(_with(v.topic([leader], name=name, min_isr=1), {"segment.bytes": "1048576"}) for name in _FILLED),
        ],
        workload=v.WorkloadSpec(producers=tuple(_FILLED.values())),
    )


_FILLED = {
    topic: v.ProducerSpec(name=f"p-{topic}", topic=topic, rate=100, size=RECORD_BYTES) for topic in (STOPPED, INDEXED)
}


def _settings(target: v.TargetFacts) -> dict[str, str]:
    """Return settings by which brokers look for expired segments within a moment."""
    shipped = {} if target.follows_its_documents else {"log.initial.task.delay.ms": "500"}
    return {"log.retention.check.interval.ms": "200", **shipped}


def _with(topic: v.TopicSpec, config: dict[str, str]) -> v.TopicSpec:
    return topic.model_copy(update={"config": {**topic.config, **config}})


def _written(as_: str, leader: str, offset: int, timestamp: int | None = None) -> v.Step:
    """Produce a batch of two records of one time, or of now, and claim its offset."""
    time = {} if timestamp is None else {"timestamp": timestamp}
    return v.produced(
        as_,
        leader,
        TOPIC,
        [{"value": VALUE, **time}, {"value": VALUE, **time}],
        answer={f"{v.PRODUCED}.error_code": 0, f"{v.PRODUCED}.base_offset": offset},
        expect=v.serves("LIVE-03"),
    )


def _changed(as_: str, leader: str, key: str, value: str) -> v.Step:
    return v.configured(as_, leader, TOPIC, {key: value}, expect=v.serves("ADM-04"))


def _starts(when: str, leader: str, offset: int, requirement: str, *also: str) -> v.Step:
    """Wait until the log begins at this offset: after retention that is the begin of a segment."""
    return _listed(f"start-{when}", leader, v.FIRST, offset, v.serves(requirement, *also), within_ms=SOON_MS)


def _listed(as_: str, leader: str, timestamp: int, offset: int, expect: v.ExpectOutcome, **more: Any) -> v.Step:
    return v.listed(as_, leader, TOPIC, timestamp, answer={f"{v.LISTED}.offset": offset}, expect=expect, **more)


def _shown(when: str, leader: str, start: int) -> list[v.Step]:
    """Claim that a leader shows nothing before the start: neither by time nor by a fetch."""
    return [
        _listed(f"by-time-{when}", leader, LONG_AGO, start, v.serves("DSTO-07")),
        v.fetched(f"before-{when}", leader, TOPIC, start - 1, expect=v.answers("DSTO-07", OUT_OF_RANGE)),
        _fetched(f"from-{when}", leader, start, "DSTO-07"),
    ]


def _shown_by_follower(when: str, follower: str, start: int, requirement: str) -> list[v.Step]:
    return [
        _fetched(f"follower-from-{when}", follower, start, requirement),
        v.fetched(
            f"follower-before-{when}",
            follower,
            TOPIC,
            start - 1,
            within_ms=AGAIN_MS,
            expect=v.answers(requirement, OUT_OF_RANGE),
        ),
    ]


def _fetched(as_: str, broker: str, offset: int, requirement: str, **more: Any) -> v.Step:
    """Fetch the batch at this offset, which is alone in its segment."""
    batch = {f"{v.FETCHED}.error_code": 0, f"{v.FETCHED}.records[0].value": VALUE}
    return v.fetched(
        as_,
        broker,
        TOPIC,
        offset,
        answer={**batch, **more.pop("answer", {})},
        within_ms=AGAIN_MS,
        expect=v.serves(requirement),
        **more,
    )


def _served_by_leader(leader: str, *, rack: str) -> v.Step:
    """Claim that a client in the follower's rack is served by the leader: no selector is set."""
    sent_nowhere = {f"{v.FETCHED}.preferred_read_replica": -1}
    return _fetched("leader-serves", leader, 8, "DRACK-01", rack=rack, answer=sent_nowhere)


def _deleted(leader: str, offset: int) -> v.Step:
    """Delete up to an offset within a batch, where no file begins."""
    return v.deleted_before(
        "deleted",
        leader,
        TOPIC,
        offset,
        v.serves("DSTO-09"),
        wait_ms=v.LIVENESS_TIMEOUT_MS,
        timeout_ms=v.LIVENESS_TIMEOUT_MS,
    )


def _filled() -> list[v.Step]:
    """Write more into two logs than is read at each start."""
    filled = [
        v.WorkloadAcks(as_=f"filled-{topic}", producer=f"p-{topic}", more=RECORDS, within_ms=SOON_MS)
        for topic in _FILLED
    ]
    return [v.Workload(as_="work", action="start"), *filled, v.Workload(as_="filled", action="stop")]


def _stopped_and_started(leader: str, damage: Literal["garbage", "lost"]) -> list[v.Step]:
    """Stop a broker cleanly, damage the indexes of one of its logs, and claim that it answers as before."""
    damaged = v.DamagedFileParameters(node=leader, file=f"{INDEXED}-0/*index", damage=damage, how="shutdown")
    return [
        *(step for topic in _FILLED for step in _asked(topic, leader)),
        v.inject("damage", damaged),
        v.Heal(as_="started", fault="damage"),
        *(
            v.LeaderIs(as_=f"leads-{topic}", partition=f"{topic}-0", is_=leader, expect=v.must("LIVE-01"))
            for topic in _FILLED
        ),
        *_answers_as_before(STOPPED, leader, "DSTO-03"),
        *_answers_as_before(INDEXED, leader, "DSTO-05"),
        # A broker that ended over the files gave no answer that could be judged.
        v.LeaderIs(as_="still-led", partition=f"{INDEXED}-0", is_=leader, expect=v.must("DSTO-05")),
    ]


def _asked(topic: str, leader: str) -> list[v.Step]:
    """Ask for a record in the middle, for the end, and for the newest time and the record of it."""
    middle = {f"middle-{topic}": f"{v.FETCHED}.records[0].offset"}
    return [
        v.fetched(f"middle-before-{topic}", leader, topic, MIDDLE, binds=middle),
        v.listed(f"end-before-{topic}", leader, topic, v.END, binds={f"end-{topic}": f"{v.LISTED}.offset"}),
        v.listed(f"newest-{topic}", leader, topic, v.NEWEST, binds={f"newest-time-{topic}": f"{v.LISTED}.timestamp"}),
        v.listed(
            f"time-before-{topic}",
            leader,
            topic,
            f"$newest-time-{topic}",
            binds={f"time-{topic}": f"{v.LISTED}.offset"},
        ),
    ]


def _answers_as_before(topic: str, leader: str, requirement: str) -> list[v.Step]:
    more: dict[str, Any] = {"within_ms": AGAIN_MS, "expect": v.serves(requirement)}
    middle = {f"{v.FETCHED}.records[0].offset": f"$middle-{topic}"}
    time = {f"{v.LISTED}.offset": f"$time-{topic}"}
    end = {f"{v.LISTED}.offset": f"$end-{topic}"}
    return [
        v.fetched(f"middle-after-{topic}", leader, topic, MIDDLE, answer=middle, **more),
        v.listed(f"end-after-{topic}", leader, topic, v.END, answer=end, **more),
        v.listed(f"time-after-{topic}", leader, topic, f"$newest-time-{topic}", answer=time, **more),
    ]
