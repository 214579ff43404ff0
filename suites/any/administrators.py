"""Administrators: each request does what it asks for, to what it names, and nothing else."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v

TOPIC, KEPT, DROPPED, ABSENT = "t", "kept", "dropped", "no-such-topic"
ANSWER_MS = 5000
RECORDS = 20
LONGEST = "x" * 249
"""As many characters as a topic's name may have."""
LONG = "x" * 300
RETENTION, LARGEST = "retention.ms", "max.message.bytes"
LARGEST_BYTES = "900000"
UNKNOWN_TOPIC, EXISTS, ILLEGAL_NAME = "error:3", "error:36", "error:17"
NO_PARTITIONS, TOO_MANY_REPLICAS, BAD_SETTING = "error:37", "error:38", "error:[40,42]"
MANY_REPLICAS = 99
ANY_NAME, ANY_SETTING = "ANY-01", "ANY-02"
"""Differences that the target file of any broker can list: names that no topic may have, and unknown settings."""


@v.any_scenario("any-deletes-one", "A topic that is deleted takes no other topic with it", seconds=12)
def deletes_one(draft: v.Draft) -> v.Plan:
    """One of three topics with records is deleted. The others are there, with all that was acknowledged."""
    broker = draft.leader
    steps: list[v.Step] = [
        v.burst("kept-records", KEPT, RECORDS),
        v.burst("dropped-records", DROPPED, RECORDS),
        v.DeleteTopicProbe(as_="delete", node=broker, topic=DROPPED, timeout_ms=ANSWER_MS, expect=v.serves("ADM-02")),
        _described("gone", broker, DROPPED, UNKNOWN_TOPIC, "ADM-02", within_ms=v.LIVENESS_TIMEOUT_MS),
        _described("others-there", broker, KEPT, "served", "TOPIC-02"),
        _described("first-there", broker, TOPIC, "served", "TOPIC-02"),
    ]
    return _plan(draft, steps, KEPT, DROPPED)


@v.any_scenario("any-validates-only", "A request that only validates changes nothing", seconds=10)
def validates_only(draft: v.Draft) -> v.Plan:
    """Ask for a topic and for more partitions, only to validate."""
    broker = draft.leader
    grown = {"name": TOPIC, "count": 3, "assignments": None}
    growth = {"topics": [grown], "timeout": ANSWER_MS, "validate_only": True}
    partitions = {"topics[0].partitions[].partition_index": [0]}
    steps: list[v.Step] = [
        v.ask("create-only", broker, "create_topics", _creation("v", validate_only=True), v.serves("ADM-01")),
        _described("not-created", broker, "v", UNKNOWN_TOPIC, "ADM-01"),
    ]
    if not draft.target.lacks_request("create_partitions"):
        steps.append(v.ask("grow-only", broker, "create_partitions", growth, v.serves("ADM-01")))
        steps.append(v.ask("not-grown", broker, "metadata", _named(TOPIC), v.serves("ADM-01"), answer=partitions))
    return _plan(draft, steps)


@v.any_scenario("any-mistakes", "A mistake in a request is answered by the error that names it", seconds=10)
def mistakes(draft: v.Draft) -> v.Plan:
    """Ask for topics that cannot be, and to delete one that is not there."""
    broker = draft.leader
    creations: list[tuple[str, dict[str, Any], str, str]] = [
        ("again", _creation(TOPIC), EXISTS, ""),
        ("slash-in-name", _creation("a/b"), ILLEGAL_NAME, ANY_NAME),
        ("long-name", _creation(LONG), ILLEGAL_NAME, ANY_NAME),
        ("no-name", _creation(""), ILLEGAL_NAME, ANY_NAME),
        ("no-partitions", _creation("none", num_partitions=0), NO_PARTITIONS, ""),
        (
            "unknown-setting",
            _creation("odd", configs=[{"name": "no.such.key", "value": "x"}]),
            BAD_SETTING,
            ANY_SETTING,
        ),
    ]
    if draft.target.promises.replication != "storage":
        wide = _creation("wide", replication_factor=MANY_REPLICAS)
        creations.append(("too-many-replicas", wide, TOO_MANY_REPLICAS, ""))
    served = v.serves("ADM-02")
    steps: list[v.Step] = [
        *(
            v.ask(
                name,
                broker,
                "create_topics",
                body,
                draft.target.unless(difference, v.answers("ADM-02", error), served),
            )
            for name, body, error, difference in creations
        ),
        # Clients need not bear a topic without a name, where a broker has made one.
        v.DeleteTopicProbe(
            as_="no-name-deleted", node=broker, topic="", timeout_ms=ANSWER_MS, expect=v.may_answer("ADM-02", "served")
        ),
        v.DeleteTopicProbe(
            as_="absent-deleted",
            node=broker,
            topic=ABSENT,
            timeout_ms=ANSWER_MS,
            expect=v.answers("ADM-02", UNKNOWN_TOPIC),
        ),
    ]
    return _plan(draft, steps)


