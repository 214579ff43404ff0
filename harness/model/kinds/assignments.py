"""Assignments: the brokers that hold each partition.

The cluster chooses the replicas of a partition that is created without an assignment; its first description has them.
After that only a reassignment moves them. One that was accepted may be under way while it is described: the replicas
are then those of before and those to come, together.

Sources: the descriptions of CreateTopics, CreatePartitions, AlterPartitionReassignments and Metadata; KIP-455.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fencepost.harness.model.effect import Effect, Validation
from fencepost.harness.model.kind import Kind, Question, Scope, is_described, results
from fencepost.harness.model.kinds.topics import EXISTS, INTERNAL, UNKNOWN
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.worlds import State

NO_REASSIGNMENT = 85


class Assignment(NamedTuple):
    """The replicas of a partition, the preferred leader first; None: the cluster chose them, and did not show them yet.

    `to`: those of a reassignment that may be under way.
    """

    replicas: tuple[int, ...] | None
    to: tuple[int, ...] | None = None


@dataclass(frozen=True)
class _Creation(Effect):
    assignment: Assignment

    @property
    def title(self) -> str:
        on = self.assignment.replicas
        return f"create {self.object}" + (f" on {', '.join(map(str, on))}" if on else "")

    def refusals(self, state: State) -> frozenset[int]:
        return frozenset() if state is None else frozenset({EXISTS})

    def after(self, state: State) -> State:
        return self.assignment


@dataclass(frozen=True)
class _Deletion(Effect):
    @property
    def title(self) -> str:
        return f"delete {self.object}"

    def after(self, state: State) -> State:
        return None


@dataclass(frozen=True)
class _Move(Effect):
    to: tuple[int, ...] | None

    @property
    def title(self) -> str:
        return (
            f"move {self.object} to {', '.join(map(str, self.to))}" if self.to else f"call off a move of {self.object}"
        )

    def refusals(self, state: State) -> frozenset[int]:
        return frozenset({UNKNOWN, NO_REASSIGNMENT}) if state is None else frozenset()

    def after(self, state: State) -> State:
        assert isinstance(state, Assignment)
        if self.to is not None:
            return Assignment(state.replicas, self.to)
        return Assignment(state.replicas)


class Assignments(Kind):
    """Each partition is on the brokers that it was created on or moved to, in their order."""

    name = "assignments"
    in_znodes = True
    requirement = "MDL-09"
    changed_by = frozenset({"create_topics", "create_partitions", "delete_topics", "alter_partition_reassignments"})

    def questions(self, scope: Scope) -> Iterator[Question]:
        yield Question("metadata", {"topics": None, "allow_auto_topic_creation": False})

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if not (answer["brokers"] and is_described(answer["topics"])):
            return None  # a broker that does not serve now
        return {
            f"{topic['name']}-{partition['partition_index']}": list(partition["replica_nodes"])
            for topic in answer["topics"]
            if not topic["error_code"] and topic["name"] not in INTERNAL
            for partition in topic["partitions"]
        }

    def state(self, seen: Any) -> State:
        return Assignment(tuple(seen))

    def fits(self, state: State, seen: State) -> Iterator[State]:
        if not (isinstance(state, Assignment) and isinstance(seen, Assignment)):
            yield from super().fits(state, seen)
            return
        shown = seen.replicas
        if state.replicas in (None, shown) or state.to == shown:
            yield Assignment(shown, state.to if state.to != shown else None)
        elif state.replicas and state.to and shown and set(shown) <= {*state.replicas, *state.to} > set():
            yield state

    def says(self, state: State) -> str:
        if not isinstance(state, Assignment):
            return super().says(state)
        on = "brokers that the cluster chooses" if state.replicas is None else ", ".join(map(str, state.replicas))
        return f"{on}, on its way to {', '.join(map(str, state.to))}" if state.to else on

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        validates = bool(sent.body.get("validate_only"))
        for effect in self._effects(sent, objects):
            yield Validation(effect.object, effect.code, effect) if validates else effect

    def _effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        answers = results(sent.response, "topics", "results", "responses")
        codes = {answer.get("name"): answer.get("error_code") for answer in answers}
        match sent.api:
            case "create_topics":
                for topic in sent.body["topics"]:
                    given = {each["partition_index"]: tuple(each["broker_ids"]) for each in topic["assignments"]}
                    numbers = given or range(max(0, topic["num_partitions"]))
                    for number in numbers:
                        replicas = given[number] if given else None
                        yield _Creation(f"{topic['name']}-{number}", codes.get(topic["name"]), Assignment(replicas))
            case "create_partitions":
                for topic in sent.body["topics"]:
                    yield from self._grown(topic, codes.get(topic["name"]))
            case "delete_topics":
                yield from self._deleted(sent, answers, objects)
            case _:
                yield from _moves(sent)

    def _grown(self, topic: Mapping[str, Any], code: int | None) -> Iterator[Effect]:
        """Yield all partitions that a topic has after it; those that it had stay as they are."""
        given = [tuple(each["broker_ids"]) for each in topic["assignments"] or ()]
        old = topic["count"] - len(given)
        for number in range(topic["count"]):
            assigned = given[number - old] if number >= old else None
            yield _Addition(f"{topic['name']}-{number}", code, Assignment(assigned))

    def _deleted(self, sent: Sent, answers: Sequence[Mapping[str, Any]], objects: Collection[str]) -> Iterator[Effect]:
        codes = {answer.get("name"): answer["error_code"] for answer in answers}
        ids = {answer.get("topic_id"): answer.get("name") for answer in answers}
        for topic in sent.body.get("topics") or [{"name": name} for name in sent.body.get("topic_names") or ()]:
            name = topic.get("name") or ids.get(topic.get("topic_id"))
            for each in objects:
                if name is None or each.rpartition("-")[0] == name:
                    yield _Deletion(each, codes.get(name) if name is not None else None)


@dataclass(frozen=True)
class _Addition(Effect):
    """A partition that a topic gets, unless it has it."""

    assignment: Assignment

    @property
    def title(self) -> str:
        on = self.assignment.replicas
        return f"add {self.object}" + (f" on {', '.join(map(str, on))}" if on else "")

    def after(self, state: State) -> State:
        return self.assignment if state is None else state


def _moves(sent: Sent) -> Iterator[Effect]:
    answers = results(sent.response, "responses")
    refused = sent.response["error_code"] if sent.response else 0
    codes = {
        (answer["name"], partition["partition_index"]): partition["error_code"]
        for answer in answers
        for partition in answer["partitions"]
    }
    for topic in sent.body["topics"]:
        for partition in topic["partitions"]:
            at = topic["name"], partition["partition_index"]
            to = None if partition["replicas"] is None else tuple(partition["replicas"])
            yield _Move(f"{at[0]}-{at[1]}", refused or codes.get(at), to)
