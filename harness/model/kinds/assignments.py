"""Assignments: the brokers that hold each partition, and the reassignments under way.

The cluster chooses the replicas of a partition that is created without an assignment; its first description has them.
After that only a reassignment moves them. One that was accepted may be under way while it is described: the replicas
are then those of before and those to come, together, and the list of reassignments says which are added and removed. A
partition that this list has no more is at its target, or where it was if the reassignment was called off. The order of
the replicas is then open: a reassignment puts its target first.

Sources: the descriptions of CreateTopics, CreatePartitions, AlterPartitionReassignments, ListPartitionReassignments and
Metadata; KIP-455.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fencepost.harness.model.effect import Deletion, Effect, Validation
from fencepost.harness.model.kind import Kind, Question, Scope, asked_to_delete, is_described, results
from fencepost.harness.model.kinds.topics import EXISTS, INTERNAL, UNKNOWN
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.worlds import State

NO_REASSIGNMENT = 85
DEFAULT = -1
"""The number of partitions by which a creation leaves it to the brokers."""


class Assignment(NamedTuple):
    """The replicas of a partition, the preferred leader first; None: the cluster chose them, and did not show them yet.

    `to`: those of a reassignment that may be under way.
    """

    replicas: tuple[int, ...] | None
    to: tuple[int, ...] | None = None
    in_order: bool = True
    """Their order is known; it is not from a list of reassignments."""

    def has(self, shown: tuple[int, ...], replicas: tuple[int, ...]) -> bool:
        """Return whether `shown` are these replicas, in their order if that is known."""
        return shown == replicas or (not self.in_order and set(shown) == set(replicas))


SETTLED = Assignment(None, in_order=False)
"""A partition that the list of reassignments does not have."""


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
class _Move(Effect):
    to: tuple[int, ...] | None

    @property
    def title(self) -> str:
        return (
            f"move {self.object} to {', '.join(map(str, self.to))}" if self.to else f"call off a move of {self.object}"
        )

    def refusals(self, state: State) -> frozenset[int]:
        if not isinstance(state, Assignment):
            return frozenset({UNKNOWN, NO_REASSIGNMENT})
        return frozenset({NO_REASSIGNMENT}) if self.to is None and state.to is None else frozenset()

    def after(self, state: State) -> State:
        assert isinstance(state, Assignment)
        if self.to is not None:
            return state._replace(to=self.to)
        return Assignment(state.replicas, in_order=False)

    def step(self, state: State) -> Iterator[State]:
        """An earlier reassignment may be complete by now; it is not under way if there was none to call off."""
        if isinstance(state, Assignment) and state.to is not None:
            complete = Assignment(state.to, in_order=state.in_order)
            if self.to is not None:
                yield from super().step(complete)
            elif self.code == NO_REASSIGNMENT:
                yield complete
                yield self.after(state)  # by an earlier attempt of the same request
                return
        yield from super().step(state)


class Assignments(Kind):
    """Each partition is on the brokers that it was created on or moved to, in their order, or moves as it was asked."""

    name = "assignments"
    in_znodes = True
    of_replicas = True
    forwarded = True
    requirement = "MDL-09"
    changed_by = frozenset({"create_topics", "create_partitions", "delete_topics", "alter_partition_reassignments"})

    def questions(self, scope: Scope) -> Iterator[Question]:
        yield Question("metadata", {"topics": None, "allow_auto_topic_creation": False})
        yield Question("list_partition_reassignments", {"topics": None}, (), followed=scope.objects)

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if question.api == "list_partition_reassignments":
            return None if answer["error_code"] else {**dict.fromkeys(question.followed), **_under_way(answer)}
        if not (answer["brokers"] and is_described(answer["topics"])):
            return None  # a broker that does not serve now
        return {
            f"{topic['name']}-{partition['partition_index']}": list(partition["replica_nodes"])
            for topic in answer["topics"]
            if not topic["error_code"] and topic["name"] not in INTERNAL
            for partition in topic["partitions"]
        }

    def state(self, seen: Any) -> State:
        match seen:
            case None:
                return SETTLED
            case Mapping():
                return Assignment(tuple(seen["from"]), tuple(seen["to"]), in_order=False)
        return Assignment(tuple(seen))

    def initial(self, shown: Sequence[Any]) -> State:
        """A reassignment may be under way at first; the list of these alone says where it leads, and only of these."""
        there = [each for each in shown if each is not None]
        return self.state(min(there, key=lambda each: not isinstance(each, Mapping))) if there else None

    def fits(self, state: State, seen: State) -> Iterator[State]:
        if not (isinstance(state, Assignment) and isinstance(seen, Assignment)):
            if {state, seen} <= {None, SETTLED}:
                yield state
        elif seen.in_order and seen.replicas is not None:
            yield from _fits_replicas(state, seen.replicas)
        else:
            yield from _fits_list(state, seen)

    def says(self, state: State) -> str:
        if not isinstance(state, Assignment):
            return super().says(state)
        if state == SETTLED:
            return "not being reassigned"
        on = "brokers that the cluster chooses" if state.replicas is None else ", ".join(map(str, state.replicas))
        order = "" if state.in_order else " in any order"
        return f"{on}{order}" + (f", on its way to {', '.join(map(str, state.to))}" if state.to else "")

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        validates = bool(sent.body.get("validate_only"))
        for effect in self._effects(sent, objects):
            yield Validation(effect.object, effect.code, effect) if validates else effect

    def _effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        answers = results(sent.response, "topics", "results", "responses")
        codes = {answer.get("name"): answer.get("error_code") for answer in answers}
        match sent.api:
            case "create_topics":
                counts = {answer.get("name"): answer.get("num_partitions", DEFAULT) for answer in answers}
                for topic in sent.body["topics"]:
                    given = {each["partition_index"]: tuple(each["broker_ids"]) for each in topic["assignments"]}
                    for number in given or _numbers(topic, counts.get(topic["name"], DEFAULT), objects):
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
        for named, id in asked_to_delete(sent):
            name = named or ids.get(id)
            for each in objects:
                if name is None or each.rpartition("-")[0] == name:
                    yield Deletion(each, codes.get(name) if name is not None else None)


def _numbers(topic: Mapping[str, Any], answered: int, objects: Collection[str]) -> Iterable[int]:
    """Return the partitions of a creation. Of the default number the answer tells, and otherwise what is described."""
    count = answered if topic["num_partitions"] == DEFAULT else topic["num_partitions"]
    if count != DEFAULT:
        return range(max(0, count))
    parts = (each.rpartition("-") for each in objects)
    return sorted(int(number) for name, _, number in parts if name == topic["name"])


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


def _under_way(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the replicas from which and to which each partition moves that an answer lists."""
    return {
        f"{topic['name']}-{each['partition_index']}": {
            "from": [replica for replica in each["replicas"] if replica not in each["adding_replicas"]],
            "to": [replica for replica in each["replicas"] if replica not in each["removing_replicas"]],
        }
        for topic in answer["topics"]
        for each in topic["partitions"]
    }


def _fits_replicas(state: Assignment, shown: tuple[int, ...]) -> Iterator[Assignment]:
    """Yield what is known once these replicas are described, in their order."""
    if state.to is None:
        if state.replicas is None or state.has(shown, state.replicas):
            yield Assignment(shown)
        return
    at_target = state.has(shown, state.to)
    if at_target:
        yield Assignment(shown)
    origin = set(state.replicas or ())
    only_adds = origin < set(shown)  # then the replicas are those to come from the beginning
    if state.replicas is None or (only_adds if at_target else set(shown) <= {*origin, *state.to}):
        yield state


def _fits_list(state: Assignment, seen: Assignment) -> Iterator[Assignment]:
    """Yield what is known once a reassignment is listed, or none is."""
    if seen.to is None or seen.replicas is None:
        yield state if state.to is None else Assignment(state.to, in_order=state.in_order)
        return
    origin, target = set(seen.replicas), set(seen.to)
    if state.to is None:
        if state.replicas is not None and origin == target == set(state.replicas):
            yield state  # its last step, which moves nothing
    elif target == set(state.to):
        if state.replicas is None:
            yield Assignment(seen.replicas, state.to, in_order=False)
        elif origin in (set(state.replicas), target):
            yield state
