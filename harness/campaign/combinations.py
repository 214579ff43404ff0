"""The combinations that a plan tries: what happens, to which role, in which state of the cluster, beside which clients.

A timeline is abstracted to states, as Mallory does it (Meng et al., CCS 2023): what counts is which faults were at work
and whether the cluster had become whole, not the second. The same words describe what a plan tries (`tried`) and what a
run reached (`reached`), so that both can be counted together.

A combination has four factors: `kind` (a fault, `ask create-topic`, `roll`), `role`, `state` and `clients`. Fewer of
them are enough for most failures: the cumulative share of failures that one factor triggers is 40 %, two 76 %, three
91 %, four 98 % (Kuhn, Wallace, Gallo, IEEE TSE 2004). `parts` therefore has all smaller combinations too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Plan, WorkloadSpec
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps.bind import Bind
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.heal_all import HealAll
from fencepost.harness.plan.steps.roll import Roll
from fencepost.harness.plan.steps.shutdown import Shutdown

ANY = "*"
"""Stands for every value of a factor in a smaller combination."""
SEPARATOR = " | "
WHOLE, RECOVERING = "whole", "recovering"
PLAIN = "plain"
"""The clients of a plan that has only producers at acks=all."""


@dataclass(frozen=True, order=True)
class Combination:
    """A kind of event, the role that it hit, the state of the cluster, and the clients beside it."""

    kind: str
    role: str
    state: str
    clients: str

    def __str__(self) -> str:
        return SEPARATOR.join((self.kind, self.role, self.state, self.clients))

    @classmethod
    def read(cls, text: str) -> Combination:
        """Return the combination that `str` wrote. Raise ValueError."""
        factors = text.split(SEPARATOR)
        if len(factors) != 4 or not all(factors):
            raise ValueError(f"`{text}` is no combination: `kind | role | state | clients`")
        return cls(*factors)

    @property
    def factors(self) -> int:
        """The number of factors that have a value, 1 to 4."""
        return sum(each != ANY for each in (self.kind, self.role, self.state, self.clients))


def parts(combinations: Iterable[Combination]) -> frozenset[Combination]:
    """Return the combinations and all smaller ones that they have: those with `ANY` role, state or clients."""
    return frozenset(
        Combination(each.kind, *smaller)
        for each in combinations
        for smaller in product((each.role, ANY), (each.state, ANY), (each.clients, ANY))
    )


def tried(plan: Plan) -> frozenset[Combination]:
    """Return what the plan tries, as far as it shows before it runs. Linear in its steps.

    The role of a node that the plan names is the one that it has on the fresh cluster.
    """
    clients = kinds_of_clients(plan.workload) or (PLAIN,)
    return frozenset(
        Combination(kind, role, state, beside)
        for kind, roles, states in _events(plan)
        for role in roles
        for state in states
        for beside in clients
    )


@dataclass(frozen=True)
class Reached:
    """A fault of a run: the roles that it hit, and the time for which it was at work, in seconds since the begin."""

    kind: str
    roles: frozenset[str]
    cluster: str
    """The state of the cluster when it was ordered, in the words of the results store."""
    begin: float
    end: float


def reached(faults: Sequence[Reached], clients: Iterable[str]) -> frozenset[Combination]:
    """Return what the faults of one run met. `clients`: its kinds of clients."""
    beside = tuple(clients) or (PLAIN,)
    found = set[Combination]()
    for each in faults:
        others = [other.kind for other in faults if other is not each and other.begin < each.begin < other.end]
        settled = RECOVERING if each.cluster in ("under-replicated", "leaderless") else WHOLE
        states = [f"during {kind}" for kind in others] or [settled]
        found |= {Combination(each.kind, *rest) for rest in product(each.roles, states, beside)}
    return frozenset(found)


def kinds_of_clients(workload: WorkloadSpec) -> tuple[str, ...]:
    """Return the kinds of clients of a workload beside the producers at acks=all that every plan has, sorted."""
    found = set[str]()
    for producer in workload.producers:
        found |= {f"acks={producer.acks}"} if producer.acks != "all" else set()
        found |= {"idempotent"} if producer.idempotent else set()
        found |= {"transactions"} if producer.transactions is not None else set()
    for consumer in workload.consumers:
        found.add("consumer" if consumer.membership is None else "group")
    return tuple(sorted(found))


def _events(plan: Plan) -> Iterator[tuple[str, Iterable[str], Iterable[str]]]:
    """Yield the kind of each fault, request and restart of the plan, with its roles and states."""
    roles, bound = _Roles(plan), dict[str, str]()
    held = dict[str, str]()
    settled = WHOLE
    for step in plan.steps:
        states = [f"during {kind}" for kind in dict.fromkeys(held.values())] or [settled]
        match step:
            case InjectStep():
                aims = (bound.get(ref, ref) for ref in step.aims)
                yield step.fault, roles.of(aims), states
                held[step.as_] = step.fault
            case Heal():
                held.pop(step.fault, None)
                settled = RECOVERING
            case HealAll():
                held.clear()
                settled = RECOVERING
            case Converged() if not held:
                settled = WHOLE
            case Bind() if step.node is not None:
                bound[f"${step.as_}"] = step.node
            case ProbeStep():
                request = step.api if isinstance(step, ApiProbe) else getattr(step, "request", "probe")
                yield f"ask {request}", roles.of([bound.get(step.node, step.node)]), states
            case Roll():
                yield "roll", roles.of([bound.get(step.node, step.node)]), states
            case Shutdown():
                named = (step.nodes,) if isinstance(step.nodes, str) else step.nodes
                yield "shutdown", roles.of(bound.get(each, each) for each in named), states


class _Roles:
    """The roles that references of a plan lead to, in the words of the results store."""

    def __init__(self, plan: Plan) -> None:
        first = {replicas[0] for topic in plan.topics for replicas in topic.assignments}
        later = {id for topic in plan.topics for replicas in topic.assignments for id in replicas[1:]}
        self._named = dict[str, frozenset[str]]()
        for node in plan.topology.nodes:
            if node.duplicate_of is not None:
                found = {"duplicate"}
            elif "zookeeper" in node.roles:
                found = {"ZooKeeper follower"}
            elif "controller" in node.roles:
                found = {"standby controller"}
            else:
                found = {role for role, ids in (("leader", first), ("ISR member", later)) if node.id in ids}
            self._named[node.name] = frozenset(found) or frozenset({"broker without replicas"})
        self._groups = {
            "brokers": frozenset({"leader", "ISR member"}),
            "controllers": frozenset({"active controller", "standby controller"}),
            "zookeeper": frozenset({"ZooKeeper leader", "ZooKeeper follower"}),
            "active-controller": frozenset({"active controller"}),
            "standby-controller": frozenset({"standby controller"}),
            "zookeeper-leader": frozenset({"ZooKeeper leader"}),
        }

    def of(self, refs: Iterable[str]) -> frozenset[str]:
        return frozenset(role for ref in refs for role in self._one(ref))

    def _one(self, ref: str) -> frozenset[str]:
        match ref.partition(":")[0]:
            case "leader" | "coordinator" | "transaction-coordinator":  # it leads a partition of an internal topic
                return frozenset({"leader"})
            case "followers":
                return frozenset({"ISR member"})
            case "site":
                return frozenset({"client site"})
        return self._groups.get(ref) or self._named.get(ref) or frozenset()
