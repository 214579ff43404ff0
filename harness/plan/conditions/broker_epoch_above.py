"""A broker registered again."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import NodeRef, Value
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class BrokerEpochAbove(AwaitStep):
    """The broker registered again: its epoch in the metadata log is above `value`."""

    phrase = "{node} has a broker epoch above {value}"
    reads_decisions = True
    condition: Literal["broker-epoch-above"] = "broker-epoch-above"
    node: NodeRef
    value: Value

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        node = run.node(self.node)
        before = run.broker_epoch(self.value, node)
        return Evaluation(lambda: run.broker_epoch_now(node) > before, lambda: run.broker_in_words(node))
