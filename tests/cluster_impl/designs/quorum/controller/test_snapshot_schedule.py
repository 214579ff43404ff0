"""When the active controller starts a snapshot, and where."""

from __future__ import annotations

from random import Random

import pytest

from fencepost.cluster_impl.designs.quorum.controller.snapshot_schedule import SnapshotSchedule

LAG, TIMEOUT = 100, 5.0


def schedule() -> SnapshotSchedule:
    """One whose first wait is over at 5.0."""
    return SnapshotSchedule(LAG, TIMEOUT, now=0.0)


@pytest.mark.requirement("K631-24")
def test_the_newest_snapshot_of_every_controller_is_known() -> None:
    known = schedule()
    for controller_id, offset in ((1, 0), (2, 40), (1, 70)):
        known.heard(controller_id, offset, 80, 10.0)
    assert known.offsets == {1: 70, 2: 40}


@pytest.mark.requirement("K631-25")
def test_a_snapshot_is_due_once_the_log_is_long_enough_behind_the_last() -> None:
    assert not schedule().heard(1, 50, 149, 10.0)
    assert schedule().heard(1, 50, 150, 10.0)


@pytest.mark.requirement("K631-25")
def test_the_one_that_was_notified_is_notified_again_until_it_reports_a_newer_snapshot() -> None:
    known = schedule()
    assert known.heard(1, 0, 100, 10.0)
    assert known.heard(1, 0, 100, 12.0)
    assert not known.heard(2, 0, 100, 13.0)
    assert not known.heard(1, 100, 120, 14.0)
    assert known.heard(2, 0, 120, 15.0)


@pytest.mark.requirement("K631-25")
def test_one_that_is_silent_does_not_hold_up_the_others_for_ever() -> None:
    known = schedule()
    assert known.heard(1, 0, 100, 10.0)
    assert not known.heard(2, 0, 100, 15.0)
    assert known.heard(2, 0, 100, 15.1)
    assert not known.heard(1, 0, 100, 15.2)


@pytest.mark.requirement("K631-25")
def test_a_new_active_controller_waits_for_a_snapshot_that_its_predecessor_may_have_started() -> None:
    known = schedule()
    assert not known.heard(1, 0, 1000, 4.9)
    assert known.heard(1, 0, 1000, 5.0)


@pytest.mark.requirement("K631-25")
@pytest.mark.parametrize("seed", range(20))
def test_controllers_that_answer_never_make_two_snapshots_at_once(seed: int) -> None:
    random, known = Random(seed), schedule()
    now, end = 10.0, 0
    offsets, writing = dict.fromkeys((1, 2, 3), 0), set[int]()
    made = 0
    for _ in range(400):
        now, end = now + random.random(), end + random.randrange(30)
        for controller_id in (1, 2, 3):
            if controller_id in writing and random.random() < 0.3:
                writing.remove(controller_id)
                offsets[controller_id] = end
                made += 1
            if known.heard(controller_id, offsets[controller_id], end, now):
                writing.add(controller_id)
            assert len(writing) <= 1
    assert made > 20
