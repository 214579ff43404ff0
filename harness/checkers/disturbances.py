"""The disturbances of a run: which nodes and links were not left alone, and when, as the journal has it.

A change without a cause is one that no disturbance explains. So everything counts that may be a cause: faults from
their intent to their healing, processes that start, end or sleep, steps that act on the cluster, and processors that
nodes waited for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf

from fencepost.harness.checkers.starvation import SHARE, WaitedTime, read_waits
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.request import KafkaRequest
from fencepost.harness.plan.steps import STEPS, Step
from fencepost.results.records.events import Event
from fencepost.results.records.fault_targets import FaultTargets
from fencepost.results.records.journal import Journal

BETWEEN_NODES = frozenset(
    {
        "add_raft_voter",
        "allocate_producer_ids",
        "alter_partition",
        "assign_replicas_to_dirs",
        "begin_quorum_epoch",
        "broker_heartbeat",
        "broker_registration",
        "controlled_shutdown",
        "controller_registration",
        "end_quorum_epoch",
        "envelope",
        "fetch",
        "fetch_snapshot",
        "leader_and_isr",
        "remove_raft_voter",
        "stop_replica",
        "unregister_broker",
        "update_metadata",
        "update_raft_voter",
        "vote",
    }
)
"""Requests of nodes to each other, and those that change which nodes there are: some of them depose a controller."""
_HARMLESS = frozenset({"await", "inject", "converge"})
"""The kinds of steps without a class of their own that change nothing by themselves."""
_DOWN = frozenset({"intent", "exited", "killed", "paused", "stopping", "stopped"})
_UP = frozenset({"ready", "resumed"})
_FATAL = frozenset({"kill", "power-loss"})


@dataclass(frozen=True, slots=True)
class Disturbance:
    """The nodes and links that were disturbed from `begin` to `end`. Links have no direction.

    `everything`: all of the cluster. `fatal`: the nodes are dead meanwhile, so they decide nothing wrong.
    """

    begin: float
    end: float
    nodes: frozenset[str] = frozenset()
    links: frozenset[frozenset[str]] = frozenset()
    everything: bool = False
    fatal: bool = False

    def meets(self, since: float, until: float) -> bool:
        """Return whether it lasted at any time between the two."""
        return self.begin <= until and self.end >= since


@dataclass(frozen=True)
class Disturbances:
    """All disturbances of a run, and the time at which its steps began: the cluster had converged by then."""

    plan: Plan
    journal: Journal
    requests: bool = True
    """False: the requests of clients do not count as disturbances."""

    def of_node(self, node: str, since: float, until: float, *, fatal: bool = True) -> bool:
        """Return whether the node, or a link of it, was disturbed. Without `fatal`, its deaths do not count."""
        return any(
            each.everything or node in each.nodes or any(node in link for link in each.links)
            for each in self._between(since, until)
            if fatal or not each.fatal
        )

    def of_process(self, node: str, since: float, until: float) -> bool:
        """Return whether the node itself was disturbed, its links aside."""
        return any(each.everything or node in each.nodes for each in self._between(since, until))

    def of_link(self, one: str, other: str, since: float, until: float) -> bool:
        """Return whether the two could not be sure to reach each other all the time."""
        link = frozenset({one, other})
        return any(each.everything or link & each.nodes or link in each.links for each in self._between(since, until))

    def of_processors(self, nodes: Collection[str], since: float, until: float, deadline: float) -> bool:
        """Return whether one of the nodes waited for a processor for too long in any `deadline` seconds of the time."""
        return any(
            waited.within(max(since, wait.end - deadline), wait.end) >= SHARE * deadline
            for waited in map(self._waits.get, nodes)
            if waited is not None
            for wait in waited.between(since, until)
        )

    def first(self, since: float, until: float) -> float:
        """Return the begin of the first disturbance that lasted between the two; `until` if there was none."""
        return max(since, min((each.begin for each in self._between(since, until)), default=until))

    @cached_property
    def begun(self) -> float:
        """Return the time of the first step, infinity if none began."""
        return min((event.t for event in self.journal.of("step", "begin")), default=inf)

    def _between(self, since: float, until: float) -> Iterator[Disturbance]:
        return (each for each in self._all if each.meets(since, until))

    @cached_property
    def _waits(self) -> Mapping[str, WaitedTime]:
        return {node: WaitedTime(waits) for node, waits in read_waits(self.journal).items()}

    @cached_property
    def _all(self) -> tuple[Disturbance, ...]:
        """Return all but those of the start: the cluster converged after them."""
        found = (*self._of_faults(), *self._of_processes(), *self._of_steps())
        return tuple(each for each in found if each.end >= self.begun)

    def _of_faults(self) -> Iterator[Disturbance]:
        originals = {each.name: each.duplicate_of for each in self.plan.topology.nodes if each.duplicate_of is not None}
        open_: dict[str, Event] = {}
        for event in self.journal.of("fault", "intent", "healed"):
            if event.phase == "intent":
                open_[event.id] = event
            elif event.id in open_:
                yield _of_fault(open_.pop(event.id), event.t, originals)
        yield from (_of_fault(event, inf, originals) for event in open_.values())

    def _of_processes(self) -> Iterator[Disturbance]:
        down: dict[str, tuple[float, bool]] = {}
        for event in self.journal.of("node"):
            name = event.node or event.id
            if event.phase in _DOWN:
                down.setdefault(name, (event.t, event.phase == "killed"))
            elif event.phase in _UP and name in down:
                begin, fatal = down.pop(name)
                yield Disturbance(begin, event.t, frozenset({name}), fatal=fatal)
        yield from (Disturbance(begin, inf, frozenset({name}), fatal=fatal) for name, (begin, fatal) in down.items())

    def _of_steps(self) -> Iterator[Disturbance]:
        steps = {self.plan.step_name(place): step for place, step in enumerate(self.plan.steps)}
        begun: dict[str, float] = {}
        for event in self.journal.of("step"):
            step = steps.get(event.id)
            harmless = _is_harmless(step, event) or (not self.requests and is_client_request(step))
            if event.phase == "begin" and not harmless:
                begun[event.id] = event.t
            elif event.phase == "end" and event.id in begun:
                yield Disturbance(begun.pop(event.id), event.t, everything=True)
        yield from (Disturbance(begin, inf, everything=True) for begin in begun.values())


def _of_fault(intent: Event, end: float, originals: Mapping[str, str]) -> Disturbance:
    """Return the disturbance by a fault. One that names neither nodes nor links disturbs everything.

    A second process with the id of a node disturbs that node, too.
    """
    named = FaultTargets.of(intent.data)
    nodes = named.nodes | {originals[each] for each in named.nodes if each in originals}
    fatal = intent.data.get("fault") in _FATAL
    return Disturbance(intent.t, end, nodes, named.links, everything=not named.touched, fatal=fatal)


def _is_harmless(step: Step | None, begun: Event) -> bool:
    """Return whether a step is no cause. A step of a person at a terminal, or of the end of a run, is in no plan."""
    if step is not None:
        return step.harmless
    kind = str(begun.data.get("do"))
    return kind in _HARMLESS or (kind in STEPS and STEPS[kind].harmless)


def is_client_request(step: Step | None) -> bool:
    """Return whether a step is a request that users and administrators may send at any time."""
    if not isinstance(step, KafkaRequest) or not (step.harmless or step.listener is Listener.CLIENT):
        return False
    return not isinstance(step, ApiProbe) or step.api not in BETWEEN_NODES
