"""Changes of the duration of a test, planted in random medians, and none where there is none."""

import random

import pytest

from fencepost.results.mining.duration_steps import step_of


def medians(*levels: tuple[int, float], spread: float = 0.1, seed: int = 1) -> list[float]:
    rng = random.Random(seed)
    return [rng.lognormvariate(0, spread) * level for number, level in levels for _ in range(number)]


@pytest.mark.parametrize("before", [3, 12, 27])
@pytest.mark.parametrize("ratio", [0.5, 1.6])
def test_a_change_is_found_at_its_place_with_its_interval(before: int, ratio: float) -> None:
    found = step_of(medians((before, 2.0), (30 - before, 2.0 * ratio)))
    assert found is not None
    assert found.at == before
    assert found.low <= before <= found.high
    assert found.after_s / found.before_s == pytest.approx(ratio, rel=0.15)


def test_random_durations_seldom_have_a_change() -> None:
    assert sum(step_of(medians((30, 2.0), seed=seed)) is not None for seed in range(300)) <= 6


def test_one_slow_day_and_equal_and_unknown_durations_are_no_change() -> None:
    values = medians((30, 2.0))
    for place in (0, 15, 29):
        assert step_of([*values[:place], 40.0, *values[place + 1 :]]) is None
    assert step_of([2.0] * 30) is None
    assert step_of([0.0] * 10 + [1.0] * 10) is None
    assert step_of([1.0, 9.0, 9.0]) is None
