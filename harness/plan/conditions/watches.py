"""ZooKeeper's servers hold a number of watches."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from fencepost.harness.plan.base import Pattern
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class Watches(AwaitStep):
    """All ZooKeeper servers together hold `count` watches. Watches of the harness do not count.

    `leader`: on the /leader of partitions. `other`: on the data or the creation of any other znode. `children`: on the
    children of znodes, whose number servers report, but not their paths. `any`: all of them.
    """

    phrase = "ZooKeeper holds {count} watches"
    uses_zookeeper = True
    condition: Literal["watches"] = "watches"
    kind: Literal["leader", "other", "children", "any"]
    count: Annotated[int, Field(ge=0)]
    topics: Pattern | None = None
    """Count as `leader` only watches on topics whose whole name matches; watches on other topics count as `other`."""

    @model_validator(mode="after")
    def _topics_of_leaders(self) -> Watches:
        if self.topics is not None and self.kind != "leader":
            raise ValueError("`topics` applies to `kind: leader` only: drop it, or change `kind`")
        return self

    @property
    def clause(self) -> str:
        kinds = {"leader": " on leaders", "other": " on other data", "children": " on children"}
        return f"ZooKeeper holds {{count}} watch{'es' if self.count != 1 else ''}{kinds.get(self.kind, '')}"

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        counting = run.watch_count(self.kind, self.topics)
        return Evaluation(
            lambda: counting() == self.count, lambda: "another value was read, or none", lambda: counting.found
        )
