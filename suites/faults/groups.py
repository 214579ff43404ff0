"""Consumer groups while their coordinator is gone or asleep, and while members come and leave."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

GROUP = "g"
OFFSETS = "__consumer_offsets-0"
"""The partition that holds the state of all groups: targets are configured with one."""
SESSION_MS = 6000
OLD_GROUP, OLD_OFFSET = "old", 2
"""A group without members, and the last offset that was committed for it."""
MORE = 60
COMPACTED = {"offsets.topic.segment.bytes": "1000", "log.cleaner.backoff.ms": "200"}
"""Settings by which the log of offsets is compacted within seconds."""


def _member(name: str, *, static: bool = False, later: bool = False) -> v.ConsumerSpec:
    membership = v.MembershipSpec(group=GROUP, static=static, session_ms=SESSION_MS)
    return v.ConsumerSpec(name=name, topic="w", membership=membership, start="later" if later else None)


def coordinator_killed(scenario: v.Scenario, target: v.TargetFacts, seed: int) -> v.Plan:
    """The broker that coordinates a group is killed; the group goes on with another one, and no commit is lost.

    On clusters whose settings and log lines we know, the log of offsets has been compacted before.
    """
    members = (_member("g1"), _member("g2"), _member("fixed", static=True))
    is_compacted = target.follows_its_documents
    steps: list[v.Step] = [
        *(_compacted() if is_compacted else ()),
        v.inject("crash", v.KillParameters(nodes=f"coordinator:{GROUP}")),
        v.Hold(as_="gone", after="crash.proven", ms=3000),
        v.Heal(as_="restart", fault="crash"),
        _reads("goes-on", "GRP-03"),
        *((_old_commit_is_kept(),) if is_compacted else ()),
    ]
    settings = v.NodeSettings(broker=COMPACTED) if is_compacted else None
    return _plan(scenario, target, seed, members, steps, "crash", settings)


def _compacted() -> list[v.Step]:
    """Commit twice for a group that is not heard of again, and wait until later commits lie in compacted segments."""
    commits = [
        v.ApiProbe(
            as_=f"commit-{offset}",
            node=f"coordinator:{GROUP}",
            api="offset_commit",
            version=7,
            body={
                "group_id": OLD_GROUP,
                "generation_id_or_member_epoch": -1,
                "member_id": "",
                "topics": [{"name": "w", "partitions": [{"partition_index": 0, "committed_offset": offset}]}],
            },
            within_ms=v.LIVENESS_TIMEOUT_MS,
        )
        for offset in (1, OLD_OFFSET)
    ]
    later = v.WorkloadReads(as_="later", group=GROUP, more=MORE, within_ms=2 * v.LIVENESS_TIMEOUT_MS)
    compacted = v.Logged(
        as_="compacted",
        node=f"coordinator:{GROUP}",
        says=f"{OFFSETS}: compacted from",
        after=v.After(event="later.ended"),
        within_ms=2 * v.LIVENESS_TIMEOUT_MS,
        expect=v.must("DSTO-14"),
    )
    return [*commits, later, compacted]


def _old_commit_is_kept() -> v.ApiProbe:
    return v.ApiProbe(
        as_="old-commit",
        node=f"coordinator:{GROUP}",
        api="offset_fetch",
        version=5,
        body={"group_id": OLD_GROUP, "topics": [{"name": "w", "partition_indexes": [0]}]},
        answer={"topics[0].partitions[0].committed_offset": OLD_OFFSET},
        within_ms=v.LIVENESS_TIMEOUT_MS,
        expect=v.answers("DSTO-14", "served", "GRP-01"),
    )


def coordinator_paused(scenario: v.Scenario, target: v.TargetFacts, seed: int) -> v.Plan:
    """The coordinator sleeps until another broker has taken its group over, and wakes as members join and leave."""
    members = (_member("g1"), _member("g2"), _member("g3", later=True))
    steps: list[v.Step] = [
        v.Bind(as_="former", node=f"coordinator:{GROUP}"),
        v.inject("sleep", v.PauseParameters(nodes="$former")),
        v.LeaderIs(
            as_="moved",
            partition=OFFSETS,
            is_not="$former",
            within_ms=v.LIVENESS_TIMEOUT_MS,
            expect=v.must(target.rule("D631-07", "INT-28", "LD-31")),
        ),
        _reads("taken-over", "GRP-03"),
        v.Heal(as_="wake", fault="sleep"),
        v.Workload(as_="joins", action="start", only=("g3",)),
        _reads("three", "GRP-03", consumer="g3"),
        v.Workload(as_="leaves", action="stop", only=("g1",)),
        _reads("two", "GRP-03"),
        v.ApiProbe(
            as_="stranger",
            node=f"coordinator:{GROUP}",
            api="offset_commit",
            version=7,
            body={
                "group_id": GROUP,
                "generation_id_or_member_epoch": 1,
                "member_id": "has-left",
                "topics": [{"name": "w", "partitions": [{"partition_index": 0, "committed_offset": 0}]}],
            },
            expect=v.never_serves("GRP-02"),
        ),
    ]
    return _plan(scenario, target, seed, members, steps, "sleep")


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
    scenario: v.Scenario,
    target: v.TargetFacts,
    seed: int,
    members: tuple[v.ConsumerSpec, ...],
    steps: list[v.Step],
    fault: str,
    settings: v.NodeSettings | None = None,
) -> v.Plan:
    leader, *others = replicas = v.replica_roles(scenario, seed)
    usual = v.workload_with_losses(target)
    [producer] = usual.producers
    second = producer.model_copy(update={"name": "p-w", "topic": "w"})
    topology = v.smallest_cluster(target, others[-1])
    begin = v.WorkloadReads(as_="group", group=GROUP, more=MORE, within_ms=2 * v.LIVENESS_TIMEOUT_MS)
    lost = [
        each.model_copy(update={"requirement": "GRP-01", "level": "may"})
        for each in v.expected_losses(target, "may")[:1]
    ]
    return v.build_plan(
        scenario,
        target,
        seed,
        topics=[v.topic(replicas), v.rotated_topic(replicas, name="w")],
        topology=topology,
        workload=v.WorkloadSpec(producers=(producer, second), consumers=(*usual.consumers, *members)),
        steps=[*v.setup(leader), begin, *steps, *v.teardown()],
        deviations=[*v.expected_losses(target, "may"), *lost],
        settings=settings,
        coverage=[
            v.FaultProven(fault=fault),
            v.StepDone(step="whole"),
            v.Committed(what="offsets", before=f"{fault}.injected"),
            v.Committed(what="offsets", after=f"{fault}.proven"),
        ],
    )


SCENARIOS = (
    v.fault_scenario(
        "group-coordinator-killed",
        "A consumer group outlives the broker that coordinates it",
        coordinator_killed,
        25,
        "GRP-01",
        "GRP-03",
        "DSTO-14",
        needs={v.Capability.KILL},
        workloads={"groups", "static-members"},
    ),
    v.fault_scenario(
        "group-coordinator-paused",
        "A consumer group goes on while its coordinator sleeps, and while members come and go",
        coordinator_paused,
        25,
        "GRP-01",
        "GRP-02",
        "GRP-03",
        needs={v.Capability.PAUSE},
        workloads={"groups"},
    ),
)
