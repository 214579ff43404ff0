"""AlterConfigs and IncrementalAlterConfigs: the same decision in every design, which differ in where it is kept.

A resource of a request is decided as a whole. What it changes is a mapping from setting to new value, None for one that
is removed, so that what stands below it applies again: the broker's setting, its file, the default.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from fencepost.cluster_impl.api.config_changes import AlterRequest, Outcome
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError, unknown_topic
from fencepost.cluster_impl.designs.shared.topic_settings import problem_with, problem_with_broker_setting
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

TOPIC, BROKER = 2, 4
"""Kafka's numbers of the resource types in ConfigRecord and in requests."""

ALL_BROKERS = ""
"""The name of the resource whose settings are those of every broker."""

Changes = Mapping[str, str | None]


class Operation(IntEnum):
    """Operations of IncrementalAlterConfigs (KIP-339)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class Decided:
    """One resource of a request: its changes, or the reason why there are none."""

    outcome: Outcome
    changes: Changes


def decide(
    request: AlterRequest,
    settings_of: Callable[[int, str], Mapping[str, str]],
    topics: Collection[str],
    switches: Collection[str] = (),
    taken_up: Callable[[str], bool] = lambda _: False,
) -> list[Decided]:
    """Decide each resource. `settings_of` returns its present settings, by type and name; `switches` as in
    `problem_with`; `taken_up` tells further settings that the brokers of a design take up at run time, each its own."""
    named = Counter((resource.resource_type, resource.resource_name) for resource in request.resources)
    decided = []
    for resource in request.resources:
        kind, name = resource.resource_type, resource.resource_name
        try:
            if named[kind, name] > 1:
                raise RequestError(Error.INVALID_REQUEST, "The request names this resource more than once.")
            _check_resource(kind, name, topics)
            _check_named_once(config.name for config in resource.configs)
            if isinstance(resource, m.IncrementalAlterConfigsRequest.AlterConfigsResource):
                changes = _steps(resource)
            else:
                changes = {**dict.fromkeys(settings_of(kind, name)), **_values(resource)}
            own = {key for key in changes if kind == BROKER and name != ALL_BROKERS and taken_up(key)}
            _check_values(kind, {key: to for key, to in changes.items() if key not in own}, switches)
        except RequestError as error:
            decided.append(Decided(Outcome(kind, name, error.error, str(error)), {}))
        else:
            present = settings_of(kind, name)
            really = {key: to for key, to in changes.items() if present.get(key) != to}
            decided.append(Decided(Outcome(kind, name), really))
    return decided


def _check_resource(kind: int, name: str, topics: Collection[str]) -> None:
    if kind == TOPIC:
        if not name:
            raise RequestError(Error.INVALID_REQUEST, "Only brokers have settings of all of them: name a topic.")
        if name not in topics:
            raise unknown_topic(name)
    elif kind != BROKER:
        raise RequestError(Error.INVALID_REQUEST, "Only topics (2) and brokers (4) have settings.")
    elif name != ALL_BROKERS and not (name.isascii() and name.isdecimal()):
        raise RequestError(Error.INVALID_REQUEST, f"{name} is not a broker id; the empty name means all brokers.")


def _check_named_once(names: Iterable[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise RequestError(Error.INVALID_REQUEST, f"The request names {', '.join(twice)} more than once.")


def _values(resource: m.AlterConfigsRequest.AlterConfigsResource) -> Changes:
    for config in resource.configs:
        if config.value is None:
            raise RequestError(Error.INVALID_REQUEST, f"{config.name} has no value.")
    return {config.name: config.value for config in resource.configs}


def _steps(resource: m.IncrementalAlterConfigsRequest.AlterConfigsResource) -> Changes:
    changes: dict[str, str | None] = {}
    for config in resource.configs:
        match config.config_operation:
            case Operation.DELETE:
                changes[config.name] = None
            case Operation.SET if config.value is not None:
                changes[config.name] = config.value
            case Operation.SET:
                raise RequestError(Error.INVALID_REQUEST, f"{config.name} has no value.")
            case Operation.APPEND | Operation.SUBTRACT:
                raise RequestError(Error.INVALID_CONFIG, f"{config.name} is not a list of several values.")
            case other:
                raise RequestError(Error.INVALID_REQUEST, f"{other} is no operation: set is 0, delete is 1.")
    return changes


def _check_values(kind: int, changes: Changes, switches: Collection[str]) -> None:
    for name, value in changes.items():
        if value is None:
            continue
        problem = problem_with(name, value, switches) if kind == TOPIC else problem_with_broker_setting(name, value)
        if problem is not None:
            raise RequestError(Error.INVALID_CONFIG, problem)
