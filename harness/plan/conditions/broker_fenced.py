"""A broker is fenced."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import NodeRef
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class BrokerFenced(AwaitStep):
    """The broker is fenced. By `controllers`: in the metadata log. By `itself`: it does not serve clients.

    In a design with ZooKeeper, `controllers` means that the active controller's Metadata response lacks the broker.
    """

    phrase = "the controllers have fenced {node}"
    condition: Literal["broker-fenced"] = "broker-fenced"
    node: NodeRef
    by: Literal["controllers", "itself"] = "controllers"

    @property
    def clause(self) -> str:
        return "{node} serves no client any more" if self.by == "itself" else self.phrase

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        node = run.node(self.node)
        if self.by == "itself":
            return Evaluation(lambda: run.answer(node) in ("refusing", "closed"), lambda: run.broker_in_words(node))
        # One that is only `registered` may still be counted on: that is unknown before a controller answers.
        return Evaluation(
            lambda: run.registered_as(node) not in ("active", "registered"), lambda: run.broker_in_words(node)
        )
