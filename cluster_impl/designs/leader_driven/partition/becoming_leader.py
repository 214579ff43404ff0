"""The wait of a new leader, and its first ISR ("becomeLeader").

A new leader waits until every live replica in AR has caught up with its log end, or until KeepInSyncTime is over.
Clients are not served meanwhile, so the log end stands still. Followers fetch from it during the wait and their
progress counts; without that, the wait of the document could never end early.
"""

from __future__ import annotations

from collections.abc import Collection

from fencepost.cluster_impl.designs.leader_driven.partition.situation import ReplicaAssignment
from fencepost.cluster_impl.replication.progress import Progress


def behind(me: int, assigned: ReplicaAssignment, live: Collection[int], progress: Progress) -> list[int]:
    """Return the live replicas of AR that have not caught up with the leader's log end."""
    return [each for each in assigned.replicas if each != me and each in live and not _caught_up(each, progress)]


def in_sync(me: int, assigned: ReplicaAssignment, live: Collection[int], progress: Progress) -> tuple[int, ...]:
    """Return "the current set of replicas in sync with r", the leader `me` included.

    A broker that is not registered is left out: a process that takes its id later may have fewer records.
    """
    return tuple(each for each in assigned.members if each == me or (each in live and _caught_up(each, progress))) or (
        me,
    )


def _caught_up(replica: int, progress: Progress) -> bool:
    return progress.ends.get(replica, -1) >= progress.log_end_offset
