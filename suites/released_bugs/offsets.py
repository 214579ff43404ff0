"""Coordinators that lose or hide what a group committed, or are not found."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v
from fencepost.suites.released_bugs.bug import ReleasedBug, asking, one_broker
from fencepost.suites.released_bugs.requests import BROKER, GROUP, ask, coordinator_found, fetched

OFFSETS = "__consumer_offsets"
SHARE = 2
"""The type of key of the coordinators of share groups."""


def committed(name: str, *offsets: tuple[int, str], **more: Any) -> v.ApiProbe:
    """Commit offsets with their metadata, of partition 0, 1 and so on, without a member."""
    partitions = [
        {"partition_index": place, "committed_offset": offset, "committed_leader_epoch": -1, "committed_metadata": text}
        for place, (offset, text) in enumerate(offsets)
    ]
    member = {"group_id": GROUP, "generation_id_or_member_epoch": -1, "member_id": "", "group_instance_id": None}
    body = {**member, "topics": [{"name": "t", "partitions": partitions}]}
    return ask(name, "offset_commit", 8, body, timeout_ms=5000, **more)


def committed_by_old_client(name: str, offset: int, **more: Any) -> v.ApiProbe:
    """Commit an offset of partition 0 by a version that releases from 0.10 on have."""
    partition = {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
    member = {"group_id": GROUP, "generation_id_or_member_epoch": -1, "member_id": "", "retention_time": -1}
    body = {**member, "topics": [{"name": "t", "partitions": [partition]}]}
    return ask(name, "offset_commit", 2, body, timeout_ms=5000, within_ms=v.LIVENESS_TIMEOUT_MS, **more)


@ReleasedBug(
    "KAFKA-16371",
    "A commit that is refused in part stays pending",
    kind="groups",
    loses="Consumers that read committed records cannot fetch their offset until the coordinator restarts.",
    releases=("apache-kafka:3.7.0", "3.7.1"),
    rule="CRD-02",
)
def refused_commit_stays_pending(draft: v.Draft) -> v.Plan:
    too_long = "x" * 5000  # the default of offset.metadata.max.bytes is 4096
    steps: list[v.Step] = [
        coordinator_found(),
        committed("first", (1, ""), (1, ""), within_ms=v.LIVENESS_TIMEOUT_MS),
        committed("partly-refused", (2, ""), (2, too_long), expect=v.answers("CRD-02", "error:12")),
        fetched("stable", 2, within_ms=5000, expect=v.serves("CRD-02")),
    ]
    return asking(draft, steps, partitions=2)


@ReleasedBug(
    "KAFKA-19439",
    "OffsetFetch of version 1 at the wrong coordinator says that nothing was committed",
    kind="groups",
    loses="An old client starts from the beginning or the end instead of asking the coordinator.",
    releases=("apache-kafka:3.9.1", "3.9.2"),
    rule="CRD-01",
)
def error_of_the_group_lost(draft: v.Draft) -> v.Plan:
    """The broker that is not the coordinator is asked in an old version, which has no field for the group's error."""
    steps: list[v.Step] = [
        coordinator_found(),
        v.LeaderIs(as_="offsets-led", partition=f"{OFFSETS}-0"),
        fetched("elsewhere", node=f"followers:{OFFSETS}-0", version=1, expect=v.answers("CRD-01", "error:16")),
    ]
    two = v.NodeSettings(broker={"offsets.topic.replication.factor": "2"})
    return asking(draft, steps, brokers=2, settings=two)


