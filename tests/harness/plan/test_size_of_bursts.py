"""The size of the records of a burst is claimed only where they have filling."""

from __future__ import annotations

import pytest

from fencepost.harness.plan.steps.produce import Produce
from tests.harness.checkers.plans import plan


@pytest.mark.parametrize(("size", "node", "places"), [(1, "node-4", []), (100, None, []), (100, "node-4", ["size"])])
def test_a_burst_through_a_node_has_no_size(size: int, node: str | None, places: list[str]) -> None:
    burst = Produce(topic="t", acks=1, size=size, node=node)
    assert [place for place, _ in burst.problems(plan())] == places
    assert ("of {size} bytes" in burst.clause) is (size > 1)
