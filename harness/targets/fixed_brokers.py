"""The key `brokers` of a target file: how many brokers a cluster has, and their ids, where the program fixes them."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from fencepost.faults.parameters import PlanModel
from fencepost.harness.plan.topologies import BROKER_IDS


class FixedBrokers(PlanModel):
    """The brokers of each cluster of a target, by their ids."""

    ids: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1, max_length=9)] = BROKER_IDS
    front_ends: Annotated[int, Field(ge=1, le=4)] = 1
    """The processes of each broker: they share its id, and each lists itself only."""
    count: Annotated[int, Field(ge=1, le=9)] = len(BROKER_IDS)

    @model_validator(mode="before")
    @classmethod
    def _of_one_another(cls, keys: object) -> object:
        """Take the number from the ids, or the usual ids for a number."""
        if isinstance(keys, dict) and "ids" in keys and "count" not in keys and isinstance(keys["ids"], list):
            return {**keys, "count": len(keys["ids"])}
        if isinstance(keys, dict) and "ids" not in keys and isinstance(keys.get("count"), int):
            return {**keys, "ids": list(range(BROKER_IDS[0], BROKER_IDS[0] + keys["count"]))}
        return keys

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(set(self.ids)) != self.count:
            raise PydanticCustomError(
                "brokers", "`count` is {count}: list as many different `ids`", {"count": self.count}
            )
        return self
