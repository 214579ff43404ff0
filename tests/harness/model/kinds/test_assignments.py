from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from fencepost.harness.model.comparison import compare
from fencepost.harness.model.sent import Checkpoint, Description, Sent

pytestmark = pytest.mark.requirement("MDL-09")

CREATE = {"name": "t", "num_partitions": -1, "assignments": [{"partition_index": 0, "broker_ids": [4, 5]}]}


def looks(*seen: Mapping[str, Sequence[int]]) -> list[Checkpoint]:
    return [
        Checkpoint(str(number), [Description("assignments", "n", objects, 2.0 * number, 2.0 * number + 0.1)])
        for number, objects in enumerate(seen)
    ]


def sent(api: str, body: Mapping[str, Any], response: Mapping[str, Any] | None, t: float = 1.0) -> Sent:
    return Sent(api, body, t) if response is None else Sent(api, body, t, t + 0.1, response)


def moved(to: Sequence[int] | None, code: int = 0, t: float = 1.0) -> Sent:
    topic = {"name": "t", "partitions": [{"partition_index": 0, "replicas": to}]}
    answer = {"name": "t", "partitions": [{"partition_index": 0, "error_code": code}]}
    return sent("alter_partition_reassignments", {"topics": [topic]}, {"error_code": 0, "responses": [answer]}, t)


def wrong(requests: Sequence[Sent], *seen: Mapping[str, Sequence[int]]) -> list[str]:
    return [problem.object for problem in compare(requests, looks(*seen)).problems]


def test_a_topic_is_on_the_brokers_that_its_creation_named() -> None:
    created = [sent("create_topics", {"topics": [CREATE]}, {"topics": [{"name": "t", "error_code": 0}]})]
    assert not wrong(created, {}, {"t-0": [4, 5]})
    assert wrong(created, {}, {"t-0": [5, 4]}) == ["t-0"]


def test_a_partition_that_is_added_is_where_it_was_asked_for() -> None:
    body = {"topics": [{"name": "t", "count": 3, "assignments": [{"broker_ids": [5]}, {"broker_ids": [6]}]}]}
    grown = [sent("create_partitions", body, {"results": [{"name": "t", "error_code": 0}]})]
    assert not wrong(grown, {"t-0": [4]}, {"t-0": [4], "t-1": [5], "t-2": [6]})
    assert wrong(grown, {"t-0": [4]}, {"t-0": [4], "t-1": [5], "t-2": [4]}) == ["t-2"]


def test_without_an_assignment_the_first_description_tells_it_and_it_stays() -> None:
    body = {"topics": [{"name": "t", "count": 2, "assignments": None}]}
    grown = [sent("create_partitions", body, {"results": [{"name": "t", "error_code": 0}]})]
    assert not wrong(grown, {"t-0": [4]}, {"t-0": [4], "t-1": [6]}, {"t-0": [4], "t-1": [6]})
    assert wrong(grown, {"t-0": [4]}, {"t-0": [4], "t-1": [6]}, {"t-0": [4], "t-1": [5]}) == ["t-1"]


def test_an_accepted_move_is_seen_before_while_and_after_it_goes_on_and_then_stays() -> None:
    before, after = {"t-0": [4, 5]}, {"t-0": [6, 5]}
    assert not wrong([moved([6, 5])], before, before, {"t-0": [6, 5, 4]}, after, after)
    assert wrong([moved([6, 5])], before, after, before) == ["t-0"]
    assert wrong([moved([6, 5])], before, {"t-0": [7]}) == ["t-0"]
    assert wrong([moved([6, 5], code=39)], before, after) == ["t-0"]


def test_a_move_that_was_called_off_leaves_the_replicas_of_before() -> None:
    before = {"t-0": [4, 5]}
    requests = [moved([6, 5]), moved(None, t=1.5)]
    assert not wrong(requests, before, before)
    assert wrong(requests, before, {"t-0": [6, 5, 4]}) == ["t-0"]
