"""The words on one test rest on builds only where they are known."""

from __future__ import annotations

import pytest

from fencepost.results.mining.show import as_text, summary
from tests.results.mining.facts_of import many, of_test


@pytest.mark.parametrize("state", ["flaky", "broken"])
def test_of_unknown_builds_nothing_is_said_but_that_they_are_missing(state: str) -> None:
    known, unknown = (" ".join(summary(of_test("t", state=state, unknown_builds=number))) for number in (0, 22))
    assert "one build" in known or "newest build" in known
    assert "one build" not in unknown and "newest build" not in unknown
    assert "22 of 22 runs" in unknown and "--commit-from" in unknown and "commit-from" not in known


def test_verdicts_of_unknown_builds_are_by_day() -> None:
    known, unknown = (as_text(many(2, 20, known=is_known)) for is_known in (True, False))
    assert "    2026-11-23  build-19         10 violation (1 on retry)" in known
    assert "  Verdicts by day\n" in unknown
    assert "    2026-11-23  10 violation (1 on retry)" in unknown


def test_what_a_rerun_would_say_stands_below_the_summary() -> None:
    assert "  It passed and failed on build-19: it is flaky there, and needs no rerun to tell." in as_text(many(2, 20))
