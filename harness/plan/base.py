"""What all parts of a plan share: frozen, no unknown keys, and the small types that recur."""

from __future__ import annotations

import difflib
import re
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError


def _key(attribute: str) -> str:
    """The file's key for an attribute: `as_`, `from_` and `is_` are Python's keywords, not the plan's."""
    return attribute.rstrip("_")


class PlanModel(BaseModel):
    """A frozen part of a plan. An unknown key is refused with the nearest right one."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=_key, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _no_unknown_key(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        known = {_key(name) for name in cls.model_fields}
        for key in data:
            if key in known or key in cls.model_fields:
                continue
            nearest = difflib.get_close_matches(str(key), sorted(known), n=1)
            hint = f"did you mean `{nearest[0]}`?" if nearest else "known here: " + ", ".join(sorted(known))
            raise PydanticCustomError("unknown_key", "unknown key `{key}`", {"key": str(key), "hint": hint})
        return data


Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
"""Of a node, step, fault, topic or client: lower case, digits, dots and dashes."""

NodeRef = str
"""`node-4`, `controllers`, `brokers`, `zookeeper`, `zookeeper-leader`, `active-controller`, `leader:t-0`,
`followers:t-0` or `$bound`. A design without controllers has neither `controllers` nor `active-controller`."""

NodeRefs = NodeRef | Annotated[tuple[NodeRef, ...], Field(min_length=1)]
"""Nobody is `none`, where that can be: an empty list would be lost in the file."""

Partition = Annotated[str, Field(pattern=r"^.+-[0-9]+$")]
"""`t-0`: topic and partition, as Kafka names the folder."""

ZnodePath = Annotated[str, Field(pattern=r"^/.*[^/]$|^/$")]
"""`/brokers/ids/4`: where something is in ZooKeeper's tree."""

Value = int | Annotated[str, Field(pattern=r"^(current|stale|\$.+)$")]
"""A number; `current`: read when the request is sent; `stale`: one below that; `$name`: bound earlier."""

Milliseconds = Annotated[int, Field(ge=0)]

Acks = Literal[0, 1, "all"]

Instant = Annotated[str, Field(pattern=r"^.+\.(begun|injected|proven|healed|ended)$")]
"""`cut.proven`: a moment in the life of a named step or fault."""


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise PydanticCustomError(
            "no_pattern", "{pattern} is no regular expression ({error})", {"pattern": pattern, "error": str(error)}
        ) from None
    return pattern


Pattern = Annotated[str, Field(min_length=1), AfterValidator(_compiles)]
"""A regular expression, searched for in each line."""


class Level(StrEnum):
    """How much an expectation claims: it must be seen, may be seen, must never be seen."""

    MUST = "must"
    MAY = "may"
    NEVER = "never"


class After(PlanModel):
    """Judge only what was sent later than `plus_ms` after `event`: what was under way before may complete."""

    event: Instant
    plus_ms: Milliseconds = 0


class Said(PlanModel):
    """A line of a node's log in which `says` is found: the first since `since`, or since the run began.

    Without `node` it is the log of the one node that the fault hits.
    """

    says: Pattern
    node: NodeRef | None = None
    since: Instant | None = None
    within_ms: Milliseconds = 30_000


class Expect(PlanModel):
    """A claim about the thing that the step does or waits for, and the requirement it belongs to."""

    level: Level
    requirement: str
    difference: str | None = None
    """The id of the target's known difference that this claim checks instead of the document's rule."""


class ExpectOutcome(Expect):
    """A claim about each answer of a probe."""

    outcome: Annotated[str, Field(pattern=r"^(served|refused|unanswered|error:-?\d+|error:\[-?\d+(, ?-?\d+)*\])$")]
    """`served`; `refused` (any error, or closed); `error:77`; `error:[74,75]`; `unanswered` (in time)."""