@ReleasedBug(
    "KAFKA-19274",
    "The coordinator keeps the groups of an offsets topic that was deleted",
    kind="groups",
    loses="Groups can commit nothing until the broker restarts.",
    releases=("apache-kafka:4.0.0", "4.0.1"),
    rule="CRD-03",
    wanted="internal topics among those that a random plan deletes, with the claims of the group workload",
)
def offsets_topic_deleted(draft: v.Draft) -> v.Plan:
    """The topic of the offsets is deleted, which takes the offsets; groups must work again with a new one."""
    steps: list[v.Step] = [
        coordinator_found(),
        committed("first", (7, ""), within_ms=v.LIVENESS_TIMEOUT_MS),
        v.DeleteTopicProbe(as_="delete", node=BROKER, topic=OFFSETS, timeout_ms=5000),
        v.Hold(after="delete.ended", ms=2000),
        coordinator_found("found-again"),
        committed("again", (8, ""), within_ms=v.LIVENESS_TIMEOUT_MS, expect=v.serves("CRD-03")),
        fetched(
            "kept", answer={"topics[0].partitions[0].committed_offset": 8}, within_ms=10_000, expect=v.serves("CRD-03")
        ),
    ]
    return asking(draft, steps)


@ReleasedBug(
    "KAFKA-20183",
    "A share group with a colon in its name finds no coordinator",
    kind="groups",
    loses="Its consumers get no record.",
    releases=("apache-kafka:4.2.0", "4.2.1"),
    rule="CRD-01",
)
def colon_in_a_share_group(draft: v.Draft) -> v.Plan:
    """A share group may have any name; the key of its state is the name, the id of a topic and a partition."""
    steps: list[v.Step] = [
        v.ask_until(
            "find",
            BROKER,
            "find_coordinator",
            {"key_type": SHARE, "coordinator_keys": ["a:b:Wq5JrJ0cQEaJ7h9pVQ3dPA:0"]},
            v.serves("CRD-01"),
            version=6,
        )
    ]
    settings = one_broker(share_coordinator_state_topic_replication_factor="1")
    more = {"share.coordinator.state.topic.replication.factor": "1", "share.coordinator.state.topic.min.isr": "1"}
    return asking(draft, steps, settings=v.NodeSettings(broker={**settings.broker, **more}))


@ReleasedBug(
    "KAFKA-4861",
    "Offsets are refused where brokers stamp records with the time of their append",
    kind="groups",
    loses="No group can commit an offset.",
    releases=("apache-kafka-zk:0.10.2.0", "0.10.2.1"),
    rule="CRD-03",
    wanted="the group workload with generated settings of brokers, the type of timestamps among them",
)
def commit_with_append_time(draft: v.Draft) -> v.Plan:
    steps: list[v.Step] = [
        coordinator_found(version=0),
        committed_by_old_client("commit", 7, expect=v.serves("CRD-03")),
    ]
    settings = one_broker(log_message_timestamp_type="LogAppendTime")
    return asking(draft, steps, settings=settings)


@ReleasedBug(
    "KAFKA-8069",
    "Committed offsets expire at once when the coordinator restarts at an older protocol version",
    kind="groups",
    loses="Consumers start from the beginning or the end after a restart of a broker.",
    releases=("apache-kafka-zk:2.1.1", "2.2.0"),
    rule="CRD-03",
    wanted="the group workload at each protocol level of the release, with a restart of the coordinator",
    seconds=60,
)
def expired_on_load(draft: v.Draft) -> v.Plan:
    """An offset is committed, the coordinator restarts, and the offset must still be there a while later."""
    steps: list[v.Step] = [
        coordinator_found(version=0),
        committed_by_old_client("commit", 7),
        v.inject("kill", v.KillParameters(nodes=BROKER)),
        v.Heal(as_="restart", fault="kill"),
        coordinator_found("found-again", version=0),
        v.Hold(after="found-again.ended", ms=5000),
        fetched(
            "kept",
            version=2,
            answer={"topics[0].partitions[0].committed_offset": 7},
            within_ms=15_000,
            expect=v.serves("CRD-03"),
        ),
    ]
    settings = one_broker(inter_broker_protocol_version="2.0", offsets_retention_check_interval_ms="1000")
    return asking(draft, steps, settings=settings)
