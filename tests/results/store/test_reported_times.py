"""Durations with units, commas and signs."""

from __future__ import annotations

import pytest

from fencepost.results.store.reported_times import seconds, time_stamp


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.110s", 0.11),
        ("1,000.5", 1000.5),
        ("1,234", 1234.0),
        ("0,005", 0.005),
        ("1,5", 1.5),
        ("+1.5", 1.5),
        ("1m2.5s", 62.5),
        ("500ms", 0.5),
        ("1e-05", 1e-5),
        ("-0.001", None),
        ("NaN", None),
        ("inf", None),
        ("", None),
        (None, None),
        ("soon", None),
    ],
)
def test_durations(text: str | None, expected: float | None) -> None:
    assert seconds(text) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("text", [None, "", "yesterday", "1970-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "20:15"])
def test_stamps_that_name_no_time(text: str | None) -> None:
    assert time_stamp(text) is None
