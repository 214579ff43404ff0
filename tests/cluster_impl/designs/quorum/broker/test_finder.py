"""The choice of the controller that a broker asks next."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.config.values import Voter
from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder

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


def test_an_id_that_is_not_configured_is_not_believed() -> None:
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
