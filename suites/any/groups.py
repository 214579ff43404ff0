"""Consumer groups of both protocols: members come and leave, and their coordinator sleeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fencepost.suites import vocabulary as v

GROUP = "g"
COORDINATOR = f"coordinator:{GROUP}"
MORE = 60
SLEEP_MS = 3000
"""Shorter than the session of a member: only clients have to wait."""
SESSION_MS: Mapping[str, int] = {"classic": 6000, "consumer": 45_000}
"""The session of a member, which with the new protocol is a setting of brokers: Kafka's default."""
COMMITS = 5
ANY_GROUP = "ANY-03"
"""The difference that a group without a commit is refused. The target file of any broker can list it."""
SERVED, NOT_FOUND = v.serves("CRD-03"), v.answers("CRD-03", "error:69")
WITHOUT_MEMBERS, NEVER_COMMITTED = "old", "never-committed"
OF_GROUP = f"coordinator:{WITHOUT_MEMBERS}"


@v.any_scenario(
    "any-classic-group", "A group reads on while members come and leave", "classic", seconds=25, workloads={"groups"}
)
@v.any_scenario(
    "any-consumer-group",
    "A group of the new protocol reads on while members come and leave",
    "consumer",
    seconds=25,
    workloads={"consumer-protocol"},
)
def members(protocol: Literal["classic", "consumer"], draft: v.Draft) -> v.Plan:
    """A member joins and another one leaves; then the coordinator of the group sleeps, and wakes."""

    steps: list[v.Step] = [
        _reads("begun"),
        v.Workload(as_="joins", action="start", only=("g2",)),
        _reads("both"),
        v.Workload(as_="leaves", action="stop", only=("g1",)),
        _reads("one"),
        v.inject("sleep", v.PauseParameters(nodes=COORDINATOR)),
        v.Hold(as_="asleep", after="sleep.proven", ms=SLEEP_MS),
        v.Heal(as_="wake", fault="sleep"),
        _reads("goes-on"),
    ]
    return draft.plan(
        steps,
        "whole",
        v.Committed(what="offsets", before="sleep.injected"),
        topics=[v.promised_topic(draft.target, draft.roles)],
        workload=v.WorkloadSpec(
            producers=(v.PRODUCER,), consumers=(_member("g1", protocol), _member("g2", protocol, later=True))
        ),
    )


@v.any_scenario("any-commits", "A group gets back what it committed last, and nothing of another group", seconds=10)
def commits(draft: v.Draft) -> v.Plan:
    """Commit without members, each offset above the last; the coordinator sleeps. Ask again, and let a member go on."""
    steps: list[v.Step] = [
        *(_commit(offset) for offset in range(1, COMMITS + 1)),
        _offset("before", WITHOUT_MEMBERS, COMMITS),
        v.inject("sleep", v.PauseParameters(nodes=OF_GROUP)),
        v.Hold(as_="asleep", after="sleep.proven", ms=SLEEP_MS),
        v.Heal(as_="wake", fault="sleep"),
        _offset("after", WITHOUT_MEMBERS, COMMITS),
        _offset("other", NEVER_COMMITTED, -1, draft.target.unless(ANY_GROUP, SERVED, NOT_FOUND)),
        v.Workload(as_="joins", action="start", only=("joiner",)),
        _reads("goes-on", WITHOUT_MEMBERS),
    ]
    joiner = _member("joiner", group=WITHOUT_MEMBERS, later=True)
    absent = _member("absent", group=NEVER_COMMITTED, later=True)  # never started: its group has a coordinator
    return draft.plan(
        steps,
        "whole",
        v.Committed(what="offsets", after="joins.ended"),
        topics=[v.promised_topic(draft.target, draft.roles)],
        workload=v.WorkloadSpec(producers=(v.PRODUCER,), consumers=(v.CONSUMER, joiner, absent)),
    )


def _member(
    name: str, protocol: Literal["classic", "consumer"] = "classic", *, group: str = GROUP, later: bool = False
) -> v.ConsumerSpec:
    membership = v.MembershipSpec(group=group, session_ms=SESSION_MS[protocol], protocol=protocol)
    return v.ConsumerSpec(name=name, topic="t", membership=membership, start="later" if later else None)


def _reads(as_: str, group: str = GROUP) -> v.Step:
    return v.WorkloadReads(
        as_=as_, group=group, more=MORE, within_ms=2 * v.LIVENESS_TIMEOUT_MS, expect=v.must("GRP-03")
    )


def _commit(offset: int) -> v.Step:
    partition = {"partition_index": 0, "committed_offset": offset, "committed_metadata": f"m-{offset}"}
    body = {
        "group_id": WITHOUT_MEMBERS,
        "generation_id_or_member_epoch": -1,
        "member_id": "",
        "topics": [{"name": "t", "partitions": [partition]}],
    }
    return v.ask_until(f"commit-{offset}", OF_GROUP, "offset_commit", body, v.serves("CRD-03"), version=7)


def _offset(as_: str, group: str, offset: int, expect: v.ExpectOutcome = SERVED) -> v.Step:
    """Claim what a group has committed last, and the text beside it."""
    path = "topics[0].partitions[partition_index=0]"
    answer = {f"{path}.committed_offset": offset, f"{path}.metadata": f"m-{offset}" if offset >= 0 else ""}
    body = {"group_id": group, "topics": [{"name": "t", "partition_indexes": [0]}]}
    return v.ask_until(as_, f"coordinator:{group}", "offset_fetch", body, expect, version=5, answer=answer)
