"""Formulas beside Python's own functions and exact sums."""

import math

import numpy as np
import pytest

from fencepost.results.mining import formulas


@pytest.mark.parametrize("shift", [0.0, 0.1, 0.2, 1.0])
def test_the_logarithm_of_gamma_agrees_with_pythons(shift: float) -> None:
    at = np.array([0.5, 1.0, 1.5, 7.0, 100.5, 999, 1e6]) + shift
    assert formulas.log_gamma(at) == pytest.approx([math.lgamma(x) for x in at.tolist()], abs=1e-9, rel=1e-9)


def test_the_tail_of_the_normal_distribution_is_exact_far_out() -> None:
    assert formulas.normal_tail(0.0) == 0.5 and formulas.normal_tail(60.0) == 1e-300
    assert formulas.normal_tail(25.0) == pytest.approx(3.056696706382561e-138, rel=1e-9, abs=0)


def test_fishers_tail_is_the_sum_of_the_hypergeometric_terms() -> None:
    def exact(both: int, first: int, second: int, total: int) -> float:
        ways = (math.comb(first, k) * math.comb(total - first, second - k) for k in range(both, min(first, second) + 1))
        return sum(ways) / math.comb(total, second)

    for table in ((3, 4, 4, 8), (8, 9, 10, 20), (5, 5, 5, 1000), (400, 600, 800, 2000)):
        assert formulas.fisher_tail(*table) == pytest.approx(exact(*table), rel=1e-6)
    assert (formulas.fisher_tail(2, 4, 4, 8), formulas.fisher_tail(0, 0, 5, 9)) == (1, 1)


def test_wilsons_interval_of_no_runs_is_everything() -> None:
    low, high = formulas.wilson(np.array([0, 0, 10]), np.array([0, 10, 50]))
    assert low == pytest.approx([0, 0, 0.1124], abs=1e-4)
    assert high == pytest.approx([1, 0.2775, 0.3304], abs=1e-4)


def test_the_entropy_of_a_coin_is_a_bit() -> None:
    assert formulas.entropy(np.array([0.0, 0.5, 1.0, 0.2])) == pytest.approx([0, 1, 0, 0.7219], abs=1e-4)
