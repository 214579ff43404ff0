from __future__ import annotations

from collections.abc import Sequence

import pytest

from fencepost.harness.model.comparison import compare
from fencepost.harness.model.kind import Scope
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.kinds.voters import DUPLICATE, NOT_FOUND, VOTERS
from fencepost.harness.model.sent import Checkpoint, Description, Sent

INVALID_REQUEST = 42
pytestmark = pytest.mark.requirement("MDL-15")


def change(api: str, voter: int, code: int | None, t: float = 0.5) -> Sent:
    if code is None:
        return Sent(api, {"voter_id": voter}, t)
    return Sent(api, {"voter_id": voter}, t, t + 0.1, {"error_code": code})


def wrong(requests: Sequence[Sent], *voters: Sequence[int]) -> int:
    looks = [Checkpoint(str(t), [Description("voters", "c", {VOTERS: ids}, t, t)]) for t, ids in enumerate(voters)]
    return len(compare(requests, looks).problems)


def test_voters_are_those_that_were_added_and_not_removed() -> None:
    assert not wrong([change("add_raft_voter", 3, 0)], [1, 2], [1, 2, 3])
    assert wrong([change("add_raft_voter", 3, 0)], [1, 2], [1, 2])
    assert not wrong([change("remove_raft_voter", 2, 0)], [1, 2], [1])
    assert wrong([change("remove_raft_voter", 2, INVALID_REQUEST)], [1, 2], [1])
    assert not wrong([change("add_raft_voter", 3, None)], [1, 2], [1, 2])
    assert not wrong([change("add_raft_voter", 3, None)], [1, 2], [1, 2, 3])


def test_a_voter_that_is_there_is_not_accepted_again() -> None:
    assert wrong([change("add_raft_voter", 2, 0)], [1, 2], [1, 2])
    assert not wrong([change("add_raft_voter", 2, DUPLICATE)], [1, 2], [1, 2])
    assert wrong([change("remove_raft_voter", 3, 0)], [1, 2], [1, 2])
    assert not wrong([change("remove_raft_voter", 3, NOT_FOUND)], [1, 2], [1, 2])


def test_only_the_leader_says_what_the_voters_are() -> None:
    kind = KINDS["voters"]
    partition = {"error_code": 0, "current_voters": [{"replica_id": 2}, {"replica_id": 1}]}
    answer = {"error_code": 0, "topics": [{"partitions": [partition]}]}
    question = next(kind.questions(Scope(metadata_topic="m")))
    assert kind.read(question, answer) == {VOTERS: [1, 2]}
    assert kind.read(question, {"error_code": 0, "topics": [{"partitions": [{**partition, "error_code": 6}]}]}) is None
