"""Consumer groups while their coordinator is gone or asleep, and while members come and leave."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

GROUP = "g"
COORDINATOR = f"coordinator:{GROUP}"
OFFSETS = "__consumer_offsets-0"
"""The partition that holds the state of all groups: targets are configured with one."""
SESSION_MS = 6000
OLD_GROUP, OLD_OFFSET = "old", 2
"""A group without members, and the last offset that was committed for it."""
GONE_GROUP = "gone"
"""A group without members that is deleted."""
NONE = -1
"""The committed offset of a partition that has none."""
NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND, GROUP_SUBSCRIBED_TO_TOPIC = 68, 69, 86
ASKED, EVERY_MS = 80, 100
"""How often each broker is asked for an offset while the group gets another coordinator."""
MORE = 60
COMPACTED = {"offsets.topic.segment.bytes": "1000", "log.cleaner.backoff.ms": "200"}
"""Settings by which the log of offsets is compacted within seconds."""


def _member(name: str, *, static: bool = False, later: bool = False) -> v.ConsumerSpec:
    membership = v.MembershipSpec(group=GROUP, static=static, session_ms=SESSION_MS)
    return v.ConsumerSpec(name=name, topic="w", membership=membership, start="later" if later else None)


@v.fault_scenario(
    "group-coordinator-killed",
    "A consumer group outlives the broker that coordinates it",
    seconds=25,
    workloads={"groups", "static-members"},
)
def coordinator_killed(draft: v.Draft) -> v.Plan:
    """The broker that coordinates a group is killed; the group goes on with another one, and no commit is lost.

    Groups and offsets that were deleted before stay so. While the other one takes over, each broker is asked: it may
    refuse, and never says that there is no offset. On clusters whose settings and log lines we know, the log of offsets
    has been compacted before.
    """
    members = (_member("g1"), _member("g2"), _member("fixed", static=True))
    is_compacted = draft.target.follows_its_documents
    steps: list[v.Step] = [
        *_committed(),
        *_deleted(),
        *(_later_commits_compacted() if is_compacted else ()),
        *(_asked_meanwhile(v.node_name(broker)) for broker in v.BROKER_IDS),
        v.inject("crash", v.KillParameters(nodes=COORDINATOR)),
        v.Hold(as_="gone", after="crash.proven", ms=3000),
        v.Heal(as_="restart", fault="crash"),
        _reads("goes-on", "GRP-03"),
        _fetched("old-commit", OLD_GROUP, (OLD_OFFSET, NONE), "DSTO-14", "DSTO-16", "GRP-01"),
        _fetched("deleted-group", GONE_GROUP, (NONE, NONE), "DSTO-16"),
        _group_deleted("no-such-group", GONE_GROUP, v.answers("DSTO-16", f"error:{GROUP_ID_NOT_FOUND}", "ADM-02")),
    ]
    settings = v.NodeSettings(broker=COMPACTED) if is_compacted else None
    return _plan(draft, members, steps, "crash", settings)


def _committed() -> list[v.Step]:
    """Commit for two groups without members; for one of them twice."""
    return [
        _commit("commit-1", OLD_GROUP, 1),
        _commit("commit-2", OLD_GROUP, OLD_OFFSET),
        _commit("commit-gone", GONE_GROUP, 1),
    ]


def _commit(as_: str, group: str, offset: int) -> v.Step:
    partitions = [{"partition_index": partition, "committed_offset": offset} for partition in (0, 1)]
    member = {"group_id": group, "generation_id_or_member_epoch": -1, "member_id": ""}
    body = {**member, "topics": [{"name": "w", "partitions": partitions}]}
    return v.ask_until(as_, COORDINATOR, "offset_commit", body, version=7, timeout_ms=1000)


def _deleted() -> list[v.Step]:
    """Delete a group and an offset; a group with members stays, and so do offsets of a topic that a member reads."""
    return [
        _group_deleted("delete", GONE_GROUP, v.serves("DSTO-16")),
        _fetched("deleted", GONE_GROUP, (NONE, NONE), "DSTO-16"),
        _offset_deleted("delete-offset", OLD_GROUP, 0),
        _fetched("others-kept", OLD_GROUP, (OLD_OFFSET, NONE), "DSTO-16"),
        _group_deleted("delete-with-members", GROUP, v.answers("DSTO-16", f"error:{NON_EMPTY_GROUP}", "ADM-02")),
        _offset_deleted("delete-read", GROUP, GROUP_SUBSCRIBED_TO_TOPIC),
    ]


def _group_deleted(as_: str, group: str, expect: v.ExpectOutcome) -> v.Step:
    return v.ask_until(as_, COORDINATOR, "delete_groups", {"groups_names": [group]}, expect)


def _offset_deleted(as_: str, group: str, error: int) -> v.Step:
    """Delete the offset of the second partition."""
    body = {"group_id": group, "topics": [{"name": "w", "partitions": [{"partition_index": 1}]}]}
    answer = {"error_code": 0, "topics[0].partitions[0].error_code": error}
    return v.ask_until(as_, COORDINATOR, "offset_delete", body, v.serves("DSTO-16"), answer=answer)


def _fetched(as_: str, group: str, offsets: tuple[int, int], requirement: str, *also: str) -> v.ApiProbe:
    """Claim the committed offsets of two partitions."""
    body = {"group_id": group, "topics": [{"name": "w", "partition_indexes": [0, 1]}]}
    answer = {
        f"topics[0].partitions[partition_index={partition}].committed_offset": offset
        for partition, offset in enumerate(offsets)
    }
    expect = v.serves(requirement, *also)
    return v.ask_until(as_, COORDINATOR, "offset_fetch", body, expect, version=5, answer=answer, timeout_ms=1000)


def _asked_meanwhile(broker: str) -> v.Step:
    """Ask for an offset again and again: a broker that coordinates the group knows it, and any other refuses."""
    asked = _fetched(f"meanwhile-{broker}", OLD_GROUP, (OLD_OFFSET, NONE), "DSTO-15")
    return asked.model_copy(
        update={
            "node": broker,
            "within_ms": 0,
            "repeat": ASKED,
            "every_ms": EVERY_MS,
            "background": True,
            "expect": v.never_answers("DSTO-15", "different"),
        }
    )


def _later_commits_compacted() -> list[v.Step]:
    """Wait until later commits lie in compacted segments."""
    return [
        v.WorkloadReads(as_="later", group=GROUP, more=MORE, within_ms=2 * v.LIVENESS_TIMEOUT_MS),
        v.Logged(
            as_="compacted",
            node=COORDINATOR,
            says=f"{OFFSETS}: compacted from",
            after=v.After(event="later.ended"),
            within_ms=2 * v.LIVENESS_TIMEOUT_MS,
            expect=v.must("DSTO-14"),
        ),
    ]


@v.fault_scenario(
    "group-coordinator-paused",
    "A consumer group goes on while its coordinator sleeps, and while members come and go",
    seconds=25,
    workloads={"groups"},
)
def coordinator_paused(draft: v.Draft) -> v.Plan:
    """The coordinator sleeps until another broker has taken its group over, and wakes as members join and leave."""
    members = (_member("g1"), _member("g2"), _member("g3", later=True))
    partition = {"partition_index": 0, "committed_offset": 0}
    stranger = {
        "group_id": GROUP,
        "generation_id_or_member_epoch": 1,
        "member_id": "has-left",
        "topics": [{"name": "w", "partitions": [partition]}],
    }
    steps: list[v.Step] = [
        v.Bind(as_="former", node=COORDINATOR),
        v.inject("sleep", v.PauseParameters(nodes="$former")),
        v.LeaderIs(
            as_="moved",
            partition=OFFSETS,
            is_not="$former",
            expect=v.must(draft.target.rule("D631-07", "INT-28", "LD-31")),
        ),
        _reads("taken-over", "GRP-03"),
        v.Heal(as_="wake", fault="sleep"),
        v.Workload(as_="joins", action="start", only=("g3",)),
        _reads("three", "GRP-03", consumer="g3"),
        v.Workload(as_="leaves", action="stop", only=("g1",)),
        _reads("two", "GRP-03"),
        v.ask("stranger", COORDINATOR, "offset_commit", stranger, v.never_serves("GRP-02"), version=7, timeout_ms=1000),
    ]
    return _plan(draft, members, steps, "sleep")


def _reads(name: str, requirement: str, consumer: str | None = None) -> v.WorkloadReads:
    return v.WorkloadReads(
        as_=name,
        more=MORE,
        consumer=consumer,
        group=GROUP if consumer is None else None,
        within_ms=2 * v.LIVENESS_TIMEOUT_MS,
        expect=v.must(requirement),
    )


def _plan(
    draft: v.Draft,
    members: tuple[v.ConsumerSpec, ...],
    steps: list[v.Step],
    fault: str,
    settings: v.NodeSettings | None = None,
) -> v.Plan:
    target = draft.target
    replicas = draft.roles
    usual = v.workload_with_losses(target)
    [producer] = usual.producers
    second = producer.model_copy(update={"name": "p-w", "topic": "w"})
    begin = v.WorkloadReads(as_="group", group=GROUP, more=MORE, within_ms=2 * v.LIVENESS_TIMEOUT_MS)
    lost = [
        each.model_copy(update={"requirement": "GRP-01", "level": "may"})
        for each in v.expected_losses(target, "may")[:1]
    ]
    return draft.plan(
        [begin, *steps],
        "whole",
        v.Committed(what="offsets", before=f"{fault}.injected"),
        v.Committed(what="offsets", after=f"{fault}.proven"),
        topics=[v.topic(replicas), v.rotated_topic(replicas, name="w")],
        workload=v.WorkloadSpec(producers=(producer, second), consumers=(*usual.consumers, *members)),
        deviations=[*v.expected_losses(target, "may"), *lost],
        settings=settings,
    )
