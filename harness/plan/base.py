"""The small types that recur in all parts of a plan. Those that fault parameters need stand in `faults.parameters`."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from fencepost.faults.parameters import (
    Milliseconds,
    Name,
    NodeRef,
    NodeRefOrNone,
    NodeRefs,
    NodeRefsOrNone,
    Partition,
    Pattern,
    PlanModel,
    Refers,
)

__all__ = [
    "Acks",
    "After",
    "ClientRef",
    "ConsumerRef",
    "Expect",
    "ExpectOutcome",
    "GroupRef",
    "Instant",
    "Level",
    "LogLine",
    "Milliseconds",
    "Name",
    "NodeRef",
    "NodeRefOrNone",
    "NodeRefs",
    "NodeRefsOrNone",
    "Partition",
    "Pattern",
    "PlanModel",
    "ProducerRef",
    "Release",
    "SettingKey",
    "SettingValue",
    "Value",
    "ZnodePath",
    "release_range",
]

ZnodePath = Annotated[str, Field(pattern=r"^/.*[^/]$|^/$")]
"""A path in ZooKeeper's tree: `/brokers/ids/4`."""

Value = int | Annotated[str, Field(pattern=r"^(current|stale|\$.+)$"), Refers.VALUE]
"""A number; `current`: read when the request is sent; `stale`: one below that; `$name`: bound earlier."""

ProducerRef = Annotated[str, Refers.PRODUCER]
"""A producer of the workload, or a produce step."""
ConsumerRef = Annotated[str, Refers.CONSUMER]
ClientRef = Annotated[str, Refers.CLIENT]
"""A producer or a consumer of the workload."""
GroupRef = Annotated[str, Refers.GROUP]

Acks = Literal[0, 1, "all"]

Release = Literal["old", "new"]
"""One of the two releases of a target that is upgraded, such as `apache-kafka:3.9.2..4.4.0`."""

Instant = Annotated[str, Field(pattern=r"^.+\.(begun|injected|proven|healed|ended)$")]
"""`cut.proven`: a moment in the life of a named step or fault."""


class Level(StrEnum):
    """The strength of an expectation: it must be seen, may be seen, or must never be seen."""

    MUST = "must"
    MAY = "may"
    NEVER = "never"


def release_range(version: str) -> tuple[str, str] | None:
    """Return the old and the new release of `3.9.2..4.4.0`; None for a single version."""
    old, dots, new = version.partition("..")
    return (old, new) if dots else None


class After(PlanModel):
    """Judge only requests sent later than `plus_ms` after `event`; requests in flight at `event` may complete."""

    event: Instant
    plus_ms: Milliseconds = 0


class LogLine(PlanModel):
    """The first line of a node's log that matches `says`, since `since` or since the run began.

    Without `node` it is the log of the one node that the fault hits.
    """

    says: Pattern
    node: NodeRef | None = None
    since: Instant | None = None
    within_ms: Milliseconds = 30_000


class Expect(PlanModel):
    """A claim about the effect of a step or the condition it awaits, and the requirement that it proves."""

    level: Level
    requirement: str
    also: tuple[str, ...] = ()
    """Further requirements that the same claim proves."""
    difference: str | None = None
    """The id of the target's known difference that this claim checks instead of the document's rule."""


Outcome = Annotated[
    str, Field(pattern=r"^(served|refused|different|unanswered|error:-?\d+|error:\[-?\d+(, ?-?\d+)*\])$")
]
"""`served`; `refused` (any error, or closed); `error:77`; `error:[74,75]`; `unanswered` in time; `different` (a probe's
`answer` has other values)."""


BugId = Annotated[str, Field(pattern=r"^[A-Z]{2,10}-[0-9]{1,6}$")]


class KnownBug(PlanModel):
    """A bug of the target's release that a step can meet, and the outcome by which its answers show it."""

    id: BugId
    outcome: Outcome


class ExpectOutcome(Expect):
    """A claim about each answer of a probe."""

    outcome: Outcome
    optional: bool = False
    """The request may find no node. If no answer can be judged, the claim is not exercised, and not inconclusive."""
    known_bug: KnownBug | None = None
    """Answers with its outcome are this bug, are counted, and break nothing; all others are judged as without it."""


def _key(key: str) -> str:
    if re.search(r"[\s=:\\#!]", key) or not key:
        raise PydanticCustomError("setting", "a configuration key has no blank, and none of = : # ! \\")
    return key


def _one_line(value: str) -> str:
    if re.search(r"[\r\n]|\\$", value):
        raise PydanticCustomError("setting", "the value of a configuration key is one line that does not end with \\")
    return value


SettingKey = Annotated[str, AfterValidator(_key)]
"""A key as it stands in a file of `key=value` lines: another text could be read there as another key."""
SettingValue = Annotated[str, AfterValidator(_one_line)]
"""A value as it stands there: another text could bring a line of its own, or take the next one in."""
