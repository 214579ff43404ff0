"""The base of all situations."""

from __future__ import annotations

import random
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fencepost.faults.parameters import FaultParameters
from fencepost.harness.campaign.cluster_spec import ClusterSpec
from fencepost.harness.campaign.features import FeatureKind, Move
from fencepost.harness.plan.base import LogLine
from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.hold import Hold

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script


@dataclass
class Staged:
    """The steps of one situation, in the order in which they are added. Each of its faults is healed in them."""

    script: Script
    title: str = ""
    brokers: int = 0
    """The number of brokers, at most, that are away at a time."""
    quorum: int = 0
    """The same for the quorum."""
    steps: list[Step] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    cluster: ClusterSpec | None = None
    """The cluster as it is after them, where a step changes its own topics."""

    @property
    def within_ms(self) -> int:
        return self.script.cluster.liveness_timeout_ms

    def inject(
        self, parameters: FaultParameters, *, when: LogLine | AwaitStep | None = None, plus_ms: int | None = None
    ) -> str:
        """Add a fault, and return its name."""
        name = f"fault-{len(self.script.faults) + len(self.faults) + 1}"
        self.faults.append(name)
        self.steps.append(inject(name, parameters, when=when, plus_ms=plus_ms))
        return name

    def heal(self, fault: str) -> str:
        """Heal a fault, and return the name of the step."""
        name = fault.replace("fault", "heal")
        self.steps.append(Heal(as_=name, fault=fault))
        return name

    def hold(self, instant: str, leases: float) -> None:
        """Wait until so many leases after an instant."""
        ms = int(round(leases * self.script.cluster.timing.lease_ms, -1))
        self.steps.append(Hold(as_=self.script.name("meanwhile"), after=instant, ms=ms))

    def whole(self) -> Converged:
        """Return the step that awaits that the cluster is whole."""
        return Converged(as_=self.script.name("whole"), within_ms=self.within_ms)


class Situation(Move):
    """Several faults that belong together, such as one that hits while another one holds.

    It finds the cluster whole, and heals what it breaks. Nothing is claimed to go on meanwhile; in the end the plan
    claims that everything comes back, if no more was away at a time than may be.
    """

    kind = FeatureKind.SITUATION

    def add(self, script: Script) -> str | None:
        staged = Staged(script)
        if not self.stage(script.rng, script, staged) or not script.allows_away(staged.brokers, staged.quorum):
            return None
        script.enact(staged.steps, staged.faults, staged.brokers, staged.quorum)
        script.cluster = staged.cluster or script.cluster
        return staged.title

    @abstractmethod
    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        """Add the steps of one, with title and numbers. Return False if the cluster has no place for it."""
