from __future__ import annotations

import pytest

from fencepost.harness.model.comparison import compare
from fencepost.harness.model.kind import Scope
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.sent import Checkpoint, Description, Sent


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


@pytest.mark.requirement("MDL-13")
def test_every_broker_that_metadata_names_is_registered_with_its_rack_or_without_one() -> None:
    kind = KINDS["registrations"]
    [question] = kind.questions(Scope())
    answer = {"brokers": [{"node_id": 4, "rack": "a"}, {"node_id": 5}]}
    assert question.body["topics"] == []
    assert kind.read(question, answer) == {"broker 4": ["a"], "broker 5": [None]}
    assert [kind.says(kind.state(seen)) for seen in (["a"], [None])] == ["in the rack a", "without a rack"]
    assert list(kind.effects(Sent("create_topics", {}, 1.0), ())) == []
