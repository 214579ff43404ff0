"""Compaction of a topic by key, by brokers that are away, crash while they compact, and start on what is left."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v

COPIED, ALONE = "c", "k"
"""A topic of three replicas, and one whose only replica is on the broker that crashes."""
LONG_AGO = 1_000_000_000_000
KEPT, KEPT_FOR_A_DAY = (1, 2, 6), (1, 2, 5, 6)
"""The offsets that stay of the closed segments. Shipped Kafka keeps each tombstone for delete.retention.ms after it was
compacted first, and not after it was written."""
LAST_OFFSET = 7
"""That of the record in the last segment, which is not compacted."""
LATE_MS = 6000
IN_THE_MIDDLE_MS = 4000
"""How long the disk keeps a compacted segment waiting, and for how long a broker compacts before it is killed."""
COMPACTED_MS = 10_000
"""For so long a replica may be compacting: many times what it needs."""
CONFIG = {
    "retention.ms": "-1",
    "segment.ms": "1",
    "min.cleanable.dirty.ratio": "0.01",
    "delete.retention.ms": "86400000",
}
"""Each later batch of now begins a segment, and closed ones are compacted at once where the topic is compacted."""


@v.fault_scenario(
    "last-of-each-key",
    "Compaction leaves the last record of each key, also if a broker crashes while it compacts",
    seconds=20,
)
def last_of_each_key(draft: v.Draft) -> v.Plan:
    """Two topics are written to, and compacted from then on: one of them by a broker that is killed meanwhile.

    A replica that was away copies what is left. The broker is killed once more: it knows the last batch of a producer
    although no record of it is left.
    """
    target = draft.target
    leader, follower, other = replicas = draft.roles
    kept = KEPT if target.follows_its_documents else KEPT_FOR_A_DAY
    files = f"{ALONE}-0/*.{'compacted' if target.follows_its_documents else 'cleaned'}"
    steps: list[v.Step] = [
        v.LeaderIs(as_="leader-ready-alone", partition=f"{ALONE}-0", is_=leader),
        _id(leader),
        v.inject("away", v.TerminateParameters(nodes=follower)),
        *(step for topic in (COPIED, ALONE) for step in _written(topic, leader)),
        v.inject("late", v.DiskSlowParameters(node=leader, ms=LATE_MS, operations=("write",), files=files)),
        *(_compacts(topic, leader) for topic in (COPIED, ALONE)),
        v.Hold(as_="in-the-middle", after=f"compact-{ALONE}.ended", ms=IN_THE_MIDDLE_MS),
        v.inject("crash", v.KillParameters(nodes=leader)),
        v.Heal(as_="in-time", fault="late"),
        v.Heal(as_="restart", fault="crash"),
        v.Heal(as_="back", fault="away"),
        v.IsrIs(as_="copied", partition=f"{COPIED}-0", has=follower, expect=v.must("DSTO-11")),
        *(_left(f"left-{broker}", broker, COPIED, kept, "DSTO-11") for broker in replicas),
        _left("left-alone", leader, ALONE, kept, "DSTO-12", "DSTO-11"),
        v.inject("crash-again", v.KillParameters(nodes=leader)),
        v.Heal(as_="restart-again", fault="crash-again"),
        _left("left-after", leader, ALONE, kept, "DSTO-12", "DSTO-11"),
        _first_batch(ALONE, leader, "retried", v.serves("DSTO-13")),
        _first_batch(COPIED, f"leader:{COPIED}-0", "retried", v.serves("DSTO-13")),
        v.fetched(
            "last",
            leader,
            ALONE,
            LAST_OFFSET,
            answer={f"{v.FETCHED}.records[].offset": [LAST_OFFSET]},
            expect=v.serves("DSTO-11"),
        ),
    ]
    topology = v.smallest_cluster(target, other)
    nodes = (node.model_copy(update={"disk": "breakable"}) if node.name == leader else node for node in topology.nodes)
    return draft.plan(
        steps,
        "whole",
        settings=v.NodeSettings(broker={"log.cleaner.backoff.ms": "200"}),
        topology=topology.model_copy(update={"nodes": tuple(nodes)}),
        topics=[_keyed(v.topic(replicas, name=COPIED)), _keyed(v.topic([leader], name=ALONE, min_isr=1))],
        workload=None,
    )


def _keyed(topic: v.TopicSpec) -> v.TopicSpec:
    return topic.model_copy(update={"config": {**topic.config, **CONFIG}})


def _id(broker: str) -> v.Step:
    body = {"transactional_id": None, "transaction_timeout": 60_000, "producer_id": -1, "producer_epoch": -1}
    return v.ask_until("id", broker, "init_producer_id", body, version=4, binds={"id": "producer_id"})


def _written(topic: str, leader: str) -> list[v.Step]:
    """Write the keys a, b, t and u; the last of t and u are tombstones, of long ago and of now. Then z closes."""
    return [
        _first_batch(topic, leader, "first", v.serves("LIVE-03")),
        _batch(topic, leader, 1, ("b", "b-last"), ("a", "a-last")),
        _batch(topic, leader, 3, ("t", "t-first"), ("u", "u-first")),
        _batch(topic, leader, 5, ("t", None)),
        _batch(topic, leader, 6, ("u", None), now=True),
        _batch(topic, leader, LAST_OFFSET, ("z", "z-last"), now=True),
    ]


def _first_batch(topic: str, leader: str, when: str, expect: v.ExpectOutcome) -> v.Step:
    """Produce the first batch of the producer with an id, or repeat it: it is at offset 0.

    It is of now: shipped Kafka forgets producers whose last batch is older than producer.id.expiration.ms.
    """
    return v.produced(
        f"{when}-{topic}",
        leader,
        topic,
        [{"key": "a", "value": "a-first"}],
        producer={"producer_id": "$id", "producer_epoch": 0, "base_sequence": 0},
        answer={f"{v.PRODUCED}.error_code": 0, f"{v.PRODUCED}.base_offset": 0},
        within_ms=v.LIVENESS_TIMEOUT_MS if when == "retried" else 0,
        expect=expect,
    )


def _batch(topic: str, leader: str, offset: int, *records: tuple[str, str | None], now: bool = False) -> v.Step:
    at: dict[str, Any] = {} if now else {"timestamp": LONG_AGO + 1000 * offset}
    return v.produced(
        f"written-{topic}-{offset}",
        leader,
        topic,
        [{"key": key, "value": value, **at} for key, value in records],
        answer={f"{v.PRODUCED}.error_code": 0, f"{v.PRODUCED}.base_offset": offset},
        expect=v.serves("LIVE-03"),
    )


def _compacts(topic: str, leader: str) -> v.Step:
    """Have the topic compacted from now on."""
    return v.configured(f"compact-{topic}", leader, topic, {"cleanup.policy": "compact"}, expect=v.serves("ADM-04"))


def _left(as_: str, broker: str, topic: str, kept: tuple[int, ...], requirement: str, *also: str) -> v.Step:
    """Wait until the first segment has these records, and no others."""
    records = f"{v.FETCHED}.records"
    return v.fetched(
        as_,
        broker,
        topic,
        0,
        answer={
            f"{v.FETCHED}.error_code": 0,
            f"{records}[].offset": list(kept),
            f"{records}[offset=1].value": "b-last",
            f"{records}[offset=2].value": "a-last",
            f"{records}[offset=6].key": "u",
        },
        within_ms=COMPACTED_MS,
        expect=v.serves(requirement, *also, "ADM-04"),
    )
