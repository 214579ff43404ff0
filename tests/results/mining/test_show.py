"""The words on one test rest on builds only where they are known."""

from __future__ import annotations

import pytest

from fencepost.results.mining.show import summary
from tests.results.mining.facts_of import of_test


@pytest.mark.parametrize("state", ["flaky", "broken"])
def test_of_unknown_builds_nothing_is_said_but_that_they_are_missing(state: str) -> None:
    known, unknown = (" ".join(summary(of_test("t", state=state, unknown_builds=number))) for number in (0, 22))
    assert "one build" in known or "newest build" in known
    assert "one build" not in unknown and "newest build" not in unknown
    assert "22 of 22 runs" in unknown and "--commit-from" in unknown and "commit-from" not in known
