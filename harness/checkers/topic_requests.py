"""The requests of a plan that create, grow and delete topics: what topics may become by its doing, and nothing else.

A request that was refused with an error by which it certainly did nothing is no such request; one without an answer may
have been done.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final, Literal

from fencepost.harness.plan import paths
from fencepost.harness.plan.conditions.administrator_served import AdministratorServed
from fencepost.harness.plan.conditions.topic_created_through import TopicCreatedThrough
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.create_partitions import CreatePartitionsProbe
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.requests.delete_topic import DeleteTopicProbe
from fencepost.harness.plan.steps.znode import ZnodeStep
from fencepost.harness.plan.topic_changes import DELETIONS, TOPICS
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal

_NOTHING_DONE: Final = frozenset({17, 29, 31, 38, 39, 40, 41, 42, 44, 73, 89})
"""Errors that say that a request changed nothing. All others leave it open: a timeout does, and that a topic is there
already, or is not, may be the answer to a request that a broker forwarded twice."""

_SHOWS_WITHIN: Final = 5.0
"""Seconds after an answer until the observer has seen what was done."""

Kind = Literal["create", "grow", "delete"]
_APIS: Final[Mapping[str, Kind]] = {"create_topics": "create", "create_partitions": "grow", "delete_topics": "delete"}


@dataclass(frozen=True, slots=True)
class TopicRequest:
    """A request about one topic. `topic` is None if the journal does not name it; so may be `partitions`, a number.

    `id` is the topic's id if the request named it by that: it means one life of the topic, and no other.
    It was sent at `t`, and what it did shows by `until`: a while after its answer, or at any time without one.
    """

    kind: Kind
    t: float
    topic: str | None
    partitions: int | None = None
    acknowledged: bool = False
    until: float = inf
    id: str | None = None

    def may_mean(self, topic: str, id: str | None) -> bool:
        """Return whether the request may be one about the topic in the life that has this id; None: not known."""
        return self.topic in (None, topic) and (None in (self.id, id) or self.id == id)


def topic_requests(plan: Plan, journal: Journal) -> Iterator[TopicRequest]:
    """Yield the requests of the steps and conditions, in no order, without those that certainly did nothing. Linear."""
    requests = list(_requests(plan, journal))
    if all(each.id is None for each in requests):
        return iter(requests)
    return _named_by_id(requests, plan, journal)


def _named_by_id(requests: Iterable[TopicRequest], plan: Plan, journal: Journal) -> Iterator[TopicRequest]:
    """Yield the requests with the names of the topics that have their ids, whatever topics the answers named.

    An id that the journal does not have may be that of any topic of which it has none.
    """
    names: dict[str, str] = {}
    topics = {topic.name for topic in plan.topics} | {each.topic for each in requests if each.topic is not None}
    for event in sorted(journal.of("state"), key=lambda event: event.node is not None):  # what was decided comes first
        if event.data.get("what") == "partition":
            topics.add(event.data["topic"])
            if id := event.data.get("topic_id"):
                names.setdefault(id, event.data["topic"])
    without = sorted(topics - set(names.values()))
    for each in requests:
        if each.id is None:
            yield each
        else:
            meant = [names[each.id]] if each.id in names else without
            yield from (replace(each, topic=name) for name in meant)


def _requests(plan: Plan, journal: Journal) -> Iterator[TopicRequest]:
    steps = {plan.step_name(place): step for place, step in enumerate(plan.steps)}
    ends = {event.id: event for event in journal.of("op", "ok", "fail", "info")}
    bound = dict(_bound(steps, ends.values()))
    for event in journal.of("op", "invoke"):
        data, end = event.data, ends.get(event.id)
        found: Iterator[TopicRequest] = iter(())
        if data.get("f") == "admin":
            found = _of_administrator(event)
        elif data.get("f") == "probe" and not _did_nothing(end):
            found = _of_probe(steps.get(data.get("step", "")), event, end, bound)
        done = end is not None and end.phase == "ok"
        yield from (replace(each, until=end.t + _SHOWS_WITHIN if end and done else inf) for each in found)
    finished = {event.id for event in journal.of("step", "end") if event.data.get("outcome") == "done"}
    for event in journal.of("step", "begin"):
        yield from _of_step(steps.get(event.id), event, done=event.id in finished)


def _bound(steps: Mapping[str, object], ends: Iterable[Event]) -> Iterator[tuple[str, Any]]:
    """Yield the values that responses gave to names."""
    for end in ends:
        step = steps.get(end.data.get("step", ""))
        if isinstance(step, ApiProbe) and (response := _response(end)):
            yield from ((name, paths.at_path(response, path)) for name, path in step.binds.items())


def _of_administrator(event: Event) -> Iterator[TopicRequest]:
    """Yield what the condition `administrator-served` asks for, and the harness itself when it creates topics."""
    match event.data.get("request"):
        case "deleted":
            yield TopicRequest("delete", event.t, event.data.get("topic"))
        case "created":
            yield TopicRequest("create", event.t, event.data.get("topic"), 1)


def _of_probe(step: object, event: Event, end: Event | None, bound: Mapping[str, Any]) -> Iterator[TopicRequest]:
    acknowledged = end is not None and end.data.get("outcome") == "served"
    match step:
        case CreateTopicProbe():
            yield TopicRequest("create", event.t, step.topic, step.partitions, acknowledged)
        case CreatePartitionsProbe():
            yield TopicRequest("grow", event.t, step.topic, step.count, acknowledged)
        case DeleteTopicProbe():
            yield TopicRequest("delete", event.t, step.topic)
        case ApiProbe() if step.api in _APIS and not step.body.get("validate_only"):
            yield from _of_api(step, event.t, _response(end), bound)
        case None if event.data.get("request") == "delete-topic":  # a journal whose plan is not at hand
            yield TopicRequest("delete", event.t, event.data.get("topic"))


def _of_api(
    step: ApiProbe, t: float, response: Mapping[str, Any] | None, bound: Mapping[str, Any]
) -> Iterator[TopicRequest]:
    kind, body = _APIS[step.api], step.body
    answered = {each.get(key): each.get("error_code", 0) for each in _results(response) for key in ("name", "topic_id")}
    answered_names = [each["name"] for each in _results(response) if each.get("name") is not None]
    asked: list[Mapping[str, Any]] = [{"name": name} for name in body.get("topic_names") or ()]
    asked += body.get("topics") or ()
    for topic in asked:
        name, id = (_value(topic.get(key), bound) for key in ("name", "topic_id"))
        if name is None and id is None:  # a value that a step bound, and the journal does not have: the answer names it
            yield from (TopicRequest(kind, t, each, _number(topic)) for each in answered_names or [None])
        elif answered.get(name or id, 0) in _NOTHING_DONE:
            continue
        elif name is not None:
            yield TopicRequest(kind, t, name, _number(topic), answered.get(name) == 0)
        else:
            yield TopicRequest(kind, t, None, _number(topic), id=id)


def _value(field: object, bound: Mapping[str, Any]) -> str | None:
    """Return a field of a request as it was sent; None if it has none, or one of which the value is not known."""
    value = bound.get(field[1:]) if isinstance(field, str) and field.startswith("$") else field
    return None if value is None else str(value)


def _number(topic: Mapping[str, Any]) -> int | None:
    """Return the number of partitions that a request asks for; None if it is left to the broker."""
    if assignments := topic.get("assignments") if "count" not in topic else None:
        return len(assignments)
    number = topic.get("count", topic.get("num_partitions"))
    return number if isinstance(number, int) and number >= 0 else None


def _results(response: Mapping[str, Any] | None) -> Iterable[Mapping[str, Any]]:
    for key in ("topics", "results", "responses"):
        if response and isinstance(found := response.get(key), list | tuple):
            return [each for each in found if isinstance(each, Mapping)]
    return ()


def _response(end: Event | None) -> Mapping[str, Any] | None:
    body = end.data.get("body") if end is not None else None
    response = body.get("response") if isinstance(body, Mapping) else None
    return response if isinstance(response, Mapping) else None


def _did_nothing(end: Event | None) -> bool:
    if end is None:
        return False
    return end.data.get("outcome") in ("absent", "not-asked") or end.data.get("error") in _NOTHING_DONE


def _of_step(step: object, event: Event, *, done: bool) -> Iterator[TopicRequest]:
    match step:
        case TopicCreatedThrough():
            yield TopicRequest("create", event.t, TopicCreatedThrough.topic(event.id), 1, acknowledged=done)
        case AdministratorServed():
            return  # its requests are in the journal one by one
        case ZnodeStep() if step.path.startswith(DELETIONS):
            yield TopicRequest("delete", event.t, step.path.removeprefix(DELETIONS))
        case ZnodeStep() if step.path.startswith(TOPICS):
            name, _, below = step.path.removeprefix(TOPICS).partition("/")
            if step.action == "delete":
                if not below:
                    yield TopicRequest("delete", event.t, name)
            elif not below:
                kind: Kind = "create" if step.action == "create" else "grow"
                yield TopicRequest(kind, event.t, name, _partitions(step.data), acknowledged=done)


def _partitions(data: str) -> int | None:
    """Return the number of partitions in a topic's znode."""
    try:
        return len(json.loads(data)["partitions"]) or None
    except (ValueError, KeyError, TypeError):
        return None
