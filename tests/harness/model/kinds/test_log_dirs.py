from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from fencepost.harness.model.comparison import compare
from fencepost.harness.model.kind import Question, Scope
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.sent import Checkpoint, Description

pytestmark = pytest.mark.requirement("MDL-16")


def wrong(logs: Mapping[int, Sequence[str]], *assigned: Mapping[str, Sequence[int]]) -> list[tuple[str, str]]:
    looks = [Description("assignments", "n", objects, 1.0, 1.1) for objects in assigned]
    looks += [
        Description("log directories", f"n{id}", {f"broker {id}": names}, 1.2, 1.3, [f"broker {id}"])
        for id, names in logs.items()
    ]
    problems = compare([], [Checkpoint("end", looks)]).problems
    return [(each.object, each.shown) for each in problems if each.requirement == "MDL-16"]


def test_each_assigned_partition_has_a_log_and_no_other_has_one() -> None:
    assigned = {"t-0": [4, 5], "t-1": [5]}
    assert not wrong({4: ["t-0"], 5: ["t-0", "t-1"]}, assigned)
    assert wrong({4: ["t-0", "t-1"], 5: ["t-0", "t-1"]}, assigned) == [
        ("broker 4", "n4 describes broker 4 as having a log of t-1")
    ]
    assert wrong({4: [], 5: ["t-0", "t-1"]}, assigned) == [
        ("broker 4", "n4 describes broker 4 as having no log of t-0")
    ]
    assert wrong({4: ["t-0", "gone-0"]}, assigned) == [("broker 4", "n4 describes broker 4 as having a log of gone-0")]


def test_a_partition_that_moves_may_be_where_one_broker_describes_it() -> None:
    assert not wrong({4: ["t-0"], 6: []}, {"t-0": [4]}, {"t-0": [4, 6]})
    assert not wrong({6: ["t-0"]}, {"t-0": [4]}, {"t-0": [4, 6]})


def test_without_assignments_nothing_is_judged() -> None:
    assert not wrong({4: ["t-0"]})


def test_a_broker_with_a_failed_directory_says_nothing_and_internal_and_future_logs_do_not_count() -> None:
    kind, question = KINDS["log directories"], Question("describe_log_dirs", {}, ["broker 4"])

    def directory(error: int, *topics: tuple[str, bool]) -> Mapping[str, Any]:
        parts = [
            {"name": name, "partitions": [{"partition_index": 0, "is_future_key": future}]} for name, future in topics
        ]
        return {"error_code": error, "topics": parts}

    whole = directory(0, ("t", False), ("u", True), ("__consumer_offsets", False), ("__cluster_metadata", False))
    assert kind.read(question, {"results": [whole]}) == {"broker 4": ["t-0"]}
    assert kind.read(question, {"results": [whole, directory(56)]}) is None


def test_a_broker_describes_its_own_logs_and_a_list_of_reassignments_assigns_none() -> None:
    [question] = KINDS["log directories"].questions(Scope(node_id=4))
    assert question.scope == ["broker 4"]
    looks = [
        Description("assignments", "n", {"t-0": [4]}, 1.0, 1.1),
        Description("assignments", "n", {"t-0": {"from": [4], "to": [5]}}, 1.2, 1.3, ()),
        Description("log directories", "n4", {"broker 4": []}, 1.4, 1.5, ["broker 4"]),
    ]
    [problem] = compare([], [Checkpoint("end", looks[:1] + looks[2:])]).problems
    assert problem.requirement == "MDL-16"
    found = [each.requirement for each in compare([], [Checkpoint("end", looks)]).problems]
    assert "MDL-16" in found
