"""The broker that coordinates a group, or the transactions of a producer, stops while they are in use, or alone."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fencepost.faults.capabilities import Capability
from fencepost.faults.links.isolate import IsolateParameters
from fencepost.harness.campaign.operations.coordination import COORDINATOR
from fencepost.harness.campaign.operations.coordination import GROUP as GROUP_KEY
from fencepost.harness.campaign.operations.members import Sender
from fencepost.harness.campaign.operations.offsets import COMMIT
from fencepost.harness.campaign.operations.operation import Asked
from fencepost.harness.campaign.operations.requests import api
from fencepost.harness.campaign.situations.nested import stop
from fencepost.harness.campaign.situations.situation import Situation, Staged
from fencepost.harness.campaign.workloads.groups import Groups
from fencepost.harness.campaign.workloads.names import GROUP, TRANSACTIONAL_ID
from fencepost.harness.campaign.workloads.transactions import Transactions
from fencepost.harness.plan.steps.bind import Bind
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

ALONE_MS = 300
"""The time for an answer that must not come: less than it takes to leave followers behind."""


class CoordinatorStops(Situation):
    """The coordinator of a group or of a transactional id is killed or paused, and returns."""

    name = "coordinator-stops"
    weight = 4
    needs = frozenset({Capability.KILL, Capability.PAUSE})

    def left_out_reason(self, target: TargetFile, version: str, possible: frozenset[Capability]) -> str | None:
        if all(each.left_out_reason(target, version, possible) for each in (Groups(), Transactions())):
            return "its plans have neither groups nor transactions"
        return super().left_out_reason(target, version, possible)

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        workload = script.cluster.workload
        roles = [f"coordinator:{GROUP}"] if any(each.membership for each in workload.consumers) else []
        if any(each.transactions for each in workload.producers):
            roles.append(f"transaction-coordinator:{TRANSACTIONAL_ID}")
        if not roles:
            return False
        role, how = rng.choice(roles), rng.choice(("kill", "pause"))
        staged.title, staged.brokers = f"{how} of {role}", 1
        fault = staged.inject(stop(how, role))
        staged.hold(f"{fault}.proven", rng.choice((0.2, 0.9, 1.3, 2.5)))
        staged.heal(fault)
        return True


class CommitsAlone(Situation):
    """The coordinator of a group loses its followers, is asked to commit, and dies before it has left them behind.

    The next coordinator is one of them, so that it has what was answered for (GRP-01, MDL-10).
    """

    name = "commits-alone"
    weight = 5
    needs = frozenset({Capability.KILL, Capability.LINKS})
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.5"}

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        if len(script.cluster.brokers) < 2:
            return False
        send, alone = Sender(rng, script, COORDINATOR, None), script.name("alone")
        group, topic = script.name("kept-by"), rng.choice(script.cluster.topics).name
        staged.brokers = 1
        staged.steps += [staged.whole(), send.find_one(GROUP_KEY, group)]
        staged.steps.append(send.wait("commit", "offset_commit", _commit(group, topic, 1), version=COMMIT))
        staged.steps.append(Bind(as_=alone, node=COORDINATOR))
        cut = staged.inject(IsolateParameters(nodes=f"${alone}", from_="brokers", how=rng.choice(("cut", "stall"))))
        again = Asked(f"${alone}", ALONE_MS * script.cluster.target.timeout_factor)
        staged.steps.append(api(script, "commit", again, "offset_commit", _commit(group, topic, 2), version=COMMIT))
        killed = staged.inject(stop("kill", f"${alone}"))
        staged.hold(f"{killed}.proven", rng.choice((0.2, 1.5, 2.5)))
        for fault in rng.sample((cut, killed), 2):
            staged.heal(fault)
        staged.title = "an offset committed by a coordinator that lost its followers, and dies"
        return True


def _commit(group: str, topic: str, offset: int) -> dict[str, Any]:
    partition = {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
    topics = [{"name": topic, "partitions": [partition]}]
    return {"group_id": group, "generation_id_or_member_epoch": -1, "member_id": "", "topics": topics}
