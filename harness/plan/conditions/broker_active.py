"""A broker is active."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import NodeRef
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class BrokerActive(AwaitStep):
    """The broker is registered and unfenced in the metadata log, and answers clients.

    In a design with ZooKeeper: it is registered there, and in the active controller's Metadata response.
    """

    phrase = "{node} is active"
    condition: Literal["broker-active"] = "broker-active"
    node: NodeRef

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        node = run.node(self.node)
        return Evaluation(
            lambda: run.registered_as(node) == "active" and run.answer(node) == "serving",
            lambda: run.broker_in_words(node),
        )
