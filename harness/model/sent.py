"""Requests that were sent to the nodes, and their descriptions: the plain data that the model reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

WITHIN = 5.0
"""Seconds in which the nodes of the reference cluster have to describe what was asked for before."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that may change something. Fields of body and response have the names of Kafka's message definitions.

    `begun` and `ended` are seconds of the run. Without a response it may be done at any later time, or never.
    """

    api: str
    body: Mapping[str, Any]
    begun: float
    ended: float = inf
    response: Mapping[str, Any] | None = None
    node: str = ""


@dataclass(frozen=True, slots=True)
class Description:
    """The objects of one kind as one node described them between `begun` and `ended`, in seconds of the run."""

    kind: str
    node: str
    objects: Mapping[str, Any]
    begun: float
    ended: float
    scope: Sequence[str] | None = None
    """The objects that were asked for, where these are not all that there are. An object in it that is not in `objects`
    is absent."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One look at everything, once the cluster was whole."""

    name: str
    descriptions: Sequence[Description] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Legacy:
    """The knowledge of a cluster that earlier plans ran on, with times before 0, where the present run begins."""

    requests: Sequence[tuple[int, Sent]] = ()
    """Those of the last plans, each with its age: 1 for those of the plan before."""
    looks: Sequence[Checkpoint] = ()
    """The first and the last look of the plan before."""
    of_clients: frozenset[str] = frozenset()
    """The groups and transactional ids of their workloads."""
