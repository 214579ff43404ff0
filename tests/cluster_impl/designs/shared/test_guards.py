from __future__ import annotations

from fencepost.cluster_impl.designs.shared.guards import Guard, first_error, first_refusal
from fencepost.cluster_impl.wire.errors import Error

NEGATIVE = Guard[[int]](Error.INVALID_REQUEST, lambda number: number < 0, "it is negative")
ODD = Guard[[int]](Error.INVALID_CONFIG, lambda number: number % 2 == 1)
GUARDS = (NEGATIVE, ODD)


def test_what_is_wrong_twice_gets_the_error_of_the_earlier_guard() -> None:
    assert first_refusal(GUARDS, -1) is NEGATIVE
    assert first_error(GUARDS, -1) == Error.INVALID_REQUEST


def test_what_no_guard_refuses_has_no_error() -> None:
    assert first_refusal(GUARDS, 2) is None
    assert first_error(GUARDS, 2) == Error.NONE
    assert first_error(GUARDS, 3) == Error.INVALID_CONFIG
