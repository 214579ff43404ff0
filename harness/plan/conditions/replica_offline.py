"""A replica is listed as offline."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import NodeRef, Partition
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class ReplicaOffline(AwaitStep):
    """The replica on `node` is listed as offline in the Metadata that `asked` answers (None: the active controller)."""

    phrase = "the replica of {partition} on {node} is offline in the metadata of {asked}"
    condition: Literal["replica-offline"] = "replica-offline"
    node: NodeRef
    partition: Partition
    asked: NodeRef | None = None

    @property
    def clause(self) -> str:
        return self.phrase if self.asked else self.phrase.replace("{asked}", "the active controller")

    @property
    def needs_controller(self) -> str | None:
        return "no node in `asked`" if self.asked is None else None

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        replica, asked = run.id(self.node), None if self.asked is None else run.node(self.asked)

        def holds() -> bool:
            described = run.described(asked or run.active_controller(), self.partition)
            return described is not None and replica in described.offline

        def seen() -> str:
            node = asked or run.active_controller()
            described = run.described(node, self.partition)
            offline = list(described.offline) if described else "nothing"
            return f"{node} lists {offline} as offline replicas of {self.partition}"

        return Evaluation(holds, seen)
