"""A znode exists, with a text in it, or does not exist."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from fencepost.harness.plan.base import ZnodePath
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class Znode(AwaitStep):
    """A path of ZooKeeper's tree exists or not; if `has` is given, its data contains this text."""

    phrase = "{path} exists in ZooKeeper"
    uses_zookeeper = True
    condition: Literal["znode"] = "znode"
    path: ZnodePath
    exists: bool = True
    has: str | None = None

    @model_validator(mode="after")
    def _data_of_what_is_there(self) -> Znode:
        if self.has is not None and not self.exists:
            raise ValueError("a znode that does not exist has no data: drop `has`, or `exists: false`")
        return self

    @property
    def clause(self) -> str:
        if not self.exists:
            return "{path} does not exist in ZooKeeper"
        return self.phrase if self.has is None else self.phrase + " and contains {has}"

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        read = run.znode(self.path)

        def holds() -> bool:
            text = read()
            return self.exists is (text is not None) and (text is None or self.has is None or self.has in text)

        def seen() -> str:
            text = read()
            return f"{self.path} does not exist" if text is None else f"{self.path} holds {text!r}"

        return Evaluation(holds, seen)
