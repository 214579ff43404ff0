"""Static members of groups: they come back to a full group, are replaced by a second process, fenced, and join anew.

The model of the cluster's state judges the members that are described (MDL-11), once more after failovers and restarts.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.classic_members import RELEASES, ClassicGroup
from fencepost.harness.campaign.operations.coordination import COORDINATOR, GROUP
from fencepost.harness.campaign.operations.members import JOINS, LEAVES_FOR_A_WHILE, OfNewCoordinators, Sender
from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation
from fencepost.harness.campaign.operations.requests import ONLY_KAFKA, excusing, must
from fencepost.harness.campaign.settling import restarted
from fencepost.harness.plan.steps import Step
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

RESTARTED = 0.4
"""The fraction of plans in which the coordinator restarts while members are away."""
UNKNOWN_MEMBER, FULL, FENCED_INSTANCE, FENCED_EPOCH, UNRELEASED = 25, 81, 82, 110, 111


class StaticMembersReturn(OfNewCoordinators):
    """Two static members of a full group are away at once, and come back; a process with a taken place is refused."""

    name = "static-members-return"
    weight = 2
    releases: Mapping[str, Releases] = {"apache-kafka": ">=4.0"}
    settings: Mapping[str, str] = {"group.consumer.max.size": "4"}  # no plan's own group has more members

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        group, topic = script.name("places"), rng.choice(script.cluster.topics).name
        size = int(self.settings["group.consumer.max.size"])
        away = rng.sample(range(size), 2)
        send = Sender(rng, script, COORDINATOR, None)
        heartbeat, restarts = "consumer_group_heartbeat", rng.random() < RESTARTED

        def beat(place: int, member: str, epoch: int) -> dict[str, Any]:
            return {
                "group_id": group,
                "member_id": member,
                "member_epoch": epoch,
                "instance_id": f"i-{place}",
                "rebalance_timeout": 60_000,
                "subscribed_topic_names": [topic],
                "topic_partitions": [],
            }

        back = excusing(must("CRD-01"), script, "KAFKA-20601")
        fenced = must("CRD-01", f"error:[{UNKNOWN_MEMBER},{FENCED_INSTANCE},{FENCED_EPOCH}]")
        steps: list[Step] = [
            send.find(GROUP, group),
            *(send.wait("join", heartbeat, beat(place, f"first-{place}", JOINS)) for place in range(size)),
            send.claim("too-many", heartbeat, beat(size, "other", JOINS), must("CRD-01", f"error:{FULL}")),
            send.claim(
                "taken", heartbeat, beat(away[0], "twin", JOINS), must("CRD-01", f"error:[{FULL},{UNRELEASED}]")
            ),
            *(send.wait("leave", heartbeat, beat(place, f"first-{place}", LEAVES_FOR_A_WHILE)) for place in away),
            *(restarted(script, COORDINATOR) if restarts else ()),
            *(send.wait("back", heartbeat, beat(place, f"second-{place}", JOINS), expect=back) for place in away),
            send.claim("fenced", heartbeat, beat(away[0], f"first-{away[0]}", 1), fenced),
            send.wait("leave", heartbeat, beat(away[0], f"second-{away[0]}", LEAVES_FOR_A_WHILE)),
            send.wait("anew", heartbeat, beat(away[0], f"first-{away[0]}", JOINS), expect=back),
        ]
        title = f"two members of a group of {size}, its most, restart" + (" with their coordinator" * restarts)
        return GeneratedOperation(title, tuple(steps), unsettles=restarts)


class StaticMemberReplaced(Operation):
    """A second process takes the place of a static member of the classic protocol, which is fenced, and joins anew.

    Where coordinators keep members in memory only, none of them restarts, and no member stays.
    """

    name = "static-member-replaced"
    weight = 3
    at_end = of_whole_clusters = True
    releases = RELEASES

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        group = ClassicGroup(rng, script, "place")
        first, second, third = (f"{nth}-of-{group.name}" for nth in ("first", "second", "third"))
        target = script.cluster.target
        forgets = not ONLY_KAFKA.keys().isdisjoint((target.name, target.extends))
        restarts = not forgets and rng.random() < RESTARTED
        leaves = forgets or rng.random() < 0.5
        fenced = must("CRD-01", f"error:{FENCED_INSTANCE}")
        steps: list[Step] = [
            group.find(),
            *(group.join(first, "i"), *group.synced(first, "i")),
            *(group.join(second, "i"), group.sync(second, "i"), group.beat(first, "i", fenced)),
            *(restarted(script, COORDINATOR) if restarts else ()),
            *(group.join(third, "i"), group.sync(third, "i"), group.beat(second, "i", fenced)),
            *([group.leave("i")] if leaves else ()),
        ]
        title = "a static member is replaced, fenced and joins anew" + (" after its coordinator restarted" * restarts)
        return GeneratedOperation(title, tuple(steps), unsettles=restarts)
