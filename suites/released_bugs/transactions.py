"""Ids of producers, offsets in transactions and timestamps of records: requests that are answered wrongly."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v
from fencepost.suites.released_bugs.bug import ReleasedBug, asking, one_broker
from fencepost.suites.released_bugs.requests import GROUP, ask, coordinator_found, fetched

COORDINATOR = "leader:__transaction_state-0"
MAX_TIMESTAMP = -3


def records(name: str, batch: dict[str, Any], transactional_id: str | None = None, **more: Any) -> v.ApiProbe:
    """Produce one batch to t-0 at acks=all."""
    data = {"name": "t", "partition_data": [{"index": 0, "records": batch}]}
    body = {"transactional_id": transactional_id, "acks": -1, "timeout": 5000, "topic_data": [data]}
    return ask(name, "produce", 9, body, **more)


@ReleasedBug(
    "KAFKA-14417",
    "InitProducerId without an active controller is answered with a timeout",
    kind="transactions",
    loses="Idempotent producers end, which would only have to wait.",
    releases=("apache-kafka:3.3.1", "3.3.2"),
    rule="CRD-05",
)
def no_id_without_a_controller(draft: v.Draft) -> v.Plan:
    """The broker has no ids left to give, and the controller, which has more, does not answer."""
    steps: list[v.Step] = [
        v.inject("stop", v.PauseParameters(nodes="controllers")),
        ask(
            "id",
            "init_producer_id",
            4,
            {"transactional_id": None, "transaction_timeout": 60_000, "producer_id": -1, "producer_epoch": -1},
            timeout_ms=20_000,
            expect=v.answers("CRD-05", "error:14"),
        ),
        v.Heal(as_="go-on", fault="stop"),
    ]
    return asking(draft, steps, settings=one_broker(request_timeout_ms="2000"))


@ReleasedBug(
    "KAFKA-16310",
    "ListOffsets of the highest timestamp returns the offset of another record",
    kind="replication",
    loses="A tool that looks for the newest record reads another one.",
    releases=("apache-kafka:3.7.2", "3.8.0"),
    rule="ADM-03",
)
def newest_timestamp(draft: v.Draft) -> v.Plan:
    """The second of three records in a batch has the highest timestamp."""
    times = (1_700_000_001_000, 1_700_000_003_000, 1_700_000_002_000)
    batch = {"records": [{"value": f"r-{place}", "timestamp": time} for place, time in enumerate(times)]}
    partition = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": MAX_TIMESTAMP}
    steps: list[v.Step] = [
        records("batch", batch, expect=v.serves("LIVE-03")),
        ask(
            "newest",
            "list_offsets",
            7,
            {"replica_id": -1, "isolation_level": 0, "topics": [{"name": "t", "partitions": [partition]}]},
            answer={"topics[0].partitions[0].offset": 1, "topics[0].partitions[0].timestamp": times[1]},
            expect=v.serves("ADM-03"),
        ),
    ]
    return asking(draft, steps)


@ReleasedBug(
    "KAFKA-19163",
    "A group is removed while its only offset belongs to an open transaction",
    kind="transactions",
    loses="The offset of the committed transaction is gone, and its records are processed twice.",
    releases=("apache-kafka:4.0.0", "4.0.1"),
    rule="CRD-03",
    wanted="the transactional workload with offsets of a new group, and short intervals of expiry",
)
def pending_offsets_expired(draft: v.Draft) -> v.Plan:
    """The group has nothing but the offset of an open transaction while the coordinator looks for expired ones."""
    producer = {"transactional_id": "x", "producer_id": "$id", "producer_epoch": "$epoch"}
    offset = {"partition_index": 0, "committed_offset": 5, "committed_leader_epoch": -1, "committed_metadata": ""}
    member = {"generation_id": -1, "member_id": "", "group_instance_id": None}

    steps: list[v.Step] = [
        coordinator_found(),
        ask(
            "coordinator-of-transactions",
            "find_coordinator",
            2,
            {"key": "x", "key_type": 1},
            within_ms=v.LIVENESS_TIMEOUT_MS,
        ),
        ask(
            "begin",
            "init_producer_id",
            4,
            {"transactional_id": "x", "transaction_timeout": 60_000, "producer_id": -1, "producer_epoch": -1},
            binds={"id": "producer_id", "epoch": "producer_epoch"},
            within_ms=v.LIVENESS_TIMEOUT_MS,
        ),
        ask("add", "add_offsets_to_txn", 3, {**producer, "group_id": GROUP}, within_ms=10_000),
        ask(
            "offset",
            "txn_offset_commit",
            3,
            {**producer, "group_id": GROUP, **member, "topics": [{"name": "t", "partitions": [offset]}]},
            within_ms=10_000,
            expect=v.serves("CRD-03"),
        ),
        v.Hold(after="offset.ended", ms=5000),
        ask("commit", "end_txn", 3, {**producer, "committed": True}, expect=v.serves("CRD-03")),
        fetched(
            "kept", answer={"topics[0].partitions[0].committed_offset": 5}, within_ms=10_000, expect=v.serves("CRD-03")
        ),
    ]
    settings = one_broker(offsets_retention_check_interval_ms="1000")
    return asking(draft, steps, settings=settings)


X = "x"
"""The transactional id."""


def session() -> list[v.Step]:
    """Begin a session of the transactional id, which binds `id` and `epoch`."""
    body = {"transactional_id": X, "transaction_timeout": 60_000, "producer_id": -1, "producer_epoch": -1}
    return [
        ask("found", "find_coordinator", 2, {"key": X, "key_type": 1}, within_ms=v.LIVENESS_TIMEOUT_MS),
        ask(
            "session",
            "init_producer_id",
            4,
            body,
            node=COORDINATOR,
            binds={"id": "producer_id", "epoch": "producer_epoch"},
            within_ms=v.LIVENESS_TIMEOUT_MS,
        ),
    ]


def with_partitions(name: str, partitions: tuple[int, ...], epoch: str = "$epoch") -> v.ApiProbe:
    """Add partitions of t to the transaction."""
    topics = [{"name": "t", "partitions": list(partitions)}]
    body = {"transactional_id": X, "producer_id": "$id", "producer_epoch": epoch, "topics": topics}
    old = {f"v3_and_below_{key}": value for key, value in body.items()}
    return ask(name, "add_partitions_to_txn", 3, old, node=COORDINATOR, within_ms=10_000)


def ended(name: str, expect: Any, epoch: str = "$epoch", **more: Any) -> v.ApiProbe:
    """Commit the transaction, by the newest version that the release has."""
    body = {"transactional_id": X, "producer_id": "$id", "producer_epoch": epoch, "committed": True}
    return ask(name, "end_txn", 5, body, node=COORDINATOR, expect=expect, **more)


def state_is(name: str, state: str, expect: Any = None, **more: Any) -> v.ApiProbe:
    """Wait until the coordinator says that the transaction is in a state."""
    return ask(
        name,
        "describe_transactions",
        0,
        {"transactional_ids": [X]},
        node=COORDINATOR,
        answer={"transaction_states[0].transaction_state": state},
        expect=expect,
        **more,
    )


@ReleasedBug(
    "KAFKA-17754",
    "A late EndTxn ends the next transaction of its producer (KIP-890)",
    kind="transactions",
    loses="Half of a transaction is committed.",
    releases=("apache-kafka:3.9.2", "4.0.0"),
    rule="TXN-01",
)
def late_end(draft: v.Draft) -> v.Plan:
    """The end of the first transaction is sent again, and arrives when the second has begun: it must not end that."""
    steps: list[v.Step] = [
        *session(),
        with_partitions("first", (0,)),
        ended("first-ended", v.serves("TXN-01")),
        state_is(
            "first-complete", "CompleteCommit", within_ms=10_000, binds={"now": "transaction_states[0].producer_epoch"}
        ),
        with_partitions("second", (0,), "$now"),
        ended("late", v.never_serves("TXN-01")),
        state_is("goes-on", "Ongoing", v.serves("TXN-01")),
        ended("second-ended", v.serves("TXN-01"), "$now"),
    ]
    return asking(draft, steps)
