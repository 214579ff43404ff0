"""What a new leader waits for, and who is in sync when it has waited ("becomeLeader").

It waits until every live replica in AR has caught up with its log end, which no client moves meanwhile, or until
KeepInSyncTime is over. Its followers fetch from it all the while, and are counted: without that the wait of the
document could never end before its time.
"""

from __future__ import annotations

from collections.abc import Collection

from cluster_impl.designs.leader_driven.partition.situation import Assigned
from cluster_impl.replication.progress import Progress


def behind(me: int, assigned: Assigned, live: Collection[int], progress: Progress) -> list[int]:
    """The live replicas of AR that have not caught up."""
    return [each for each in assigned.replicas if each != me and each in live and not _caught_up(each, progress)]


def in_sync(me: int, assigned: Assigned, live: Collection[int], progress: Progress) -> tuple[int, ...]:
    """ "the current set of replicas in sync with r". A broker that is not registered is none: another process of its id
    may come back with less."""
    return tuple(each for each in assigned.members if each == me or (each in live and _caught_up(each, progress))) or (
        me,
    )


def _caught_up(replica: int, progress: Progress) -> bool:
    return progress.ends.get(replica, -1) >= progress.log_end_offset
