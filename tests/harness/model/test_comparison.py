from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fencepost.harness.model.comparison import compare, objects_named
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.sent import Checkpoint, Description, Sent


def altered(key: str, t: float) -> Sent:
    """Return a change of a setting of t that has no answer."""
    change = {"name": key, "config_operation": 0, "value": "1"}
    resource = {"resource_type": 2, "resource_name": "t", "configs": [change]}
    return Sent("incremental_alter_configs", {"resources": [resource], "validate_only": False}, t)


def looks(kind: str, *seen: Mapping[str, Any]) -> list[Checkpoint]:
    """Return one look each 100 s."""
    return [
        Checkpoint(str(number), [Description(kind, "n", objects, 100.0 * number, 100.0 * number + 0.1)])
        for number, objects in enumerate(seen)
    ]


@pytest.mark.requirement("MDL-03")
def test_an_object_with_too_many_doubts_is_named_and_not_judged() -> None:
    sent = [altered(f"x{number}", 1.0 + number) for number in range(13)]
    seen = looks("topic settings", {"t": {}, "u": {}}, {"t": {"stranger": "1"}, "u": {"stranger": "1"}})
    result = compare(sent, seen)
    assert result.not_followed == ["topic settings: t"]
    assert [each.object for each in result.problems] == ["u"]
    few = compare(sent[:3], seen)
    assert few.not_followed == []
    assert [each.object for each in few.problems] == ["t", "u"]


@pytest.mark.requirement("MDL-12")
def test_an_object_of_a_client_that_is_never_described_is_not_judged() -> None:
    body = {"transactional_id": "x", "producer_id": -1, "producer_epoch": -1}
    begins = [
        Sent("init_producer_id", body, t, t + 0.1, {"error_code": 0, "producer_id": 7, "producer_epoch": 0})
        for t in (1.0, 2.0)
    ]
    unasked = [Checkpoint("end", [Description("producers", "n", {}, 5.0, 5.1, ["y"])])]
    assert compare(begins, unasked).problems == []
    asked = [Checkpoint("end", [Description("producers", "n", {}, 5.0, 5.1, ["x"])])]
    assert len(compare(begins, asked).problems) == 2


def test_the_objects_of_a_kind_that_requests_name_are_asked_for() -> None:
    commit = Sent("offset_commit", {"group_id": "g", "topics": []}, 1.0)
    assert list(objects_named([altered("x", 1.0), commit], KINDS["topic settings"])) == ["t"]
    assert list(objects_named([altered("x", 1.0), commit], KINDS["groups"])) == ["g"]
