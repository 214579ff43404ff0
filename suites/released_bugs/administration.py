"""Requests of administrators that are answered wrongly, or change what they must not."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v
from fencepost.suites.released_bugs.bug import ReleasedBug, asking, one_broker

BROKER, BROKER_ID = v.node_name(v.BROKER_IDS[0]), str(v.BROKER_IDS[0])
UNKNOWN_ID = "00000000-0000-4000-8000-0000000000ff"
"""An id that no topic has."""
APPEND = 2
"""The operation of IncrementalAlterConfigs that adds to a list."""


@ReleasedBug(
    "KAFKA-20129",
    "An append to a configuration key that does not exist is answered with a server error",
    kind="administration",
    loses="The administrator learns nothing about the mistake, and looks for a broken server.",
    releases=("apache-kafka:4.2.1", "4.3.0"),
    rule="ADM-02",
)
def appended_to_nothing(draft: v.Draft) -> v.Plan:
    key, refused = {"no.such.key": "x"}, v.never_answers("ADM-02", "error:-1")
    append = v.configured("append", BROKER, BROKER_ID, key, of="broker", operation=APPEND, expect=refused)
    return asking(draft, [append])


@ReleasedBug(
    "KAFKA-9644",
    "An append to a list that the topic has not set yet is answered with a server error",
    kind="administration",
    loses="The first replica cannot be added to a list of throttled ones.",
    releases=("apache-kafka-zk:2.4.1", "2.6.0"),
    rule="ADM-02",
    wanted="settings changed while in use by every operation of IncrementalAlterConfigs",
)
def appended_to_nothing_yet(draft: v.Draft) -> v.Plan:
    """The key exists, and the topic has no value of it."""
    key, value = "leader.replication.throttled.replicas", f"0:{BROKER_ID}"
    steps: list[v.Step] = [
        v.configured("append", BROKER, "t", {key: value}, operation=APPEND, expect=v.serves("ADM-02"))
    ]
    return asking(draft, steps)


@ReleasedBug(
    "KAFKA-4893",
    "The deletion of a topic with a long name takes the log directory offline",
    kind="disks",
    loses="The broker ends, with all its replicas.",
    releases=("apache-kafka-zk:2.2.1", "2.2.2"),
    rule="ADM-05",
    wanted="topics with odd legal names, created and deleted in random plans",
    seconds=45,
)
def long_name_deleted(draft: v.Draft) -> v.Plan:
    """A topic may have a name of 249 letters; the name of its directory grows when it is deleted."""
    name = "x" * 249
    steps: list[v.Step] = [
        v.CreateTopicProbe(as_="create", node="active-controller", topic=name, replicas=1, timeout_ms=5000),
        v.LeaderIs(as_="made", partition=f"{name}-0", within_ms=10_000),
        v.DeleteTopicProbe(as_="delete", node="active-controller", topic=name, timeout_ms=5000),
        v.NodeExited(as_="survives", node=BROKER, within_ms=8000, expect=v.never("ADM-05")),
    ]
    return asking(draft, steps)


@ReleasedBug(
    "KAFKA-12235",
    "DescribeConfigs with two keys returns none",
    kind="administration",
    loses="Tools show no configuration where there is one.",
    releases=("apache-kafka-zk:2.7.0", "2.7.1"),
    rule="ADM-03",
)
def two_keys_described(draft: v.Draft) -> v.Plan:
    steps: list[v.Step] = [
        v.described("describe", BROKER, "t", ["retention.ms", "segment.bytes"], v.serves("ADM-03"), version=3)
    ]
    return asking(draft, steps)


@ReleasedBug(
    "KAFKA-8875",
    "CreateTopics of an existing topic complains about the replication factor",
    kind="administration",
    loses="A script that creates a topic unless it exists fails.",
    releases=("apache-kafka-zk:2.3.0", "2.3.1"),
    rule="ADM-02",
)
def existing_topic_with_too_many_replicas(draft: v.Draft) -> v.Plan:
    body = {"topics": [v.new_topic("t", replicas=9)], "timeout": 4000, "validate_only": False}
    steps: list[v.Step] = [
        v.ask("create", "active-controller", "create_topics", body, v.answers("ADM-02", "error:36"), version=4)
    ]
    return asking(draft, steps)


@ReleasedBug(
    "KAFKA-12701",
    "Metadata by topic id without a name is answered with a server error",
    kind="administration",
    loses="A client that asks by id gets no answer that it can act on.",
    releases=("apache-kafka-zk:2.8.0", "2.8.1"),
    rule="ADM-02",
)
def topic_by_id_alone(draft: v.Draft) -> v.Plan:
    body = {"topics": [{"topic_id": UNKNOWN_ID, "name": None}], "allow_auto_topic_creation": False}
    steps: list[v.Step] = [v.ask("ask", BROKER, "metadata", body, v.answers("ADM-02", "error:42"), version=11)]
    return asking(draft, steps)


@ReleasedBug(
    "KAFKA-14358",
    "A user may create the topic of the metadata log",
    kind="administration",
    loses="The topic shares its name and its directory with the log of the controllers.",
    releases=("apache-kafka:3.3.1", "3.3.2"),
    rule="ADM-02",
)
def metadata_topic_created(draft: v.Draft) -> v.Plan:
    body = {"topics": [v.new_topic("__cluster_metadata")], "timeout": 4000, "validate_only": True}
    steps: list[v.Step] = [v.ask("create", BROKER, "create_topics", body, v.answers("ADM-02", "refused"))]
    return asking(draft, steps)


@ReleasedBug(
    "KAFKA-9254",
    "The second change of a default of all brokers wipes the overrides of every topic",
    kind="administration",
    loses="A topic with min.insync.replicas=2 acknowledges records that one broker holds.",
    releases=("apache-kafka-zk:2.4.0", "2.4.1"),
    rule="ADM-04",
)
def overrides_wiped(draft: v.Draft) -> v.Plan:
    """The topic wants two replicas in sync and has one, so nothing may be acknowledged at acks=all.

    The default of all brokers is changed twice: the first change is harmless.
    """

    def refused(name: str) -> v.ProduceProbe:
        return v.produced_at(name, BROKER, "all", v.answers("ADM-04", "error:19"), timeout_ms=3000)

    steps: list[v.Step] = [
        refused("before"),
        v.configured("first", BROKER, "", {"log.retention.ms": "86400000"}, of="broker"),
        v.configured("second", BROKER, "", {"log.retention.ms": "172800000"}, of="broker"),
        v.described(
            "changed",
            BROKER,
            "t",
            ["retention.ms"],
            version=3,
            answer={v.setting("retention.ms"): "172800000"},
            within_ms=10_000,
            timeout_ms=1000,
        ),
        refused("after"),
    ]
    return asking(draft, steps, config={"min.insync.replicas": "2"})


@ReleasedBug(
    "KAFKA-17584",
    "A change of an unrelated log setting brings the retention back to its default",
    kind="administration",
    loses="Records that were to be kept for years are deleted after seven days.",
    releases=("apache-kafka:3.8.0", "3.8.1"),
    rule="ADM-04",
    wanted="settings changed while in use, with retention set in the file and records of old timestamps",
)
def retention_forgotten(draft: v.Draft) -> v.Plan:
    """A record of 2020 is kept by a retention of 100 years, which an unrelated change must not shorten."""
    record = {"value": "of-2020", "timestamp": 1_600_000_000_000}
    data = {"name": "t", "partition_data": [{"index": 0, "records": {"records": [record]}}]}
    body = {"transactional_id": None, "acks": -1, "timeout": 4000, "topic_data": [data]}
    steps: list[v.Step] = [
        v.ask("old-record", BROKER, "produce", body, v.serves("ADM-04"), version=9),
        v.configured("unrelated", BROKER, "", {"message.max.bytes": "2000000"}, of="broker"),
        # The broker looks for expired segments for the first time 30 s after its start.
        v.Hold(after="unrelated.ended", ms=36_000),
        v.listed("kept", BROKER, "t", v.FIRST, answer={f"{v.LISTED}.offset": 0}, expect=v.serves("ADM-04")),
    ]
    settings = one_broker(log_retention_hours="876000", log_retention_check_interval_ms="500")
    return asking(draft, steps, settings=settings)


@ReleasedBug(
    "KAFKA-16807",
    "DescribeLogDirs lists topics that were not asked for",
    kind="administration",
    loses="Tools count topics in directories that do not hold them.",
    releases=("apache-kafka:3.7.0", "3.7.1"),
    rule="ADM-03",
)
def topics_of_other_names(draft: v.Draft) -> v.Plan:
    steps: list[v.Step] = [
        v.CreateTopicProbe(as_="another", node=BROKER, topic="u", partitions=4, replicas=1, timeout_ms=5000),
        v.LeaderIs(as_="made", partition="u-3", within_ms=10_000),
        v.described_log_dirs("describe", BROKER, v.serves("ADM-03"), {"results[].topics[].name": ["t"]}, topic="t"),
    ]
    return asking(draft, steps, log_dirs=2)


@ReleasedBug(
    "KAFKA-20832",
    "A topic is accepted on a broker whose log directories are all cordoned",
    kind="administration",
    loses="A disk that was to be emptied fills on.",
    releases=("apache-kafka:4.3.1", "4.4.0"),
    rule="ADM-04",
)
def replica_on_cordoned_directories(draft: v.Draft) -> v.Plan:
    """All directories of the only broker are cordoned, so that no topic can be created: also not by naming it."""

    def created(name: str, error: int, **more: Any) -> v.ApiProbe:
        body = {"topics": [{"name": "new", "configs": [], **more}], "timeout": 4000, "validate_only": True}
        return v.ask(name, BROKER, "create_topics", body, v.answers("ADM-04", f"error:{error}"), within_ms=10_000)

    named = [{"partition_index": 0, "broker_ids": [int(BROKER_ID)]}]
    steps: list[v.Step] = [
        v.configured("cordon", BROKER, BROKER_ID, {"cordoned.log.dirs": "*"}, of="broker", expect=v.serves("ADM-04")),
        created("placed-by-the-cluster", 38, num_partitions=1, replication_factor=1, assignments=[]),
        created("placed-by-name", 39, num_partitions=-1, replication_factor=-1, assignments=named),
        v.configured(
            "open-again", BROKER, BROKER_ID, {"cordoned.log.dirs": ""}, of="broker", expect=v.serves("ADM-04")
        ),
    ]
    return asking(draft, steps)
