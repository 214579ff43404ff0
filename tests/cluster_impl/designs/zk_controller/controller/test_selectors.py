from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.zk_controller.controller.state import selectors
from fencepost.cluster_impl.designs.zk_controller.controller.state.selectors import LeaderChoice

Ids = tuple[int, ...]


@pytest.mark.requirement("INT-37", "DINT-13")
@pytest.mark.parametrize(
    ("isr", "online", "stopping", "choice"),
    [
        ((1, 2, 3), (2, 3), (), LeaderChoice(2, (2, 3))),
        ((3, 2), (2, 3), (), LeaderChoice(2, (3, 2))),
        ((1,), (2, 3), (), None),
        ((1, 2, 3), (), (), None),
        ((1, 2, 3), (1, 2, 3), (1,), LeaderChoice(2, (2, 3))),
        ((1, 2), (1, 3), (1,), LeaderChoice(1, (1,))),
    ],
    ids=[
        "the first replica that is in sync and online",
        "in the order of preference, not of the ISR",
        "no replica outside the ISR",
        "no offline replica",
        "not one that is stopping",
        "unless no other can",
    ],
)
def test_an_offline_partition_is_led_by(isr: Ids, online: Ids, stopping: Ids, choice: LeaderChoice | None) -> None:
    assert selectors.offline((1, 2, 3), isr, online, stopping, unclean=False) == choice


@pytest.mark.requirement("DINT-13")
def test_an_unclean_election_takes_a_replica_outside_the_isr_and_leaves_it_alone_in_it() -> None:
    assert selectors.offline((1, 2, 3), (1,), (2, 3), (), unclean=True) == LeaderChoice(2, (2,))
    assert selectors.offline((1, 2, 3), (1,), (2, 3), (2,), unclean=True) == LeaderChoice(3, (3,))
    assert selectors.offline((1, 2, 3), (1,), (2,), (2,), unclean=True) == LeaderChoice(2, (2,))


def test_an_unclean_election_prefers_a_member_of_the_isr() -> None:
    assert selectors.offline((1, 2, 3), (3,), (1, 2, 3), (), unclean=True) == LeaderChoice(3, (3,))
    assert selectors.offline((1, 2, 3), (1,), (), (), unclean=True) is None


@pytest.mark.requirement("INT-38")
@pytest.mark.parametrize(
    ("isr", "online", "choice"),
    [
        ((1, 2, 4, 5), (1, 4, 5), LeaderChoice(4, (1, 2, 4, 5))),
        ((1, 5), (1, 4, 5), LeaderChoice(5, (1, 5))),
        ((1, 4), (1, 5), None),
    ],
)
def test_a_reassigned_partition_is_led_by_the_first_new_replica_that_is_in_sync(
    isr: Ids, online: Ids, choice: LeaderChoice | None
) -> None:
    assert selectors.reassigned((4, 5), isr, online) == choice


@pytest.mark.requirement("INT-39")
@pytest.mark.parametrize(
    ("isr", "online", "choice"),
    [((2, 1), (1, 2), LeaderChoice(1, (2, 1))), ((2,), (1, 2), None), ((1, 2), (2,), None)],
)
def test_the_preferred_leader_is_the_first_replica_or_none(isr: Ids, online: Ids, choice: LeaderChoice | None) -> None:
    assert selectors.preferred((1, 2), isr, online) == choice


@pytest.mark.requirement("INT-40")
@pytest.mark.parametrize(
    ("isr", "online", "stopping", "choice"),
    [
        ((1, 2, 3), (1, 2, 3), (1,), LeaderChoice(2, (2, 3))),
        ((1, 2, 3), (1, 2, 3), (1, 2), LeaderChoice(3, (3,))),
        ((1,), (1, 2, 3), (1,), None),
        ((1, 2), (1, 3), (1,), None),
    ],
)
def test_controlled_shutdown_finds_a_member_that_stays(
    isr: Ids, online: Ids, stopping: Ids, choice: LeaderChoice | None
) -> None:
    assert selectors.controlled_shutdown((1, 2, 3), isr, online, stopping) == choice
