from __future__ import annotations

from collections.abc import Iterator
from math import inf

import pytest

from fencepost.harness.model.worlds import Happening, State, TooManyWorlds, contradictions


def adds(word: str, begun: float, ended: float = inf) -> Happening:
    def step(state: State) -> Iterator[State]:
        yield f"{state}{word}"

    return Happening(f"add {word}", begun, ended, step)


def shows(text: str, begun: float) -> Happening:
    def step(state: State) -> Iterator[State]:
        if state == text:
            yield state

    return Happening(f"show {text}", begun, begun + 0.1, step, is_description=True, shown=text)


def test_overlapping_requests_take_effect_in_any_order_and_others_in_theirs() -> None:
    overlapping = [adds("a", 0, 2), adds("b", 1, 3)]
    for text in ("ab", "ba"):
        assert not list(contradictions([*overlapping, shows(text, 4)], ""))
    assert not list(contradictions([adds("a", 0, 1), adds("b", 2, 3), shows("ab", 4)], ""))
    assert list(contradictions([adds("a", 0, 1), adds("b", 2, 3), shows("ba", 4)], ""))


def test_a_request_without_an_answer_takes_effect_once_at_any_later_time_or_never() -> None:
    lost = adds("a", 0)
    assert not list(contradictions([lost, shows("", 1), shows("a", 2), shows("a", 3)], ""))
    assert not list(contradictions([lost, adds("b", 1, 2), shows("ba", 3)], ""))
    assert list(contradictions([lost, shows("aa", 1)], ""))
    assert list(contradictions([lost, shows("a", 1), shows("", 2)], ""))


def test_after_a_contradiction_the_state_is_what_was_described() -> None:
    found = list(contradictions([adds("a", 0, 1), shows("x", 2), shows("x", 3), shows("a", 4)], ""))
    assert [(each.happening.title, each.possible) for each in found] == [("show x", ["a"]), ("show a", ["x"])]


def test_more_doubts_than_can_be_followed_are_said() -> None:
    with pytest.raises(TooManyWorlds):
        list(contradictions([*(adds(str(number), 0) for number in range(9)), shows("", 1)], ""))
