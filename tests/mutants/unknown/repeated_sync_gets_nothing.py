"""A coordinator that gives each member its assignment once: a repeated SyncGroup gets an empty one.

Kafka answers SyncGroup of a stable group with the assignment. A member that lost it goes on without partitions, and the
group looks stable; none reads them (GRP-03).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fencepost.cluster_impl.api.groups.group import Group, Replies, Synced, Token
from tests.mutants.defect import ALL, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("GRP-03",),
    scenarios=(),
    unit="tests/mutants/unknown/test_lost_answer.py::test_a_repeated_sync_gets_the_assignment_again",
    kind=Kind.LOST_ANSWER,
)


def apply() -> None:
    honest = Group.sync
    given: set[tuple[str, str, int]] = set()

    def sync(
        self: Group,
        member_id: str,
        instance: str | None,
        generation: int,
        assignments: Mapping[str, bytes],
        token: Token,
        now: float,
    ) -> Replies:
        sent = (self.group_id, member_id, generation)
        replies = honest(self, member_id, instance, generation, assignments, token, now)
        if sent in given:
            return [
                (to, replace(reply, assignment=b"") if isinstance(reply, Synced) and to is token else reply)
                for to, reply in replies
            ]
        given.add(sent)
        return replies

    Group.sync = sync  # type: ignore[method-assign]