@v.any_scenario("any-as-asked", "A topic has the partitions and the replicas that were asked for", seconds=10)
def as_asked(draft: v.Draft) -> v.Plan:
    """Create topics by their number of partitions, and by an assignment; a partition is added to one of them."""
    broker = draft.leader
    id = v.node_id(broker)
    by_assignment = _creation(
        "assigned",
        num_partitions=-1,
        replication_factor=-1,
        assignments=[{"partition_index": 0, "broker_ids": [id]}],
    )
    growth = {
        "topics": [{"name": "two", "count": 3, "assignments": None}],
        "timeout": ANSWER_MS,
        "validate_only": False,
    }
    steps: list[v.Step] = [
        v.ask("by-number", broker, "create_topics", _creation("two", num_partitions=2), v.serves("ADM-02")),
        _partitions("two-partitions", broker, "two", [0, 1]),
        v.ask("by-assignment", broker, "create_topics", by_assignment, v.serves("ADM-02")),
        _partitions("one-partition", broker, "assigned", [0]),
    ]
    if not draft.target.lacks_request("create_partitions"):
        steps.append(v.ask("grow", broker, "create_partitions", growth, v.serves("ADM-02")))
        steps.append(_partitions("three-partitions", broker, "two", [0, 1, 2]))
    if draft.target.promises.replication == "isr":
        replicas = {"topics[0].partitions[0].replica_nodes": [id]}
        steps.append(v.listed_topics("its-replica", broker, ["assigned"], v.serves("TOPIC-04"), answer=replicas))
    return _plan(draft, steps)


@v.any_scenario("any-names", "A topic may have every name that the protocol allows", seconds=10)
def names(draft: v.Draft) -> v.Plan:
    """Create topics with the longest name and the shortest, and with every sign that a name may have."""
    broker = draft.leader
    steps: list[v.Step] = []
    for kind, name in {"longest": LONGEST, "shortest": "x", "signs": "A.b_C-0"}.items():
        steps += [
            v.ask(f"create-{kind}", broker, "create_topics", _creation(name), v.serves("ADM-02")),
            _partitions(f"{kind}-there", broker, name, [0]),
            v.burst(f"{kind}-records", name, 1),
        ]
    return _plan(draft, steps)


@v.any_scenario(
    "any-settings", "A setting is what was set last, and what it was before once it is given up", seconds=10
)
def settings(draft: v.Draft) -> v.Plan:
    """Set a key twice beside another one, only validate a third value, and give the key up."""
    broker = draft.leader
    keys = [RETENTION, LARGEST]

    def shows(as_: str, retention: str) -> v.Step:
        answer = {v.setting(RETENTION): retention, v.setting(LARGEST): LARGEST_BYTES}
        return v.described(as_, broker, TOPIC, keys, v.serves("ADM-04"), answer=answer, within_ms=v.LIVENESS_TIMEOUT_MS)

    def sets(as_: str, value: str | None, *, validate_only: bool = False) -> v.Step:
        return v.configured(
            as_, broker, TOPIC, {RETENTION: value}, validate_only=validate_only, expect=v.serves("ADM-04")
        )

    steps: list[v.Step] = [
        v.described("before", broker, TOPIC, [RETENTION], binds={"usual": v.setting(RETENTION)}),
        v.configured("other", broker, TOPIC, {LARGEST: LARGEST_BYTES}, expect=v.serves("ADM-04")),
        sets("first", "3600000"),
        shows("first-there", "3600000"),
        sets("second", "7200000"),
        shows("second-there", "7200000"),
        sets("dry", "1800000", validate_only=True),
        shows("unchanged", "7200000"),
        sets("give-up", None),
        shows("usual-again", "$usual"),
    ]
    return _plan(draft, steps)


def _creation(name: str, *, validate_only: bool = False, **changes: Any) -> dict[str, Any]:
    topic = {**v.new_topic(name), **changes}
    return {"topics": [topic], "timeout": ANSWER_MS, "validate_only": validate_only}


def _named(topic: str) -> dict[str, Any]:
    return {"topics": [{"name": topic}], "allow_auto_topic_creation": False}


def _described(as_: str, broker: str, topic: str, outcome: str, requirement: str, **more: Any) -> v.Step:
    return v.ask(as_, broker, "metadata", _named(topic), v.answers(requirement, outcome), **more)


def _partitions(as_: str, broker: str, topic: str, numbers: list[int]) -> v.Step:
    """Claim the partitions of a topic, once the broker describes as many or more."""
    answer = {"topics[0].partitions[].partition_index": numbers}
    return v.ask(as_, broker, "metadata", _named(topic), v.serves("TOPIC-03"), answer=answer, within_ms=ANSWER_MS)


def _plan(draft: v.Draft, steps: list[v.Step], *more: str) -> v.Plan:
    """Return the plan, with the topic of the usual workload and these."""
    topics = [v.promised_topic(draft.target, draft.roles, name=name) for name in (TOPIC, *more)]
    return draft.plan(
        steps,
        "whole",
        v.acknowledged("whole.ended"),
        topics=topics,
        topology=v.smallest_cluster(draft.target, draft.leader),
    )
