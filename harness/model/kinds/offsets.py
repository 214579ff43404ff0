"""The offsets that groups committed, with their metadata.

Sources: the descriptions of OffsetCommit, OffsetDelete (KIP-496), DeleteGroups (KIP-229) and OffsetFetch; KIP-98 and
KIP-447 (an offset of TxnOffsetCommit counts from the commit marker of its transaction on, and never after an abort);
KIP-211 (offsets go with their topic); KIP-320 (leader epochs). Versions that name topics by their ids are not read:
commits in them are not followed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from fencepost.harness.model.effect import DONE, Effect
from fencepost.harness.model.kind import Kind, Question, Scope, deleted_topics, results
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.transactional import OFFSETS_TOPIC, REFUSED, TransactionalEffect, code_of
from fencepost.harness.model.worlds import State

NONE = -1
"""The offset of a partition without one, in answers that do not leave it out."""
_BY_NAME = 9
"""The last version of OffsetFetch that names topics by their names; those before 2 cannot ask for all."""


class Offset(NamedTuple):
    """A committed offset. `leader_epoch` is None where it is not known."""

    offset: int
    leader_epoch: int | None
    metadata: str


class Pending(NamedTuple):
    """An offset of the open transaction of a transactional id."""

    id: str
    offset: Offset
    is_overtaken: bool = False
    """Something else has changed the committed offset since. No document says which of the two counts then."""


class Committed(NamedTuple):
    """An offset as it is committed, None if it is not, and those of open transactions."""

    offset: Offset | None = None
    pending: frozenset[Pending] = frozenset()

    def of(self, id: str) -> Pending | None:
        return next((each for each in self.pending if each.id == id), None)

    def changed(self, offset: Offset | None) -> Committed:
        return Committed(offset, frozenset(each._replace(is_overtaken=True) for each in self.pending))

    def without(self, id: str) -> Committed:
        return self._replace(pending=frozenset(each for each in self.pending if each.id != id))


@dataclass(frozen=True)
class _Commit(Effect):
    offset: Offset

    @property
    def title(self) -> str:
        return f"commit {_words(self.offset)} at {self.object}"

    def after(self, state: State) -> State:
        return _committed(state).changed(self.offset)


@dataclass(frozen=True)
class _CommitInTransaction(TransactionalEffect):
    """The offset counts once its transaction is committed, and never if that is aborted."""

    id: str
    offset: Offset

    @property
    def title(self) -> str:
        return f"commit {_words(self.offset)} at {self.object} in the transaction of {self.id}"

    def after(self, state: State) -> State:
        before = _committed(state).without(self.id)
        return before._replace(pending=before.pending | {Pending(self.id, self.offset)})


@dataclass(frozen=True)
class _End(TransactionalEffect):
    """The transaction of an id ends. Its other states are those of the kind `transactions`."""

    id: str
    is_commit: bool

    @property
    def title(self) -> str:
        return f"{'commit' if self.is_commit else 'abort'} the transaction of {self.id}"

    def after(self, state: State) -> State:
        before = _committed(state)
        pending, rest = before.of(self.id), before.without(self.id)
        return rest.changed(pending.offset) if pending and self.is_commit else rest

    def step(self, state: State) -> Iterator[State]:
        pending = _committed(state).of(self.id)
        if self.code != DONE or pending is None:
            yield state
        if pending is not None and self.may_be_done:
            yield self.after(state)
            if pending.is_overtaken:
                yield _committed(state).without(self.id)


@dataclass(frozen=True)
class _Abort(_End):
    """A transaction is aborted some time after another producer was asked for."""

    lasting: ClassVar[bool] = True


@dataclass(frozen=True)
class _Deletion(Effect):
    @property
    def title(self) -> str:
        return f"delete the offset at {self.object}"

    def after(self, state: State) -> State:
        return _committed(state).changed(None)


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
    changed_by = frozenset(
        {"offset_commit", "txn_offset_commit", "offset_delete", "delete_groups", "delete_topics"}
        | {"end_txn", "init_producer_id"}
    )
    begins_absent = True
    absent = Committed()

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
        return Committed(Offset(*seen))

    def fits(self, state: State, seen: State) -> Iterator[State]:
        """An offset of -1 is the same as none."""
        before = _committed(state)
        known, shown = before.offset, _committed(seen).offset
        if known is None or shown is None:
            if all(each is None or each.offset == NONE for each in (known, shown)):
                yield state
        elif (known.offset, known.metadata) == (shown.offset, shown.metadata):
            epochs = {known.leader_epoch, shown.leader_epoch} - {None}
            if len(epochs) < 2:
                yield before._replace(offset=known._replace(leader_epoch=next(iter(epochs), None)))

    def says(self, state: State) -> str:
        committed = _committed(state)
        pending = [f"{_words(each.offset)} in the transaction of {each.id}" for each in sorted(committed.pending)]
        return ", and ".join(["absent" if committed.offset is None else _words(committed.offset), *pending])

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        match sent.api:
            case "offset_commit" | "txn_offset_commit":
                yield from _commits(sent)
            case "offset_delete":
                code, codes = code_of(sent), _codes(sent)
                for object, _ in _partitions(sent):
                    yield _Deletion(object, code or codes.get(object))
            case "delete_groups":
                answers = {each["group_id"]: each["error_code"] for each in results(sent.response, "results")}
                for group in sent.body["groups_names"]:
                    yield from (_Deletion(each, answers.get(group)) for each in objects if group_of(each) == group)
            case "end_txn" | "init_producer_id":
                yield from _ends(sent, objects)
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
        if in_transaction:
            yield _CommitInTransaction(object, code, sent.body["transactional_id"], offset)
        else:
            yield _Commit(object, code, offset)
        if sent.body.get("retention_time", NONE) >= 0:
            yield _Expiry(object, DONE)


def _ends(sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
    """Yield the end of a transaction at each offset: which of them are in it is known by their states."""
    id, code = sent.body["transactional_id"], code_of(sent)
    for each in objects if id is not None else ():
        if sent.api == "end_txn":
            yield _End(each, code, id, sent.body["committed"])
        elif code == DONE:
            yield _End(each, DONE, id, is_commit=False)
        elif code not in REFUSED:
            yield _Abort(each, DONE, id, is_commit=False)


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


def went_with(sent: Sent, object: str, state_topic: str) -> bool:
    """Return whether a deletion of topics may have been of that of an offset, or of the one that holds all offsets."""
    deleted = deleted_topics(sent)
    return deleted is None or bool({state_topic, topic_of(object)} & set(deleted))


def _committed(state: State) -> Committed:
    assert isinstance(state, Committed)
    return state


def _words(offset: Offset) -> str:
    metadata = offset.metadata if len(offset.metadata) <= 20 else f"{len(offset.metadata)} characters"
    return f"{offset.offset}" + (f" with `{metadata}`" if metadata else "")
