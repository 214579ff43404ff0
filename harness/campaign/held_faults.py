"""Faults that hold: which may hold together, which are healed before another one, and in what order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fencepost.faults.generation import GeneratedFault, HealOrder
from fencepost.harness.campaign.cluster_spec import ClusterSpec

AT_ONCE = 3
"""The number of faults that hold at a time, at most."""


@dataclass
class HeldFault:
    """A fault that was injected and is not healed."""

    name: str
    fault: GeneratedFault
    bound: str | None
    """The bound name of the node that it hit, if it was bound."""
    moves_leader: bool = False
    """Every design of the target promises that this node leads no more, and that another one does."""


def conflicting(
    fault: GeneratedFault, held: Sequence[HeldFault], cluster: ClusterSpec, *, tolerated_only: bool
) -> list[HeldFault]:
    """Return the faults that have to be healed before this one can be injected, in the order of healing."""
    wrong = [
        each
        for each in held
        if each.fault.exclusive
        or fault.exclusive
        or (each.fault.pauses and fault.needs_running_nodes)
        or (clash(fault, each.fault) and not _follows(fault, each))
    ]
    rest = [each for each in held if each not in wrong]
    fragile = fault.fragile or any(each.fault.fragile for each in rest)
    while rest and (
        len(rest) >= AT_ONCE
        or (fragile and not _leaves_one(fault, rest, cluster))
        or (fault.roles and not tolerated(cluster, [each.fault for each in rest]))
        or (tolerated_only and not tolerated(cluster, [fault, *(each.fault for each in rest)]))
    ):
        wrong.append(rest.pop(0))
    return in_order(wrong, held)


def _leaves_one(fault: GeneratedFault, others: Sequence[HeldFault], cluster: ClusterSpec) -> bool:
    return fault.brokers + sum(each.fault.brokers for each in others) < cluster.fewest_replicas


def tolerated(cluster: ClusterSpec, faults: Iterable[GeneratedFault]) -> bool:
    """Return whether no more is away than may be. A node that several roles lead to counts for each of them."""
    faults = list(faults)
    return (
        sum(each.brokers for each in faults) <= cluster.spare_brokers
        and sum(each.quorum for each in faults) <= cluster.spare_quorum
    )


def clash(one: GeneratedFault, other: GeneratedFault) -> bool:
    return any(mine.clashes(theirs) for mine in one.resources for theirs in other.resources)


def _follows(fault: GeneratedFault, held: HeldFault) -> bool:
    """Return whether the fault hits the next leader of a partition while the previous one is still down.

    These are never the same node.
    """
    same_role = fault.aim.is_leader and fault.aim.refs == held.fault.aim.refs
    return held.moves_leader and held.fault.stops_nodes and same_role


def in_order(wanted: Sequence[HeldFault], held: Sequence[HeldFault]) -> list[HeldFault]:
    """Return the wanted faults, and those that have to be healed before them, in the order of healing.

    Links come before a process that needs them, and a pause before anything that needs running processes. Within one
    kind the quorum comes first: a broker that starts may end if it finds none.
    """
    if any(each.fault.heal_order is HealOrder.PROCESSES for each in wanted):
        wanted = [*wanted, *(each for each in held if each.fault.heal_order is HealOrder.LINKS and each not in wanted)]
    if any(each.fault.needs_running_nodes for each in wanted):
        wanted = [*wanted, *(each for each in held if each.fault.pauses and each not in wanted)]
    return sorted(wanted, key=lambda each: (each.fault.heal_order, each.fault.aim.side != "quorum", held.index(each)))
