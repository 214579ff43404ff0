"""Groups that wait for members for ever, or do not know them any more."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v
from fencepost.suites.released_bugs.bug import ReleasedBug, asking, one_broker
from fencepost.suites.released_bugs.requests import GROUP, ask, coordinator_found

LONG_SESSIONS = one_broker(group_max_session_timeout_ms="120000")


def join(member: str, instance: str | None, rebalance_ms: int) -> dict[str, Any]:
    """Return the body of a JoinGroup request."""
    return {
        "group_id": GROUP,
        "session_timeout": 60_000,
        "rebalance_timeout": rebalance_ms,
        "member_id": member,
        "group_instance_id": instance,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": ""}],
    }


def joined(name: str, body: dict[str, Any], outcome: str | None = "served", **more: Any) -> v.ApiProbe:
    """Join the group; without an outcome nothing is claimed."""
    expect = None if outcome is None else v.answers("CRD-04", outcome)
    return ask(name, "join_group", 5, body, expect=expect, **more)


def heartbeat(name: str, member: str, instance: str | None, expect: Any) -> v.ApiProbe:
    """Ask as a member whether it is still one, until the answer is the expected one."""
    body = {"group_id": GROUP, "generation_id": "$generation", "member_id": member, "group_instance_id": instance}
    return ask(name, "heartbeat", 3, body, within_ms=20_000, expect=expect)


@ReleasedBug(
    "KAFKA-12890",
    "A group waits for ever for a member that joins and does not sync",
    kind="groups",
    loses="No member of the group consumes anything.",
    releases=("apache-kafka-zk:2.8.0", "2.8.1"),
    rule="CRD-04",
    wanted="a member of the group workload that is cut off between JoinGroup and SyncGroup",
)
def member_never_syncs(draft: v.Draft) -> v.Plan:
    """The only member joins, and its SyncGroup never comes: it must be left out after the rebalance timeout."""
    named = {"binds": {"member": "member_id"}, "within_ms": v.LIVENESS_TIMEOUT_MS}
    steps: list[v.Step] = [
        coordinator_found(),
        joined("named", join("", None, 3000), "error:79", **named),
        joined("joined", join("$member", None, 3000), binds={"generation": "generation_id"}),
        heartbeat("left-out", "$member", None, v.answers("CRD-04", "error:25")),
    ]
    return asking(draft, steps, settings=LONG_SESSIONS)


def static_member(rebalance_ms: int) -> list[v.Step]:
    """Join a static member that leads a stable group, and let it restart: it gets a new member id."""
    first = {"binds": {"first": "member_id", "generation": "generation_id"}, "within_ms": v.LIVENESS_TIMEOUT_MS}
    sync = {
        "group_id": GROUP,
        "generation_id": "$generation",
        "member_id": "$first",
        "group_instance_id": "i",
        "assignments": [{"member_id": "$first", "assignment": "all"}],
    }
    return [
        coordinator_found(),
        joined("joined", join("", "i", 60_000), None, **first),
        ask("synced", "sync_group", 3, sync, expect=v.serves("CRD-04")),
        joined("restarted", join("", "i", rebalance_ms), binds={"second": "member_id"}),
    ]


@ReleasedBug(
    "KAFKA-14009",
    "A static member that comes back keeps the rebalance timeout of its earlier life",
    kind="groups",
    loses="The other members of the group wait far longer than any of them allows.",
    releases=("apache-kafka:3.3.1", "3.3.2"),
    rule="CRD-04",
    wanted="static members in the group workload that restart with other settings",
)
def old_rebalance_timeout(draft: v.Draft) -> v.Plan:
    """The static member comes back with a short rebalance timeout, which must hold when another member joins."""
    steps: list[v.Step] = [
        *static_member(3000),
        joined("named", join("", None, 3000), "error:79", binds={"other": "member_id"}),
        joined("not-held-up", join("$other", None, 3000), timeout_ms=20_000),
    ]
    return asking(draft, steps, settings=LONG_SESSIONS)


def beat(name: str, member: str, epoch: int, **more: Any) -> v.ApiProbe:
    """Send a heartbeat of the static member `i` by the consumer protocol: epoch 0 joins, -2 leaves for a while."""
    body = {
        "group_id": GROUP,
        "member_id": member,
        "member_epoch": epoch,
        "instance_id": "i",
        "rebalance_timeout": 60_000,
        "subscribed_topic_names": ["t"],
        "topic_partitions": [],
    }
    return ask(name, "consumer_group_heartbeat", 1, body, **more)


@ReleasedBug(
    "KAFKA-20601",
    "A static member is refused by its own place in a full group",
    kind="groups",
    loses="A consumer that restarts in a full group reads nothing until its session has timed out.",
    releases=("apache-kafka:4.3.1", "4.4.0"),
    rule="CRD-04",
)
def place_in_a_full_group(draft: v.Draft) -> v.Plan:
    """The group is as large as it may be. Its static member leaves for a restart, and takes its place again."""
    steps: list[v.Step] = [
        coordinator_found(),
        beat("joined", "first", 0, within_ms=v.LIVENESS_TIMEOUT_MS, expect=v.serves("CRD-04")),
        beat("left-for-a-while", "first", -2, expect=v.serves("CRD-04")),
        beat("back", "second", 0, expect=v.serves("CRD-04")),
    ]
    return asking(draft, steps, settings=one_broker(group_consumer_max_size="1"))
