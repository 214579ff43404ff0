from __future__ import annotations

from fencepost.cluster_impl.designs.shared.heartbeats import PendingHeartbeat


def test_only_the_answer_to_the_newest_heartbeat_counts() -> None:
    pending = PendingHeartbeat()
    first, second = pending.next(), pending.next()
    assert not pending.is_pending(first)
    assert pending.is_pending(second)


def test_giving_up_an_older_heartbeat_leaves_the_newer_one_pending() -> None:
    pending = PendingHeartbeat()
    first, second = pending.next(), pending.next()
    pending.give_up(first)
    assert pending.is_pending(second)
    pending.give_up(second)
    assert not pending.is_pending(second)
