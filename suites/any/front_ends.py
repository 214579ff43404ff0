"""Several front ends that share one id: what one of them takes, each other one shows, and any of them can end."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

TOPIC, MADE = "t", "made"
GROUP = "old"


@v.any_scenario(
    "any-front-ends",
    "What one front end takes, another one of the same id shows",
    seconds=10,
    workloads={"groups"},
    front_ends=True,
)
def shared(draft: v.Draft) -> v.Plan:
    """A topic is created and offsets are committed through one front end, and asked for at another one."""
    first, second = draft.leader, v.front_end(draft.leader, 2)
    creation = {"topics": [v.new_topic(MADE)], "timeout": 5000, "validate_only": False}
    steps: list[v.Step] = [
        v.ask("create", first, "create_topics", creation, v.serves("ADM-02"), version=4),
        v.listed_topics("there", second, [MADE], v.serves("TOPIC-02")),
        *(_commit(offset, node) for offset, node in enumerate((first, second, first), 1)),
        _committed(second, 3),
        v.goes_on(),
    ]
    return _plan(draft, steps)


@v.any_scenario(
    "any-front-end-ends", "Clients go on through other front ends while one is away", seconds=15, front_ends=True
)
def ended(draft: v.Draft) -> v.Plan:
    """The front end that was found first is killed, and started again."""
    steps: list[v.Step] = [
        v.inject("end", v.KillParameters(nodes=draft.leader)),
        v.goes_on(),
        v.Heal(as_="restart", fault="end"),
    ]
    return _plan(draft, steps, v.acknowledged(before="end.injected"), v.acknowledged("restart.ended"))


def _commit(offset: int, node: str) -> v.Step:
    partition = {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
    body = {
        "group_id": GROUP,
        "generation_id_or_member_epoch": -1,
        "member_id": "",
        "topics": [{"name": TOPIC, "partitions": [partition]}],
    }
    return v.ask_until(f"commit-{offset}", node, "offset_commit", body, v.serves("CRD-03"), version=7)


def _committed(node: str, offset: int) -> v.Step:
    answer = {"topics[0].partitions[partition_index=0].committed_offset": offset}
    body = {"group_id": GROUP, "topics": [{"name": TOPIC, "partition_indexes": [0]}]}
    return v.ask_until("committed", node, "offset_fetch", body, v.serves("CRD-03"), version=5, answer=answer)


def _plan(draft: v.Draft, steps: list[v.Step], *coverage: v.Coverage) -> v.Plan:
    return draft.plan(
        steps,
        "whole",
        *coverage,
        topics=[v.promised_topic(draft.target, draft.roles)],
        workload=v.WorkloadSpec(producers=(v.PRODUCER,), consumers=(v.CONSUMER,)),
    )
