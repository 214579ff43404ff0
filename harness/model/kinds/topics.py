"""Topics: that they are there, their ids and their numbers of partitions.

Sources: the descriptions of CreateTopics, CreatePartitions, DeleteTopics and Metadata; KIP-516 (ids), KIP-195
(partitions).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

from fencepost.harness.model.effect import Effect, Validation
from fencepost.harness.model.kind import Kind, Question, Scope, asked_to_delete, is_described, results
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.worlds import State

NO_ID = "00000000-0000-0000-0000-000000000000"
EXISTS, UNKNOWN, UNKNOWN_ID, TOO_FEW = 36, 3, 100, 37
INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state")
"""Topics that brokers create by themselves."""


class Topic(NamedTuple):
    """A topic that is there. None: not known."""

    id: str | None
    partitions: int | None


class _Gone(NamedTuple):
    """A topic that a request deleted, which was answered at `until`, in seconds of the run."""

    until: float


@dataclass(frozen=True)
class _Creation(Effect):
    topic: Topic

    @property
    def title(self) -> str:
        return f"create {self.object} with {self.topic.partitions} partitions"

    def refusals(self, state: State) -> frozenset[int]:
        return frozenset({EXISTS}) if isinstance(state, Topic) else frozenset()

    def after(self, state: State) -> State:
        return self.topic


@dataclass(frozen=True)
class _Deletion(Effect):
    """A deletion takes its time: one more that is asked for meanwhile may be accepted (KIP-631, `Deleting`)."""

    begun: float
    ended: float
    id: str | None = None
    """The id by which it was named, if it was."""

    @property
    def title(self) -> str:
        return f"delete {self.object}" + (f" by its id {self.id}" if self.id else "")

    def refusals(self, state: State) -> frozenset[int]:
        if isinstance(state, Topic):
            is_there = self.id is None or state.id in (None, self.id)
        else:
            is_there = isinstance(state, _Gone) and self.begun < state.until
        return frozenset() if is_there else frozenset({UNKNOWN, UNKNOWN_ID})

    def after(self, state: State) -> State:
        if isinstance(state, _Gone):
            return state
        return _Gone(self.ended) if self.ended < inf else None


@dataclass(frozen=True)
class _Growth(Effect):
    count: int

    @property
    def title(self) -> str:
        return f"raise the partitions of {self.object} to {self.count}"

    def refusals(self, state: State) -> frozenset[int]:
        if not isinstance(state, Topic):
            return frozenset({UNKNOWN})
        too_few = state.partitions is not None and self.count <= state.partitions
        return frozenset({TOO_FEW}) if too_few else frozenset()

    def after(self, state: State) -> State:
        assert isinstance(state, Topic)
        return state._replace(partitions=self.count)


class Topics(Kind):
    """Each topic has the id of its creation and as many partitions as were asked for; a deleted one is gone."""

    name = "topics"
    in_znodes = True
    forwarded = True
    requirement = "MDL-02"
    changed_by = frozenset({"create_topics", "create_partitions", "delete_topics"})

    def questions(self, scope: Scope) -> Iterator[Question]:
        yield Question("metadata", {"topics": None, "allow_auto_topic_creation": False})

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if not (answer["brokers"] and is_described(answer["topics"])):
            return None  # a broker that does not serve now
        return {
            topic["name"] or "": [topic.get("topic_id"), len(topic["partitions"])]
            for topic in answer["topics"]
            if not topic["error_code"] and topic["name"] not in INTERNAL
        }

    def state(self, seen: Any) -> State:
        id, partitions = seen
        return Topic(None if id in (None, NO_ID) else id, partitions)

    def fits(self, state: State, seen: State) -> Iterator[State]:
        if isinstance(state, _Gone) and seen is None:
            yield state
        elif not (isinstance(state, Topic) and isinstance(seen, Topic)):
            yield from super().fits(state, seen)
        elif state.id in (None, seen.id) and state.partitions in (None, seen.partitions):
            yield seen
        elif seen.id is None and state.partitions in (None, seen.partitions):
            yield state._replace(partitions=seen.partitions)

    def says(self, state: State) -> str:
        if not isinstance(state, Topic):
            return super().says(None)
        number = "partitions of unknown number" if state.partitions is None else f"{state.partitions} partitions"
        return number if state.id is None else f"{number} under the id {state.id}"

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        validates = bool(sent.body.get("validate_only"))
        for effect in self._effects(sent, objects):
            if effect.object not in INTERNAL:
                yield Validation(effect.object, effect.code, effect) if validates else effect

    def _effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        answers = results(sent.response, "topics", "results", "responses")
        by_name = {answer["name"]: answer for answer in answers if answer.get("name") is not None}

        def code(name: str) -> int | None:
            return by_name[name]["error_code"] if name in by_name else None

        match sent.api:
            case "create_topics":
                for topic in sent.body["topics"]:
                    name = topic["name"]
                    id = by_name.get(name, {}).get("topic_id")
                    created = Topic(None if id in (None, NO_ID) else id, _partitions(topic))
                    yield _Creation(name, code(name), created)
            case "create_partitions":
                for topic in sent.body["topics"]:
                    yield _Growth(topic["name"], code(topic["name"]), topic["count"])
            case _:
                yield from _deletions(sent, answers, objects)


def _partitions(topic: Mapping[str, Any]) -> int | None:
    """Return the number that a creation asks for, None if it is the default of the brokers."""
    number = len(topic["assignments"]) or topic["num_partitions"]
    return number if number > 0 else None


def _deletions(sent: Sent, answers: Collection[Mapping[str, Any]], objects: Collection[str]) -> Iterator[Effect]:
    by_name = {answer.get("name"): answer["error_code"] for answer in answers}
    by_id = {answer.get("topic_id"): answer for answer in answers}
    for name, id in asked_to_delete(sent):
        if name is not None:
            yield _Deletion(name, by_name.get(name), sent.begun, sent.ended)
            continue
        answer = by_id.get(id)
        code = None if answer is None else answer["error_code"]
        known = [answer["name"]] if answer is not None and answer.get("name") is not None else objects
        for each in known:  # without a name it may be any topic with this id
            yield _Deletion(each, code if len(known) == 1 else None, sent.begun, sent.ended, id)
