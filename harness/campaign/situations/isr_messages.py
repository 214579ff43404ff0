"""One message about a change of an ISR meets a fate of its own, while followers fetch nothing."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fencepost.faults.capabilities import Capability
from fencepost.faults.links.cut import CutParameters
from fencepost.faults.messages.late_request import LateRequest
from fencepost.faults.messages.lost_answer import LostAnswer
from fencepost.faults.messages.lost_request import LostRequest
from fencepost.faults.messages.repeated_request import RepeatedRequest
from fencepost.harness.campaign.situations.situation import Situation, Staged
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.steps.bind import Bind

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

FATES = (LostAnswer, LostAnswer, LostRequest, RepeatedRequest, LateRequest)
IN_ZOOKEEPER = "its leaders write the ISR to ZooKeeper"


class MessageOfAnIsrChange(Situation):
    """Followers are cut off from their leader alone, and what it asks the controller then is lost, repeated or late.

    They go on to be heard by the controller, which would change the ISR itself otherwise. The leader asks again for a
    change that may be done already (KIP-497): neither a refusal of that nor an old answer may leave it with another ISR
    than the controller has.
    """

    name = "message-of-an-isr-change"
    weight = 4
    needs = frozenset({Capability.LINKS, Capability.MESSAGES})
    left_out: Mapping[str, str] = dict.fromkeys((Dialect.ZOOKEEPER, Dialect.LEADER_DRIVEN), IN_ZOOKEEPER)

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        cluster = script.cluster
        replicated = [each for each in cluster.partitions if cluster.replicas(each) > 1]
        if not replicated or cluster.broker_is_controller:
            return False
        partition, fate, leader = rng.choice(replicated), rng.choice(FATES), script.name("leads")
        given = {
            "from": f"${leader}",
            "to": "active-controller",
            "api": "alter_partition",
            **fate.random_parameters(rng),
        }
        staged.brokers = cluster.replicas(partition) - 1
        staged.title = fate.summary.format(api="alter_partition", aim=f"leader:{partition}", to="active-controller")
        staged.steps.append(Bind(as_=leader, node=f"leader:{partition}"))
        cut = staged.inject(CutParameters.model_validate({"from": f"followers:{partition}", "to": f"${leader}"}))
        message = staged.inject(fate.Parameters.model_validate(given))
        staged.hold(f"{message}.proven", rng.choice((0.1, 0.9, 1.5)))
        for fault in rng.sample((cut, message), 2):
            staged.heal(fault)
        return True
