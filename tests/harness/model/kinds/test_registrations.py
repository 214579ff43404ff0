from __future__ import annotations

import pytest

from fencepost.harness.model.comparison import compare
from fencepost.harness.model.sent import Checkpoint, Description


@pytest.mark.requirement("MDL-13")
def test_a_rack_stays_while_its_broker_may_be_away() -> None:
    def wrong(*racks: str | None) -> list[str]:
        looks = [
            Checkpoint(str(t), [Description("registrations", "n", {} if rack is None else {"broker 4": [rack]}, t, t)])
            for t, rack in enumerate(racks)
        ]
        return [problem.object for problem in compare([], looks).problems]

    assert not wrong("a", None, "a")
    assert not wrong(None, "a", "a")
    assert wrong("a", None, "b") == ["broker 4"]
    assert wrong("a", "") == ["broker 4"]
