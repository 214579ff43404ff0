"""The broker that coordinates a group, or the transactions of a producer, stops while they are in use."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from fencepost.faults.capabilities import Capability
from fencepost.harness.campaign.situations.nested import stop
from fencepost.harness.campaign.situations.situation import Situation, Staged
from fencepost.harness.campaign.workloads.groups import Groups
from fencepost.harness.campaign.workloads.names import GROUP, TRANSACTIONAL_ID
from fencepost.harness.campaign.workloads.transactions import Transactions
from fencepost.harness.targets.file import TargetFile

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script


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
