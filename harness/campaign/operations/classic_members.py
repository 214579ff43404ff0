"""Members of the classic protocol that send single requests: silent, slow, and with answers that they ask for again.

KIP-62: a member stays for as long as it sends heartbeats within its session timeout, and each time the group rebalances
it has the rebalance timeout to join again. KIP-394: a client without a member id gets one, to join with. The protocol's
description: all members of a generation get from SyncGroup what its leader assigned to them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.coordination import COORDINATOR, GROUP
from fencepost.harness.campaign.operations.members import Sender
from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation
from fencepost.harness.campaign.operations.requests import must
from fencepost.harness.plan.base import ExpectOutcome
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.hold import Hold
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

LONG_MS, SHORT_MS = 120_000, 1_500
"""A session that outlasts all that a plan does to a coordinator on a busy machine, and one that lapses in a plan."""
NO_TOPICS = "\0" * 10
"""The subscription of a consumer that reads no topic (ConsumerProtocolSubscription, version 0)."""
OTHER_NO_TOPICS = "\0" * 9 + "\1x"
"""The same with user data, so that the coordinator takes it for a changed one."""
ASSIGNED = "\0" * 9 + "\1a"
"""An assignment without partitions, and with user data (ConsumerProtocolAssignment, version 0)."""
JOIN, SYNC, BEAT, LEAVE = 5, 3, 3, 3
"""The first versions with static members (KIP-345). A static member needs no id to join with."""
ID_REQUIRED = 79
BEATS_EVERY_MS = 200
RELEASES: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.5"}


class ClassicGroup:
    """Static members of one group, by the names to which their ids and generations are bound."""

    def __init__(self, rng: random.Random, script: Script, name: str) -> None:
        self.send = Sender(rng, script, COORDINATOR, None)
        self.name = script.name(name)

    def find(self) -> ApiProbe:
        return self.send.find_one(GROUP, self.name)

    def joining(self, instance: str | None, member: str = "", session_ms: int = LONG_MS, **more: Any) -> dict[str, Any]:
        """Return the body of JoinGroup."""
        return {
            "group_id": self.name,
            "session_timeout": session_ms,
            "rebalance_timeout": LONG_MS,
            "member_id": member,
            "group_instance_id": instance,
            "protocol_type": "consumer",
            "protocols": [{"name": "range", "metadata": NO_TOPICS}],
            **more,
        }

    def join(self, bound: str, instance: str, member: str = "", session_ms: int = LONG_MS) -> ApiProbe:
        """Join, and bind the member's id and generation."""
        body = self.joining(instance, member, session_ms)
        return self.send.wait("join", "join_group", body, version=JOIN, binds=_bound(bound))

    def of(self, bound: str, instance: str) -> dict[str, Any]:
        """Return the fields by which requests name a member."""
        generation = f"$generation-of-{bound}"
        return {
            "group_id": self.name,
            "generation_id": generation,
            "member_id": f"${bound}",
            "group_instance_id": instance,
        }

    def sync(self, bound: str, instance: str) -> ApiProbe:
        """Get the assignment; as leader, of itself alone."""
        assignments = [{"member_id": f"${bound}", "assignment": ASSIGNED}]
        body = {**self.of(bound, instance), "assignments": assignments}
        return self.send.wait("sync", "sync_group", body, version=SYNC)

    def synced(self, bound: str, instance: str) -> Iterator[ApiProbe]:
        """Yield the requests of the leader, the only member, that gets what it assigned, and gets it again (CRD-07)."""
        yield self.sync(bound, instance)
        body, answer = {**self.of(bound, instance), "assignments": []}, {"assignment": ASSIGNED}
        yield self.send.claim("sync-again", "sync_group", body, must("CRD-07"), version=SYNC, answer=answer)

    def beat(self, bound: str, instance: str, expect: ExpectOutcome) -> ApiProbe:
        return self.send.claim("beat", "heartbeat", self.of(bound, instance), expect, version=BEAT)

    def leave(self, instance: str) -> ApiProbe:
        members = [{"member_id": "", "group_instance_id": instance}]
        return self.send.wait("leave", "leave_group", {"group_id": self.name, "members": members}, version=LEAVE)


class IdNeverUsed(Operation):
    """A client asks to join, gets the member id to do it with, and is not heard of again: no rebalance waits for it
    beyond its session timeout (CRD-04, KIP-394)."""

    name = "id-never-used"
    weight = 3
    at_end = of_whole_clusters = True
    releases = RELEASES

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        group = ClassicGroup(rng, script, "silent")
        member = f"member-of-{group.name}"
        first = group.joining(None, session_ms=SHORT_MS)
        changed = [{"name": "range", "metadata": OTHER_NO_TOPICS}]
        again = group.joining("i", f"${member}", protocols=changed)
        alone = {"members[].group_instance_id": ["i"]}
        steps: list[Step] = [
            group.find(),
            group.join(member, "i"),
            *group.synced(member, "i"),
            group.send.claim("ask-for-id", "join_group", first, must("CRD-01", f"error:{ID_REQUIRED}"), version=JOIN),
            group.send.claim(
                "join-again", "join_group", again, must("CRD-04"), version=JOIN, answer=alone, binds=_bound(member)
            ),
            group.sync(member, "i"),
            group.leave("i"),
        ]
        return GeneratedOperation("a group rebalances without a client that never used its member id", tuple(steps))


class LateRejoin(Operation):
    """A rebalance takes longer than the sessions of its members: one that waits for the others stays, and so does one
    that sends heartbeats and joins again late, which the model judges (CRD-08, MDL-11, KIP-62)."""

    name = "late-rejoin"
    weight = 3
    at_end = of_whole_clusters = True
    releases = RELEASES

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        group = ClassicGroup(rng, script, "slow")
        late = f"late-in-{group.name}"
        ms = rng.randrange(SHORT_MS * 3 // 2, SHORT_MS * 2, 100)
        beats = group.send.unclaimed("beat", "heartbeat", group.of(late, "late"))
        in_time = {"repeat": ms // BEATS_EVERY_MS, "every_ms": BEATS_EVERY_MS, "background": True, "version": BEAT}
        waits = group.send.claim(
            "wait", "join_group", group.joining("waits", session_ms=SHORT_MS), must("CRD-08"), version=JOIN
        )
        again = group.send.unclaimed("join-late", "join_group", group.joining("late", f"${late}", SHORT_MS))
        steps: list[Step] = [
            group.find(),
            group.join(late, "late", session_ms=SHORT_MS),
            group.sync(late, "late"),
            beats.model_copy(update=in_time),
            waits.model_copy(update={"background": True}),
            Hold(as_=script.name("late"), after=f"{waits.as_}.begun", ms=ms),
            again.model_copy(update={"version": JOIN}),
        ]
        return GeneratedOperation(f"a member joins again {ms} ms late, with sessions of {SHORT_MS} ms", tuple(steps))


def _bound(name: str) -> dict[str, str]:
    return {name: "member_id", f"generation-of-{name}": "generation_id"}
