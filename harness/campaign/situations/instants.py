"""Several nodes in one instant, and a node in the middle of an election."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from fencepost.faults.capabilities import Capability
from fencepost.harness.campaign.situations.nested import stop
from fencepost.harness.campaign.situations.situation import Situation, Staged
from fencepost.harness.plan.conditions.active_controller import ActiveController
from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.conditions.leader_is import LeaderIs
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.steps.bind import Bind

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script


class InOneInstant(Situation):
    """Two brokers, and often the controller or ZooKeeper's leader with them, stop in one instant (KAFKA-13173).

    Their leases and sessions end in one tick then, and all is decided by one picture of the cluster.
    """

    name = "in-one-instant"
    weight = 4
    needs = frozenset({Capability.KILL, Capability.PAUSE})

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        cluster = script.cluster
        how, nodes = rng.choice(("kill", "kill", "pause")), sorted(rng.sample(cluster.brokers, 2))
        staged.brokers = 2
        if cluster.target.dialect is not Dialect.LEADER_DRIVEN and rng.random() < 0.7:
            nodes.insert(0, "active-controller")
            staged.brokers, staged.quorum = (3, 0) if cluster.broker_is_controller else (2, 1)
        elif cluster.uses_zookeeper and len(cluster.quorum) > 1 and rng.random() < 0.4:
            nodes.insert(0, "zookeeper-leader")
            staged.quorum = 1
        staged.title = f"{how} of {', '.join(nodes[:-1])} and {nodes[-1]} in one instant"
        fault = staged.inject(stop(how, tuple(nodes)))
        staged.hold(f"{fault}.proven", rng.choice((0.2, 0.9, 1.3, 2.0)))
        staged.heal(fault)
        return True


class InAnElection(Situation):
    """The controller stops in the moment in which it chooses new leaders, or the new leader in that of its election."""

    name = "in-an-election"
    weight = 4
    needs = frozenset({Capability.KILL, Capability.PAUSE})

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        cluster, partition = script.cluster, rng.choice(script.cluster.partitions)
        leader, hit = f"leader:{partition}", script.name("led-by")
        second, staged.brokers, staged.quorum = leader, 2, 0
        if cluster.target.dialect is not Dialect.LEADER_DRIVEN and rng.random() < 0.6:
            second = "active-controller"
            staged.brokers, staged.quorum = (2, 0) if cluster.broker_is_controller else (1, 1)
        if second == leader and cluster.replicas(partition) < 3:
            return False
        first_how, how = rng.choice(("kill", "pause")), rng.choice(("kill", "kill", "pause"))
        staged.title = f"{how} of the {'controller' if second != leader else 'next leader'} as {leader} changes"
        staged.steps.append(Bind(as_=hit, node=leader))
        first = staged.inject(stop(first_how, f"${hit}"))
        moved: AwaitStep = LeaderIs(partition=partition, is_not=f"${hit}", within_ms=staged.within_ms)
        if second != leader and cluster.broker_is_controller:
            moved = ActiveController(is_not=f"${hit}", within_ms=staged.within_ms)
        again = staged.inject(stop(how, second), when=moved, plus_ms=rng.choice((0, 0, 20, 100, 300)))
        staged.hold(f"{again}.proven", rng.uniform(0.1, 1.8))
        for fault in rng.sample((first, again), 2):
            staged.heal(fault)
        return True
