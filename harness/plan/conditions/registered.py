"""A broker's id is registered in ZooKeeper."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import NodeRef
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class Registered(AwaitStep):
    """ZooKeeper has (or, with `is: false`, lacks) a registration of the broker's id, from whichever process."""

    phrase = "the id of {node} is registered in ZooKeeper"
    uses_zookeeper = True
    condition: Literal["registered"] = "registered"
    node: NodeRef
    is_: bool = True

    @property
    def clause(self) -> str:
        return self.phrase if self.is_ else "the id of {node} is not registered in ZooKeeper"

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        node = run.node(self.node)
        return Evaluation(
            lambda: (run.registered_as(node) not in (None, "gone")) is self.is_, lambda: run.broker_in_words(node)
        )
