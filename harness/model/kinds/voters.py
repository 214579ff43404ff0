"""The voters of the metadata quorum.

Sources: KIP-853; the descriptions of AddRaftVoter, RemoveRaftVoter and DescribeQuorum.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fencepost.harness.model.effect import Effect
from fencepost.harness.model.kind import Asked, Kind, Question, Scope
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.worlds import State

VOTERS = "the quorum"
DUPLICATE, NOT_FOUND = 126, 127


@dataclass(frozen=True)
class _Change(Effect):
    voter: int
    added: bool

    @property
    def title(self) -> str:
        return f"{'add' if self.added else 'remove'} the voter {self.voter}"

    def refusals(self, state: State) -> frozenset[int]:
        if (self.voter in _voters(state)) is self.added:
            return frozenset({DUPLICATE if self.added else NOT_FOUND})
        return frozenset()

    def after(self, state: State) -> State:
        return _voters(state) | {self.voter} if self.added else _voters(state) - {self.voter}


class Voters(Kind):
    """The quorum has the voters that it began with, and those that requests added and did not remove."""

    name = "voters"
    requirement = "MDL-15"
    asked = Asked.CONTROLLERS
    changed_by = frozenset({"add_raft_voter", "remove_raft_voter"})

    def questions(self, scope: Scope) -> Iterator[Question]:
        yield quorum_question(scope)

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the voters as the leader has them. Only the leader answers."""
        partition = metadata_partition(answer)
        return partition and {VOTERS: sorted(voter["replica_id"] for voter in partition["current_voters"])}

    def state(self, seen: Any) -> State:
        return frozenset(seen)

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        code = sent.response["error_code"] if sent.response is not None else None
        yield _Change(VOTERS, code, sent.body["voter_id"], sent.api == "add_raft_voter")

    def says(self, state: State) -> str:
        return ", ".join(map(str, sorted(_voters(state))))


def quorum_question(scope: Scope) -> Question:
    """Return the question for voters and observers."""
    topic = {"topic_name": scope.metadata_topic, "partitions": [{"partition_index": 0}]}
    return Question("describe_quorum", {"topics": [topic]})


def metadata_partition(answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the partition of the metadata log that an answer describes; None from a controller that does not lead."""
    partitions: list[Mapping[str, Any]] = [each for topic in answer["topics"] for each in topic["partitions"]]
    if answer["error_code"] or not partitions or partitions[0]["error_code"]:
        return None
    return partitions[0]


def _voters(state: State) -> frozenset[int]:
    assert isinstance(state, frozenset)
    return state
