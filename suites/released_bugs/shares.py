"""Share groups: records that they never get, and state that anybody may write over."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v
from fencepost.suites.released_bugs.bug import ReleasedBug, asking, one_broker
from fencepost.suites.released_bugs.requests import BROKER, GROUP, ask, coordinator_found

SHARE = 2
"""The type of key of the coordinators of share groups."""
MEMBER = "Wq5JrJ0cQEaJ7h9pVQ3dPA"
SETTINGS = v.NodeSettings(
    broker={
        **one_broker().broker,
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": "1",
    }
)


def topic_id() -> v.ApiProbe:
    """Bind `topic` to the id of t."""
    body = {"topics": [{"topic_id": None, "name": "t"}], "allow_auto_topic_creation": False}
    return ask("topic", "metadata", 12, body, binds={"topic": "topics[0].topic_id"})


def member(name: str, partitions: int) -> v.ApiProbe:
    """Join as the only member until all partitions are assigned."""
    body = {"group_id": GROUP, "member_id": MEMBER, "member_epoch": 0, "subscribed_topic_names": ["t"]}
    assigned = {"assignment.topic_partitions[].partitions[]": list(range(partitions))}
    return ask(name, "share_group_heartbeat", 1, body, within_ms=v.LIVENESS_TIMEOUT_MS, answer=assigned)


def start_offset(name: str, partition: int, offset: int, expect: Any = None) -> v.ApiProbe:
    """Wait until the group begins a partition at an offset."""
    topics = [{"topic_name": "t", "partitions": [partition]}]
    return ask(
        name,
        "describe_share_group_offsets",
        0,
        {"groups": [{"group_id": GROUP, "topics": topics}]},
        answer={"groups[0].topics[0].partitions[0].start_offset": offset},
        within_ms=15_000,
        expect=expect,
    )


@ReleasedBug(
    "KAFKA-20742",
    "A share group skips the records of a new partition that came before it learned of the partition",
    kind="groups",
    loses="Acknowledged records that no consumer of the group gets.",
    releases=("apache-kafka:4.3.1", "4.4.0"),
    rule="CRD-03",
)
def records_of_a_new_partition(draft: v.Draft) -> v.Plan:
    """A topic that a share group reads gets a partition, and records in it before the group learns of it."""
    steps: list[v.Step] = [
        coordinator_found(),
        member("joined", 1),
        start_offset("reads", 0, -1),
        v.CreatePartitionsProbe(as_="grow", node=BROKER, topic="t", count=2, timeout_ms=5000),
        v.LeaderIs(as_="grown", partition="t-1", is_=BROKER),
        v.produced_at("record", BROKER, "all", partition=1, timeout_ms=5000),
        member("learns", 2),
        start_offset("from-its-begin", 1, 0, v.serves("CRD-03")),
    ]
    return asking(draft, steps, settings=SETTINGS)


def of_topic(**more: Any) -> dict[str, Any]:
    """Return the body of a request about the state of the only share partition."""
    return {"group_id": GROUP, "topics": [{"topic_id": "$topic", "partitions": [{"partition": 0, **more}]}]}


def write(name: str, state: int, leader: int, offset: int, expect: Any) -> v.ApiProbe:
    """Write a start offset in the name of a leader epoch, at a state epoch; -1 is none."""
    body = of_topic(state_epoch=state, leader_epoch=leader, start_offset=offset, state_batches=[])
    return ask(name, "write_share_group_state", 0, body, expect=expect)


def state_of_a_leader() -> list[v.Step]:
    """Begin the state of the share partition at state epoch 3. The leader of epoch 7 reads it, and writes offset 50."""
    return [
        topic_id(),
        ask(
            "found",
            "find_coordinator",
            6,
            {"key_type": SHARE, "coordinator_keys": [f"{GROUP}:{MEMBER}:0"]},
            within_ms=v.LIVENESS_TIMEOUT_MS,
        ),
        ask(
            "begun",
            "initialize_share_group_state",
            0,
            of_topic(state_epoch=3, start_offset=0),
            within_ms=v.LIVENESS_TIMEOUT_MS,
        ),
        ask("read-by-the-leader", "read_share_group_state", 0, of_topic(leader_epoch=7)),
        write("by-the-leader", 3, 7, 50, v.serves("CRD-02")),
    ]


@ReleasedBug(
    "KAFKA-20743",
    "The state of a share group can be written without the epoch of a leader",
    kind="groups",
    loses="A deposed leader, or anybody, moves the group back or ahead, and records are skipped or given twice.",
    releases=("apache-kafka:4.3.1", "4.4.0"),
    rule="CRD-02",
)
def state_written_without_an_epoch(draft: v.Draft) -> v.Plan:
    """A leader has written the state of a share partition; a request that names no epoch must not write over it."""
    steps: list[v.Step] = [
        *state_of_a_leader(),
        write("by-an-earlier-one", 3, 6, 10, v.answers("CRD-02", "error:74")),
        write("by-none", -1, -1, 10, v.answers("CRD-02", "refused")),
    ]
    return asking(draft, steps, settings=SETTINGS)


@ReleasedBug(
    "KAFKA-20694",
    "The state of a share group cannot be read without the epoch of a leader",
    kind="groups",
    loses="A broker that leads nothing is refused as a deposed leader, and cannot tell where the group is.",
    releases=("apache-kafka:4.3.0", "4.3.1"),
    rule="CRD-01",
    wanted="a read without an epoch in the random requests about the state of share groups",
)
def state_read_without_an_epoch(draft: v.Draft) -> v.Plan:
    """A leader has written the state of a share partition; a broker that leads nothing names no epoch, and reads it."""
    steps: list[v.Step] = [
        *state_of_a_leader(),
        ask(
            "by-an-earlier-one",
            "read_share_group_state",
            0,
            of_topic(leader_epoch=6),
            expect=v.answers("CRD-01", "error:74"),
        ),
        ask(
            "by-none",
            "read_share_group_state",
            0,
            of_topic(leader_epoch=-1),
            answer={"results[0].partitions[0].start_offset": 50},
            expect=v.serves("CRD-01"),
        ),
    ]
    return asking(draft, steps, settings=SETTINGS)
