"""The choice of the controller that a broker asks next."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.config.values import FIRST_ADDRESS, Voter
from fencepost.cluster_impl.designs.quorum.broker.finder import NO_CONTROLLER, ControllerFinder

VOTERS = [Voter(number, f"node-{number}", 9090) for number in (1, 2, 3)]


@pytest.mark.requirement("K631-05")
def test_without_a_belief_it_goes_round_the_configured_controllers() -> None:
    finder = ControllerFinder(VOTERS)
    asked = []
    for _ in range(4):
        asked.append(finder.candidate().id)
        finder.failed(asked[-1])
    assert asked == [1, 2, 3, 1]


def test_it_believes_what_was_reported_last_until_that_fails() -> None:
    finder = ControllerFinder(VOTERS)
    finder.learned(3)
    finder.learned(2)
    assert finder.candidate().id == 2
    finder.failed(3)
    assert finder.candidate().id == 2
    finder.failed(2)
    assert finder.candidate().id != 2


def test_an_id_without_an_address_is_not_believed() -> None:
    finder = ControllerFinder(VOTERS)
    finder.learned(-1)
    finder.learned(9)
    assert finder.candidate().id == 1


def test_a_controller_that_keeps_naming_a_dead_one_does_not_hide_the_others() -> None:
    finder = ControllerFinder(VOTERS)
    asked = set()
    for _ in range(8):
        candidate = finder.candidate().id
        asked.add(candidate)
        finder.failed(candidate)
        if candidate == 2:
            finder.learned(1)
    assert asked == {1, 2, 3}


MOVED = {1: ("node-1", 9090), 4: ("node-4", 9090)}
"""The voters after others took the place of 2 and 3."""


@pytest.mark.requirement("K631-05")
def test_a_controller_that_the_quorum_named_is_believed_though_it_is_not_configured() -> None:
    finder = ControllerFinder([Voter(1, "node-1", 9090)])
    finder.voters_named(MOVED)
    finder.learned(4)
    assert finder.candidate() == Voter(4, "node-4", 9090)


@pytest.mark.requirement("K631-05")
def test_named_voters_are_tried_before_configured_addresses_and_these_stay_the_last_resort() -> None:
    finder = ControllerFinder([Voter(FIRST_ADDRESS, "node-1", 9090, "CONTROLLER"), Voter(3, "node-3", 9090)])
    finder.voters_named(MOVED)
    asked = []
    for _ in range(4):
        asked.append((finder.candidate().id, finder.candidate().host))
        finder.failed(asked[-1][0])
    assert asked == [(1, "node-1"), (4, "node-4"), (3, "node-3"), (1, "node-1")]


def test_a_controller_without_a_known_id_is_asked_and_never_named_to_others() -> None:
    finder = ControllerFinder([Voter(FIRST_ADDRESS, "node-1", 9090, "CONTROLLER")])
    finder.learned(FIRST_ADDRESS)
    assert finder.candidate().host == "node-1"
    assert finder.believed == NO_CONTROLLER


def test_an_answer_that_names_no_voters_changes_nothing() -> None:
    finder = ControllerFinder(VOTERS)
    finder.voters_named({})
    assert finder.candidate() == VOTERS[0]
