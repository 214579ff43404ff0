"""A broker's metadata says something."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import NodeRef, NodeRefs, Partition
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class MetadataFrom(AwaitStep):
    """The node's own Metadata response: the partition's leader, the live brokers."""

    phrase = "the metadata of {node} names "
    condition: Literal["metadata-from"] = "metadata-from"
    node: NodeRef
    partition: Partition | None = None
    leader: NodeRef | None = None
    has: NodeRefs | None = None
    lacks: NodeRefs | None = None

    @property
    def clause(self) -> str:
        parts = {"{leader} as leader of {partition}": self.leader, "{has}": self.has, "no {lacks}": self.lacks}
        named = " and ".join(words for words, given in parts.items() if given is not None)
        return self.phrase + (named or "{partition}")

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        node = run.node(self.node)
        has, lacks, leaders = (run.ids(refs) for refs in (self.has, self.lacks, self.leader))

        def holds() -> bool:
            brokers = run.brokers_known_to(node)
            if run.answer(node) != "serving" or not brokers >= has or brokers & lacks:
                return False
            if self.partition is None:
                return True
            described = run.described(node, self.partition)
            return described is not None and (not leaders or described.leader in leaders)

        return Evaluation(holds, lambda: run.broker_in_words(node))
