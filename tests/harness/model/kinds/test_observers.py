from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from fencepost.harness.model.comparison import compare
from fencepost.harness.model.kind import Scope
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.sent import Checkpoint, Description

pytestmark = pytest.mark.requirement("MDL-21")


def shown(observers: Collection[int], *named: Collection[int], serve: Collection[int] = (4, 5)) -> list[str]:
    looks = [Description("registrations", "n", {f"broker {id}": [None] for id in each}, 1.0, 1.1) for each in named]
    looks += [Description("log directories", "n", {f"broker {id}": []}, 1.2, 1.3, [f"broker {id}"]) for id in serve]
    looks.append(Description("observers", "n1", {"the quorum": sorted(observers)}, 1.4, 1.5))
    problems = compare([], [Checkpoint("end", looks)]).problems
    return [each.shown for each in problems if each.requirement == "MDL-21"]


def test_each_broker_that_serves_is_an_observer_or_a_voter() -> None:
    assert not shown([1, 2, 3, 4, 5], [4, 5], [4, 5])
    assert shown([1, 2, 3, 5], [4, 5]) == ["n1 describes the quorum as without broker 4"]


def test_a_broker_that_is_not_named_by_all_or_does_not_answer_may_be_missing() -> None:
    assert not shown([5], [4, 5], [5])
    assert not shown([5], [4, 5], serve=[5])
    assert not shown([5])


@pytest.mark.parametrize("error", [0, 6])
def test_observers_and_voters_are_read_from_the_leader_alone(error: int) -> None:
    kind = KINDS["observers"]
    [question] = kind.questions(Scope(metadata_topic="__cluster_metadata"))
    replicas: dict[str, Any] = {"current_voters": [{"replica_id": 1}], "observers": [{"replica_id": 4}]}
    answer = {"error_code": 0, "topics": [{"partitions": [{"error_code": error, **replicas}]}]}
    assert kind.read(question, answer) == (None if error else {"the quorum": [1, 4]})
