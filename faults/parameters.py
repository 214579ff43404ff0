"""The parameters of faults as plans write them, and the small types of the plan language that they consist of."""

from __future__ import annotations

import ast
import difflib
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from inspect import cleandoc, getsource
from itertools import pairwise
from textwrap import dedent
from typing import Annotated, Any, ClassVar, Literal, Protocol, Self, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

MOVING = (
    "leader:",
    "followers:",
    "coordinator:",
    "transaction-coordinator:",
    "active-controller",
    "standby-controller",
    "zookeeper-leader",
)
"""Prefixes of the references that lead to different nodes at different times."""


def key_of(attribute: str) -> str:
    """Return the key in the file for an attribute: `as_`, `from_` and `is_` avoid keywords of Python."""
    return attribute.rstrip("_")


def unknown_key(key: str, known: Iterable[str]) -> PydanticCustomError:
    """Return the error for a key that a mapping does not have, with the nearest right one."""
    known = sorted(known)
    nearest = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean `{nearest[0]}`?" if nearest else "known here: " + ", ".join(known)
    return PydanticCustomError("unknown_key", "unknown key `{key}`", {"key": key, "hint": hint})


class PlanModel(BaseModel):
    """A frozen part of a plan. An unknown key is refused with the nearest right one."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=key_of, populate_by_name=True, defer_build=True
    )

    @model_validator(mode="before")
    @classmethod
    def _no_unknown_key(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        known = {key_of(name) for name in cls.model_fields}
        for key in data:
            if key in known or key in cls.model_fields:
                continue
            raise unknown_key(str(key), known)
        return data


Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
"""The name of a node, step, fault, topic or client: lower case, digits, dots and dashes."""


class Refers(Enum):
    """The thing of a plan that the text of a field refers to. A type of the language has it as its mark.

    What a reference leads to is checked by its mark, so a field of a type with a mark is never overlooked.
    """

    NODE = "node"
    NO_NODE = "no node"
    """The text may also be `none`: no node is meant."""
    PARTITION = "partition"
    VALUE = "value"
    PRODUCER = "producer"
    CONSUMER = "consumer"
    GROUP = "group"
    CLIENT = "producer or consumer"


NodeRef = Annotated[str, Refers.NODE]
"""`node-4`, `controllers`, `brokers`, `zookeeper`, `zookeeper-leader`, `active-controller`, `standby-controller`,
`leader:t-0`, `followers:t-0`, `coordinator:g` of a group, `transaction-coordinator:x` of a transactional id, or
`$bound`. A design without controllers has none of those with `controller` in their names."""

NodeRefs = NodeRef | Annotated[tuple[NodeRef, ...], Field(min_length=1)]
"""One reference or several. Where a plan may name no node it writes `none`: an empty list would be lost in the file."""

NodeRefOrNone = Annotated[NodeRef, Refers.NO_NODE]
NodeRefsOrNone = Annotated[NodeRefs, Refers.NO_NODE]

Partition = Annotated[str, Field(pattern=r"^.+-[0-9]+$"), Refers.PARTITION]
"""`t-0`: topic and partition, as Kafka names the folder."""

Milliseconds = Annotated[int, Field(ge=0)]


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise PydanticCustomError(
            "no_pattern", "{pattern} is not a regular expression ({error})", {"pattern": pattern, "error": str(error)}
        ) from None
    return pattern


Pattern = Annotated[str, Field(min_length=1), AfterValidator(_compiles)]
"""A regular expression, searched for in each line."""

EndingMethod = Literal["kill", "shutdown"]
"""The way a node is ended: SIGKILL, or SIGTERM as an operator does it."""


class PlannedNode(Protocol):
    """A node of a plan's topology."""

    @property
    def name(self) -> str: ...

    @property
    def start(self) -> str:
        """`now`, or `later` if a step starts it."""

    @property
    def duplicate_of(self) -> str | None: ...

    @property
    def directory(self) -> str:
        """Contents of a duplicate's log directory at its start: `empty`, `cloned` or `same`."""

    @property
    def clock(self) -> str:
        """`machine`, or `own` if its wall clock can be changed."""


class FaultParameters(PlanModel):
    """The parameters of one fault. Each fault declares its own subclass; the plan's inject step extends that.

    The docstring of a field is its help in `fencepost inject`.
    """

    one_node: ClassVar[tuple[str, ...]] = ("node",)
    """The fields that refer to exactly one node."""
    many_nodes: ClassVar[tuple[str, ...]] = ("nodes", "from_", "to")
    """The fields that refer to any number of nodes."""

    @classmethod
    def meanings(cls) -> dict[str, str]:
        """Return the docstrings of the fields, by name.

        They are read from the source where they are shown: pydantic would read them in every process that reads a plan.
        """
        return {
            field.target.id: cleandoc(text)
            for model in reversed(cls.__mro__)
            if issubclass(model, FaultParameters) and model is not FaultParameters
            for field, docstring in pairwise(ast.parse(dedent(getsource(model))).body[0].body)  # type: ignore[attr-defined]
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
            if isinstance(docstring, ast.Expr) and isinstance(docstring.value, ast.Constant)
            if isinstance(text := docstring.value.value, str)
        }

    @property
    def aims(self) -> tuple[str, ...]:
        """All references to nodes, as the plan has them."""
        given: list[NodeRefs | None] = [getattr(self, key, None) for key in (*self.one_node, *self.many_nodes)]
        return tuple(ref for refs in given if refs for ref in names_in(refs))

    def resolved(self, one: Callable[[NodeRef], str], many: Callable[[NodeRefs], Iterable[str]]) -> Self:
        """Return a copy with the names of nodes in place of references: what a fault is built with."""
        fields = type(self).model_fields
        nodes: dict[str, object] = {key: tuple(many(getattr(self, key))) for key in self.many_nodes if key in fields}
        nodes |= {key: one(ref) for key in self.one_node if (ref := getattr(self, key, None)) is not None}
        return self.model_copy(update=nodes)

    def problems(self, nodes: Iterable[PlannedNode], backups: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield (key, message) for each thing that is wrong with this fault in a plan with these nodes.

        `backups`: the names of the backup steps that come before. Unknown references are found without this.
        """
        return iter(())


@functools.cache
def references(model: type[PlanModel]) -> Mapping[str, frozenset[Refers]]:
    """Return the fields of a model whose values refer to something, with the marks of their types."""
    marks = {name: frozenset(_marks([field.annotation, *field.metadata])) for name, field in model.model_fields.items()}
    return {name: value for name, value in marks.items() if value}


def _marks(parts: Iterable[Any]) -> Iterator[Refers]:
    for part in parts:
        if isinstance(part, Refers):
            yield part
        else:
            yield from _marks((*get_args(part), *getattr(part, "__metadata__", ())))


def names_in(refs: NodeRefs) -> tuple[str, ...]:
    """Return one reference or several as a tuple."""
    return (refs,) if isinstance(refs, str) else tuple(refs)
