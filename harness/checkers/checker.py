"""The registration of a checker: what it judges, what a run must have for it, and what follows from its violation."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Generic, ParamSpec, TypeVar

from fencepost.harness.checkers.check import Check, RunCheck
from fencepost.results.records.events import PHASES
from fencepost.results.records.verdict import Finding

_DATA_KINDS: Mapping[str, frozenset[str]] = {
    "op": frozenset(
        {
            *("send", "poll", "poll-final", "final", "admin", "topics", "probe", "request", "inherited", "describe"),
            *("assigned", "revoked", "lost", "start-over", "commit-offsets", "committed-offsets"),
            *("init-transactions", "send-offsets", "end-transaction"),
        }
    ),
    "state": frozenset(
        {
            *("answer", "broker", "controller", "end", "ensemble", "listed", "partition", "partition-gone"),
            *("processor", "queue", "server"),
        }
    ),
}
"""The kinds of events whose data, and not their phase, tells them apart."""
KINDS: frozenset[str] = frozenset(
    f"{event_type}:{kind}"
    for event_type, phases in PHASES.items()
    if event_type != "note"
    for kind in _DATA_KINDS.get(event_type, phases)
)
"""The kinds of events that evidence consists of: `op:send`, `state:partition`, `fault:proven`."""

P = ParamSpec("P")
R = TypeVar("R", bound=Finding | Iterable[Finding])


class Need(Enum):
    """A part of a run without which a checker has nothing to judge."""

    CONTROLLERS = "one controller that decides for the whole cluster"
    QUORUM = "controllers that elect one of them"
    ZOOKEEPER = "a controller that is elected in ZooKeeper"
    DECISIONS = "a control plane whose decisions are visible"
    FENCING = "brokers that promise to fence"
    REPLICAS = "partitions that have the replicas that were asked for"
    TRANSACTIONS = "a producer with transactions"
    GROUPS = "a consumer group that commits its offsets"
    RECREATED_TOPIC = "a topic that the plan deletes and creates again"
    LOGS = "the log directories of the nodes"


class LossRole(Enum):
    """The part of a violation when committed records are gone (decision 0046)."""

    LEAD = "it says the whole loss"
    PART = "it is a consequence of the loss, if it is about the same offsets"


@dataclass(frozen=True)
class Checker(Generic[P, R]):
    """A pure function from parts of a recorded run to findings.

    Its parameters name what it reads of `RecordedRun`. Findings are in the order of `rank`, the most severe first: from
    10 on records that are gone, from 20 on records that are wrong, from 30 on their order, from 40 on transactions and
    groups, from 50 on logs, from 60 on topics, from 70 on leadership, from 80 on nodes, from 90 on the plan's steps.
    """

    function: Callable[P, R]
    checks: tuple[Check | RunCheck, ...]
    rank: int
    needs: frozenset[Need] = frozenset()
    every_run: bool = False
    """Every run that has what the checker needs is judged by it, so that plans name the rules among theirs."""
    loss: LossRole | None = None
    coverage: bool = False
    """It judges no rule, but whether the run did enough for the rules to be judged."""
    rests_on: frozenset[str] | None = None
    """The kinds of events without any of which nothing can be judged: `op:send`, `state:partition`, `fault:proven`."""
    counts: frozenset[str] = frozenset()
    """The kinds of which each event is one of the items judged."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the names of what it reads of a recorded run."""
        return tuple(inspect.signature(self.function, follow_wrapped=False).parameters)

    @property
    def judges_records(self) -> bool:
        """Return whether its findings are about records, which a known mechanism can have lost."""
        return not {"history", "replicas", "comparison", "affected"}.isdisjoint(self.reads)

    @property
    def module(self) -> str:
        """Return the module that defines it: `fencepost.harness.checkers.lost_write`."""
        return self.function.__module__

    @property
    def requirements(self) -> tuple[str, ...]:
        """Return the rules that it judges."""
        rules = [check for check in self.checks if isinstance(check, Check)]
        return tuple(dict.fromkeys(rule for check in rules for rule in check.requirements))


def checker(
    *checks: Check | RunCheck,
    rank: int,
    needs: Iterable[Need] = (),
    every_run: bool = False,
    loss: LossRole | None = None,
    coverage: bool = False,
    rests_on: Iterable[str] | None = None,
    counts: Iterable[str] = (),
) -> Callable[[Callable[P, R]], Checker[P, R]]:
    """Register a function as the checker that returns findings of these checks.

    TypeError for a need or a kind of event that does not exist: no run would have it, and the checker would be asked
    of none, or its evidence be taken from none.
    """
    if not checks:
        raise TypeError("a checker names the checks whose findings it returns")
    needed = frozenset(needs)
    if unknown := [repr(need) for need in needed if not isinstance(need, Need)]:
        raise TypeError(f"{checks[0].name} needs {', '.join(unknown)}, which is no Need")
    kinds = None if rests_on is None else frozenset(rests_on)
    items = frozenset(counts)
    for kind in sorted(items.union(kinds or ()) - KINDS):
        near = difflib.get_close_matches(kind, KINDS, n=1)
        hint = f": did you mean {near[0]}?" if near else ""
        raise TypeError(f"{checks[0].name} names {kind}, a kind of event that no journal has{hint}")
    return lambda function: Checker(function, checks, rank, needed, every_run, loss, coverage, kinds, items)
