"""The four leader selectors (Kafka Internals (2017), PartitionLeaderSelector).

Each gets the assigned replicas in order of preference, the present ISR, and the online replicas (live broker, working
log dir). It returns the new leader and ISR, or None if no replica can lead. `stopping` brokers are online, and lead
only partitions that no other broker can lead.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LeaderChoice:
    """The new leader and ISR of a partition."""

    leader: int
    isr: tuple[int, ...]


def offline(
    replicas: Sequence[int],
    isr: Sequence[int],
    online: Collection[int],
    stopping: Collection[int],
    *,
    unclean: bool,
) -> LeaderChoice | None:
    """OfflinePartitionLeaderSelector: the first online member of the ISR.

    If there is none and unclean elections are allowed, the first online replica leads alone, and records that only the
    others had are lost.
    """
    lasting = [replica for replica in online if replica not in stopping]
    for candidates in (lasting, online):
        leader = _first(replicas, isr, candidates)
        if leader is not None:
            return LeaderChoice(leader, tuple(replica for replica in isr if replica in candidates))
    if unclean:
        for candidates in (lasting, online):
            leader = _first(replicas, replicas, candidates)
            if leader is not None:
                return LeaderChoice(leader, (leader,))
    return None


def reassigned(target: Sequence[int], isr: Sequence[int], online: Collection[int]) -> LeaderChoice | None:
    """ReassignedPartitionLeaderSelector: the first of the new replicas that is online and in the ISR."""
    leader = _first(target, isr, online)
    return None if leader is None else LeaderChoice(leader, tuple(isr))


def preferred(replicas: Sequence[int], isr: Sequence[int], online: Collection[int]) -> LeaderChoice | None:
    """PreferredReplicaPartitionLeaderSelector: the first assigned replica, if it is online and in the ISR."""
    leader = _first(replicas[:1], isr, online)
    return None if leader is None else LeaderChoice(leader, tuple(isr))


def controlled_shutdown(
    replicas: Sequence[int], isr: Sequence[int], online: Collection[int], stopping: Collection[int]
) -> LeaderChoice | None:
    """ControlledShutdownLeaderSelector: a member of the ISR that is not stopping; those that are leave the ISR."""
    lasting = [replica for replica in online if replica not in stopping]
    leader = _first(replicas, isr, lasting)
    return (
        None if leader is None else LeaderChoice(leader, tuple(replica for replica in isr if replica not in stopping))
    )


def _first(order: Sequence[int], isr: Sequence[int], online: Collection[int]) -> int | None:
    return next((replica for replica in order if replica in isr and replica in online), None)
