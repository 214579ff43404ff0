"""Who leads: the four selectors of 003, PartitionLeaderSelector.

Each is told the assigned replicas in order of preference, the present ISR, and which replicas are online (live broker,
sound log dir). It gives the new leader and ISR, or None if it finds no leader. `stopping` brokers are online, and lead
only what nobody else can.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    leader: int
    isr: tuple[int, ...]


def offline(
    replicas: Sequence[int],
    isr: Sequence[int],
    online: Collection[int],
    stopping: Collection[int],
    *,
    unclean: bool,
) -> Choice | None:
    """OfflinePartitionLeaderSelector: the first online member of the ISR.

    If there is none and unclean elections are allowed, the first online replica: it leads alone, and what only the
    others had is lost.
    """
    lasting = [each for each in online if each not in stopping]
    for candidates in (lasting, online):
        leader = _first(replicas, isr, candidates)
        if leader is not None:
            return Choice(leader, tuple(each for each in isr if each in candidates))
    if unclean:
        for candidates in (lasting, online):
            leader = _first(replicas, replicas, candidates)
            if leader is not None:
                return Choice(leader, (leader,))
    return None


def reassigned(target: Sequence[int], isr: Sequence[int], online: Collection[int]) -> Choice | None:
    """ReassignedPartitionLeaderSelector: the first of the new replicas that is online and in the ISR."""
    leader = _first(target, isr, online)
    return None if leader is None else Choice(leader, tuple(isr))


def preferred(replicas: Sequence[int], isr: Sequence[int], online: Collection[int]) -> Choice | None:
    """PreferredReplicaPartitionLeaderSelector: the first assigned replica, if it is online and in the ISR."""
    leader = _first(replicas[:1], isr, online)
    return None if leader is None else Choice(leader, tuple(isr))


def controlled_shutdown(
    replicas: Sequence[int], isr: Sequence[int], online: Collection[int], stopping: Collection[int]
) -> Choice | None:
    """ControlledShutdownLeaderSelector: a member of the ISR that is not stopping; those that are leave the ISR."""
    lasting = [each for each in online if each not in stopping]
    leader = _first(replicas, isr, lasting)
    return None if leader is None else Choice(leader, tuple(each for each in isr if each not in stopping))


def _first(order: Sequence[int], isr: Sequence[int], online: Collection[int]) -> int | None:
    return next((each for each in order if each in isr and each in online), None)
