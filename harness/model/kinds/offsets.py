"""The offsets that groups committed, with their metadata.

Sources: the descriptions of OffsetCommit, TxnOffsetCommit (KIP-98), OffsetDelete (KIP-496), DeleteGroups (KIP-229) and
OffsetFetch; KIP-211 (offsets go with their topic); KIP-320 (leader epochs). Versions that name topics by their ids are
not read: commits in them are not followed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from fencepost.harness.model.effect import DONE, NOTHING_DONE, Effect
from fencepost.harness.model.kind import Kind, Question, Scope, results
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.worlds import State

NONE = -1
"""The offset of a partition without one, in answers that do not leave it out."""
OFFSETS_TOPIC = "__consumer_offsets"
_BY_NAME = 9
"""The last version of OffsetFetch that names topics by their names; those before 2 cannot ask for all."""


class Offset(NamedTuple):
    """A committed offset. `leader_epoch` is None where it is not known."""

    offset: int
    leader_epoch: int | None
    metadata: str


@dataclass(frozen=True)
class _Commit(Effect):
    offset: Offset

    @property
    def title(self) -> str:
        return f"commit {_words(self.offset)} at {self.object}"

    def after(self, state: State) -> State:
        return self.offset


@dataclass(frozen=True)
class _CommitInTransaction(_Commit):
    """The offset counts once its transaction is committed, and never if that is aborted."""

    lasting: ClassVar[bool] = True


@dataclass(frozen=True)
class _Deletion(Effect):
    @property
    def title(self) -> str:
        return f"delete the offset at {self.object}"

    def after(self, state: State) -> State:
        return None


@dataclass(frozen=True)
class _Expiry(_Deletion):
    """The offset goes with its topic, or once its retention is over."""

    lasting: ClassVar[bool] = True

    @property
    def title(self) -> str:
        return f"let the offset at {self.object} expire"


class Offsets(Kind):
    """A group has the offsets that it committed last, with their metadata, until they or the group are deleted."""

    name = "committed offsets"
    requirement = "MDL-10"
    changed_by = frozenset({"offset_commit", "txn_offset_commit", "offset_delete", "delete_groups", "delete_topics"})
    begins_absent = True

    def questions(self, scope: Scope) -> Iterator[Question]:
        for group in sorted({group_of(each) for each in scope.objects} - scope.of_clients):
            body = {"group_id": group, "topics": None, "groups": [{"group_id": group, "topics": None}]}
            named = [each for each in scope.objects if group_of(each) == group]
            yield Question("offset_fetch", body, named, oldest=2, newest=_BY_NAME)

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Only the coordinator of a group says anything about it."""
        group = question.body["group_id"]
        described = next(iter(results(answer, "groups")), answer)
        partitions = [(topic["name"], each) for topic in described["topics"] for each in topic["partitions"]]
        if described.get("error_code") or any(each["error_code"] for _, each in partitions):
            return None
        return {
            place(group, topic, each["partition_index"]): [
                each["committed_offset"],
                each.get("committed_leader_epoch"),
                each["metadata"] or "",
            ]
            for topic, each in partitions
        }

    def state(self, seen: Any) -> State:
        return Offset(*seen)

    def fits(self, state: State, seen: State) -> Iterator[State]:
        """An offset of -1 is the same as none."""
        if not (isinstance(state, Offset) and isinstance(seen, Offset)):
            if all(each is None or (isinstance(each, Offset) and each.offset == NONE) for each in (state, seen)):
                yield state
        elif (state.offset, state.metadata) == (seen.offset, seen.metadata):
            epochs = {state.leader_epoch, seen.leader_epoch} - {None}
            if len(epochs) < 2:
                yield state._replace(leader_epoch=next(iter(epochs), None))

    def says(self, state: State) -> str:
        return _words(state) if isinstance(state, Offset) else super().says(state)

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        match sent.api:
            case "offset_commit" | "txn_offset_commit":
                yield from _commits(sent)
            case "offset_delete":
                code, codes = _code(sent), _codes(sent)
                for object, _ in _partitions(sent):
                    yield _Deletion(object, code or codes.get(object))
            case "delete_groups":
                answers = {each["group_id"]: each["error_code"] for each in results(sent.response, "results")}
                for group in sent.body["groups_names"]:
                    yield from (_Deletion(each, answers.get(group)) for each in objects if group_of(each) == group)
            case _:
                yield from (_Expiry(each, DONE) for each in objects if went_with(sent, each, OFFSETS_TOPIC))


def place(group: str, topic: str, partition: int) -> str:
    """Return the name of the object: the offset of a group at a partition."""
    return f"{topic}-{partition} of {group}"


def group_of(object: str) -> str:
    """Return the group of an offset."""
    return object.partition(" of ")[2]


def topic_of(object: str) -> str:
    """Return the topic of an offset."""
    return object.partition(" of ")[0].rpartition("-")[0]


def _commits(sent: Sent) -> Iterator[Effect]:
    codes = _codes(sent)
    in_transaction = sent.api == "txn_offset_commit"
    for object, each in _partitions(sent):
        code = codes.get(object)
        epoch = each.get("committed_leader_epoch")
        offset = Offset(each["committed_offset"], epoch, each["committed_metadata"] or "")
        if not in_transaction:
            yield _Commit(object, code, offset)
        elif code not in NOTHING_DONE:
            yield _CommitInTransaction(object, DONE, offset)
        if sent.body.get("retention_time", NONE) >= 0:
            yield _Expiry(object, DONE)


def _partitions(sent: Sent) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects that a request names, each with the part about it."""
    for topic in sent.body["topics"]:
        if "name" in topic:
            for each in topic["partitions"]:
                yield place(sent.body["group_id"], topic["name"], each["partition_index"]), each


def _codes(sent: Sent) -> Mapping[str, int]:
    """Return the errors of the answer by object."""
    return {
        place(sent.body["group_id"], topic["name"], each["partition_index"]): each["error_code"]
        for topic in results(sent.response, "topics")
        if "name" in topic
        for each in topic["partitions"]
    }


def _code(sent: Sent) -> int | None:
    return sent.response.get("error_code") if sent.response is not None else None


def went_with(sent: Sent, object: str, state_topic: str) -> bool:
    """Return whether a deletion of topics may have been of that of an offset, or of the one that holds all offsets."""
    named = sent.body.get("topics") or [{"name": name} for name in sent.body.get("topic_names") or ()]
    return bool({None, state_topic, topic_of(object)} & {topic["name"] for topic in named})


def _words(offset: Offset) -> str:
    metadata = offset.metadata if len(offset.metadata) <= 20 else f"{len(offset.metadata)} characters"
    return f"{offset.offset}" + (f" with `{metadata}`" if metadata else "")
