"""The base of all kinds of state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

from fencepost.harness.model.effect import Effect
from fencepost.harness.model.sent import Description, Sent
from fencepost.harness.model.worlds import State

UNKNOWN_TOPIC = 3
"""UNKNOWN_TOPIC_OR_PARTITION."""


class Asked(Enum):
    """The nodes that a description is asked of."""

    BROKERS = "each broker"
    CONTROLLERS = "each controller"


@dataclass(frozen=True)
class Scope:
    """The part of the cluster that is known when descriptions are asked for."""

    topics: Sequence[str] = ()
    """All topics that are there or were named by a request."""
    node_id: int = -1
    """The id of the node that is asked."""
    metadata_topic: str = ""
    """The name of the metadata log in requests."""
    objects: Sequence[str] = ()
    """The objects of the kind that requests have named."""
    of_clients: frozenset[str] = frozenset()
    """The groups and transactional ids of the workload. Its clients change them as well, which nothing records."""


@dataclass(frozen=True)
class Question:
    """A request that describes objects of a kind. `scope` names those that are asked for, None stands for all."""

    api: str
    body: Mapping[str, Any]
    scope: Sequence[str] | None = None
    oldest: int = 0
    """The oldest version that can be asked with; without it the node is not asked."""
    followed: Sequence[str] = ()
    """The objects that `read` looks for in an answer that lists whatever there is."""
    newest: int | None = None
    """The newest version whose answer `read` knows. None: any."""


class Kind(ABC):
    """One kind of state. Objects are named by texts; a state is any hashable value."""

    name: ClassVar[str]
    requirement: ClassVar[str]
    """The rule that a wrong description breaks."""
    asked: ClassVar[Asked] = Asked.BROKERS
    changed_by: ClassVar[frozenset[str]]
    """The requests that change its objects, by their names in snake case."""
    absent: ClassVar[State] = None
    """The state of an object that no description has."""
    of_replicas: ClassVar[bool] = False
    """It is about the brokers that hold a partition: asked of those that place replicas as clients assign them."""
    of_each_node: ClassVar[bool] = False
    """Each node describes objects of its own, so that they need not agree."""
    in_znodes: ClassVar[bool] = False
    """An administrator can change its objects in ZooKeeper too, by no request."""
    forwarded: ClassVar[bool] = False
    """Its requests are forwarded to a controller, or tried anew where they met another one."""
    begins_absent: ClassVar[bool] = False
    """Objects come into being by requests that are recorded, so that they need not be asked for before."""

    @abstractmethod
    def questions(self, scope: Scope) -> Iterator[Question]:
        """Yield the requests that describe its objects."""

    @abstractmethod
    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return what an answer says of each object, in the types of JSON; None if it says nothing that counts."""

    @abstractmethod
    def state(self, seen: Any) -> State:
        """Return the state that a description of one object shows."""

    def initial(self, shown: Sequence[Any]) -> State:
        """Return the state of an object at first, from all descriptions of it at the first look, at least one."""
        return self.state(shown[0])

    @abstractmethod
    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        """Yield what a request does to each object. `objects` are all that were described or named."""

    def aged(self, state: State, now: float) -> State:
        """Return the state at a later time, in seconds of the run, where time alone may change it."""
        return state

    def fits(self, state: State, seen: State) -> Iterator[State]:
        """Yield the state that is known after a description, none if it contradicts `state`."""
        if state == seen:
            yield seen

    def contradictions(self, descriptions: Sequence[Description]) -> Iterator[tuple[Description, str, str, str]]:
        """Yield where descriptions of one look contradict each other, whatever was asked for before.

        Each is (description, object, what it shows, what another one shows). `descriptions` are those of all kinds.
        """
        yield from ()

    def says(self, state: State) -> str:
        """Return a state in words."""
        return "absent" if state == self.absent else str(state)


class OfOneLook(Kind):
    """A kind whose objects come and go with those of other kinds: `contradictions` judges each look by itself."""

    changed_by = frozenset()

    def state(self, seen: Any) -> State:
        return frozenset(seen)

    def fits(self, state: State, seen: State) -> Iterator[State]:
        yield seen

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        yield from ()


def results(response: Mapping[str, Any] | None, *keys: str) -> Sequence[Mapping[str, Any]]:
    """Return the parts of a response about single objects: the first list among these fields."""
    lists = (response[key] for key in keys if response and isinstance(response.get(key), list))
    return next(lists, ())


def asked_to_delete(sent: Sent) -> Collection[tuple[str | None, str | None]]:
    """Return the name or the id of each topic that a deletion asks for. One that is named twice is one topic."""
    named = sent.body.get("topics") or [{"name": name} for name in sent.body.get("topic_names") or ()]
    return dict.fromkeys((topic.get("name"), topic.get("topic_id")) for topic in named)


def deleted_topics(sent: Sent) -> Sequence[str] | None:
    """Return the topics that a request may have deleted; None if these may be any."""
    names = [name for name, _ in asked_to_delete(sent)]
    known = [name for name in names if name is not None]
    return known if len(known) == len(names) else None


def is_described(parts: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether an answer says of each part what it is, or that it is not there.

    A broker that does not serve now answers other errors, which say nothing.
    """
    return all(part["error_code"] in (0, UNKNOWN_TOPIC) for part in parts)
