"""Share groups as administrators see them: start offsets, settings, members that have to be gone first.

The model of the cluster's state judges what is left of them (MDL-11, MDL-17, MDL-18), once more after each failover and
restart. Nothing is fetched: what members acknowledge is theirs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.coordination import COORDINATOR, GROUP
from fencepost.harness.campaign.operations.members import JOINS, MEMBER, OfNewCoordinators, Sender
from fencepost.harness.campaign.operations.operation import GeneratedOperation, asked
from fencepost.harness.campaign.operations.requests import DELETE, SET, altered, api, must
from fencepost.harness.campaign.settling import restarted
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

LEAVES = -1
NON_EMPTY = 68
OF_GROUP = 32
"""The type of resources that are groups."""
OFFSETS = (0, 1, 2**31 - 1, 2**31, 2**63 - 1)
SETTINGS: Mapping[str, Sequence[str]] = {
    "share.auto.offset.reset": ("earliest", "latest"),
    "share.isolation.level": ("read_committed", "read_uncommitted"),
    "share.record.lock.duration.ms": ("15000", "60000"),
}
"""Settings of groups that move no member: those of sessions would end the time for which members are owed."""
MOVES = ("set", "set", "again", "delete offsets", "delete group", "configure", "with a member")


class ShareGroupOffsets(OfNewCoordinators):
    """Start offsets of a share group are set, twice, deleted, and set again; while it has members it refuses that."""

    name = "share-group-offsets"
    weight = 2
    releases: Mapping[str, Releases] = {"apache-kafka": ">=4.2"}
    settings: Mapping[str, str] = {"share.coordinator.state.topic.num.partitions": "1"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        group = _Administrator(rng, script, self.sent(rng, script, COORDINATOR))
        moves = ("with a member", "set", *(rng.choice(MOVES) for _ in range(rng.randint(1, 4))))
        steps = [group.find(), *group.moves(moves)]
        return GeneratedOperation(f"share group: {', '.join(moves)}", tuple(steps))


class ShareGroupAfterRestart(ShareGroupOffsets):
    """Requests about a share group are sent again after its coordinator has restarted."""

    name = "share-group-after-restart"
    weight = 1
    at_end = False

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        group = _Administrator(rng, script, self.sent(rng, script, COORDINATOR))
        moves = ("with a member", "set", rng.choice(MOVES))
        steps = [group.find(), *group.moves(moves), *restarted(script, COORDINATOR), *group.moves(moves)]
        title = f"share group before and after a restart of its coordinator: {', '.join(moves)}"
        return GeneratedOperation(title, tuple(steps), unsettles=True)


class _Administrator:
    """Sends requests about one share group to its coordinator."""

    def __init__(self, rng: random.Random, script: Script, send: Sender) -> None:
        self._rng = rng
        self._script = script
        self._send = send
        self._group = script.name("share")
        self._topic = rng.choice(script.cluster.topics)
        self._last = self._offsets()

    def find(self) -> ApiProbe:
        return self._send.find(GROUP, self._group)

    def moves(self, moves: Sequence[str]) -> Iterator[Step]:
        for move in moves:
            match move:
                case "with a member":
                    yield from self._with_a_member()
                case "delete offsets":
                    topics = [{"topic_name": self._topic.name}]
                    body = {"group_id": self._group, "topics": topics}
                    yield self._send.unclaimed("delete", "delete_share_group_offsets", body)
                case "delete group":
                    yield self._send.unclaimed("delete", "delete_groups", {"groups_names": [self._group]})
                case "configure":
                    yield self._configured()
                case _:
                    self._last = self._last if move == "again" else self._offsets()
                    yield self._send.unclaimed("set", "alter_share_group_offsets", self._last)

    def _with_a_member(self) -> Iterator[Step]:
        """A member joins, the offsets stay as they are, and it leaves."""
        beat = {"group_id": self._group, "member_id": MEMBER, "subscribed_topic_names": [self._topic.name]}
        heartbeat, alter = "share_group_heartbeat", "alter_share_group_offsets"
        yield self._send.wait("join", heartbeat, beat | {"member_epoch": JOINS}, must("CRD-01"))
        yield self._send.claim("held", alter, self._offsets(), must("CRD-01", f"error:{NON_EMPTY}"))
        yield self._send.wait("leave", heartbeat, beat | {"member_epoch": LEAVES}, must("CRD-01"))

    def _configured(self) -> ApiProbe:
        name = self._rng.choice(sorted(SETTINGS))
        operation = self._rng.choice((SET, SET, DELETE))
        value = self._rng.choice(SETTINGS[name]) if operation == SET else None
        how = asked(self._rng, self._script, of_any=True)
        body = altered(OF_GROUP, self._group, name, value, operation)
        return api(self._script, "configure", how, "incremental_alter_configs", body)

    def _offsets(self) -> dict[str, Any]:
        numbers = range(len(self._topic.assignments))
        chosen = self._rng.sample(numbers, self._rng.randint(1, len(numbers)))
        partitions = [{"partition_index": each, "start_offset": self._rng.choice(OFFSETS)} for each in chosen]
        return {"group_id": self._group, "topics": [{"topic_name": self._topic.name, "partitions": partitions}]}
