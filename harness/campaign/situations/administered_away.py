"""A broker is away while administrators change what it holds, and finds another state at its return."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fencepost.faults.capabilities import Capability
from fencepost.faults.processes.kill import KillParameters
from fencepost.harness.campaign.operations.operation import ANSWERED_WITHIN_MS, Asked
from fencepost.harness.campaign.operations.partitions import Reassign
from fencepost.harness.campaign.operations.requests import TOPIC, altered, api
from fencepost.harness.campaign.situations.nested import controller_elsewhere, stop
from fencepost.harness.campaign.situations.reassignments import creation, reassignment
from fencepost.harness.campaign.situations.situation import Situation, Staged
from fencepost.harness.campaign.topics import Existence, ScriptTopic
from fencepost.harness.plan.base import Expect, Level
from fencepost.harness.plan.conditions.active_controller import ActiveController
from fencepost.harness.plan.conditions.assignment_is import AssignmentIs
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.create_partitions import CreatePartitionsProbe
from fencepost.harness.plan.requests.delete_topic import DeleteTopicProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.describe import Describe
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

FAILOVER = 0.4
"""The fraction in which another controller becomes active while the broker is away."""
LEASES = (0.3, 1.5, 2.0, 3.0)
"""The times before the first request, and after the last: also too short for the broker to be fenced."""


class AdministeredWhileAway(Situation):
    """A broker is away while some of its replicas move away, others to it, and topics on it come, go and change.

    All of it is about the broker that is away: a request for any partition meets it by chance only. At its return it
    drops the replicas that it has no longer, fetches those that are new, and all nodes describe what was asked for.
    """

    name = "administered-while-away"
    weight = 8
    needs = frozenset({Capability.KILL, Capability.PAUSE})
    left_out: Mapping[str, str] = Reassign.left_out
    releases: Mapping[str, Releases] = Reassign.releases

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        cluster = script.cluster
        if len(cluster.brokers) < 3 or not script.allows_away(1, 0):
            return False
        away, other, third = rng.sample(cluster.brokers, 3)
        how = rng.choice(("kill", "kill", "pause"))
        factor = cluster.target.timeout_factor
        node = "active-controller" if cluster.only_controller_administers else other
        changes = _Changes(rng, script, Asked(node, ANSWERED_WITHIN_MS * factor), away, other, third)
        spare = cluster.spare_quorum > 0 and cluster.target.dialect.has_controllers and not cluster.broker_is_controller
        failover = spare and rng.random() < FAILOVER
        staged.brokers, staged.quorum = 1, int(failover)
        if cluster.broker_is_controller:
            controller_elsewhere(staged, away)
        staged.steps += [*changes.created(), staged.whole()]
        fault = staged.inject(stop(how, away))
        staged.hold(f"{fault}.proven", rng.choice(LEASES))
        steps = changes.some(rng.choice((2, 3, 4)))
        place = rng.randrange(len(steps) + 1)
        staged.steps += steps[:place]
        if failover:
            staged.heal(staged.inject(KillParameters(nodes="active-controller")))
            staged.steps.append(ActiveController(as_=script.name("leads"), within_ms=staged.within_ms))
        staged.steps += steps[place:]
        staged.hold(f"{staged.steps[-1].as_}.ended", rng.choice(LEASES))
        staged.heal(fault)
        staged.steps += [staged.whole(), Describe(as_=script.name("returned"))]
        staged.title = f"{', '.join(changes.titles)} during a {how} of {away}"
        return True


class _Changes:
    """Two topics with replicas on the broker, and requests about them, of which each is sent once at most."""

    def __init__(self, rng: random.Random, script: Script, asked: Asked, away: str, other: str, third: str) -> None:
        self._rng, self._script, self._asked = rng, script, asked
        self._away, self._other, self._third = map(script.cluster.id_of, (away, other, third))
        self._kept, self._left = script.name("kept"), script.name("left")
        self.titles: list[str] = []

    def created(self) -> list[Step]:
        """Return the creations. Of `kept` two partitions are on the broker and one is not; that of `left` is there."""
        of_kept = [[self._other, self._away], [self._away, self._third], [self._other, self._third]]
        return [self._creation(self._kept, of_kept), self._creation(self._left, [[self._other, self._away]])]

    def some(self, count: int) -> list[Step]:
        """Return so many changes. Of one partition there is one, so that its end is known."""
        away, other, third = self._away, self._other, self._third
        possible = {
            "a replica moves away": lambda: self._moved(0, other, third),
            "a replica goes": lambda: self._moved(1, third),
            "a replica comes beside it": lambda: self._grown_beside(1, away, third, other),
            "a replica moves to it": lambda: self._moved(2, third, away),
            "a topic goes": self._deleted,
            "a topic is made anew": lambda: [*self._deleted(), self._creation(self._left, [[other, third]])],
            "partitions come": self._grown,
            "a setting changes": self._set,
        }
        exclusive = ({"a replica goes", "a replica comes beside it"}, {"a topic goes", "a topic is made anew"})
        left_out = {self._rng.choice(sorted(pair)) for pair in exclusive}
        chosen = self._rng.sample(sorted(possible.keys() - left_out), count)
        self.titles += chosen
        return [step for each in chosen for step in possible[each]()]

    def _creation(self, name: str, assignments: Sequence[Sequence[int]]) -> Step:
        return creation(self._script, self._asked, name, assignments)

    def _moved(self, partition: int, *ids: int) -> list[Step]:
        return [reassignment(self._script, f"{self._kept}-{partition}", ids, self._asked.node)]

    def _grown_beside(self, partition: int, *ids: int) -> list[Step]:
        """Return the addition of a replica, which needs nothing of the broker that is away (D631-70)."""
        cluster, name = self._script.cluster, f"{self._kept}-{partition}"
        ended = AssignmentIs(
            as_=self._script.name("added"),
            partition=name,
            is_=tuple(map(cluster.name_of, ids)),
            within_ms=cluster.liveness_timeout_ms,
            expect=Expect(level=Level.MUST, requirement="D631-70"),
        )
        return [*self._moved(partition, *ids), *([ended] if cluster.target.dialect is Dialect.KIP_631 else [])]

    def _deleted(self) -> list[Step]:
        self._knows(replace(self._script.topics[self._left], existence=Existence.DELETED))
        delete = DeleteTopicProbe(as_=self._script.name("delete"), node=self._asked.node, topic=self._left)
        return [self._asked.send(delete)]

    def _grown(self) -> list[Step]:
        name = self._script.name("add")
        return [self._asked.send(CreatePartitionsProbe(as_=name, node=self._asked.node, topic=self._kept, count=4))]

    def _set(self) -> list[Step]:
        value = str(self._rng.randint(1, 1000) * 3_600_000)
        return [self._api("alter", "incremental_alter_configs", altered(TOPIC, self._kept, "retention.ms", value))]

    def _api(self, name: str, request: str, body: dict[str, Any]) -> Step:
        return api(self._script, name, self._asked, request, body)

    def _knows(self, topic: ScriptTopic) -> None:
        self._script.topics[topic.name] = topic
