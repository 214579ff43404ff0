"""Names of topics, groups and transactional ids that belong to one run: each begins with the prefix of the run.

Plans name a topic `t`. Before a plan is run on a cluster that others use, it is written anew with a prefix; the plan in
the run folder has these names. A plan that has them already keeps them.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fencepost.harness.plan.conditions.administrator_served import AdministratorServed
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.api import ApiProbe

_PREFIX = re.compile(r"fencepost-[0-9a-f]{8}-")
_REFERENCE = re.compile(r"^(leader|followers|coordinator|transaction-coordinator|leader-epoch):(?=.)")
_NAMES = frozenset({"name", "topic", "group_id", "transactional_id", "key", "resource_name"})
"""Fields of requests that hold a name, in Kafka's protocol."""
_LISTS = frozenset({"topics", "groups", "groups_names", "topic_names", "coordinator_keys"})
"""Fields of requests that hold several, in the versions that have texts there."""
_OTHERS = frozenset({"configs", "configuration_keys", "protocols", "records", "assignments"})
"""Fields below which a `name` is that of something else."""
_STEP_NAMES = frozenset({"step", "after", "before", "event", "since"})
"""Fields of plans that name a step, or an instant of one."""


def new_prefix() -> str:
    """Return a prefix that no other run has."""
    return f"fencepost-{secrets.token_hex(4)}-"


def prefix_of(plan: Plan) -> str:
    """Return the prefix of the plan's topics; empty if it has none."""
    found = _PREFIX.match(plan.topics[0].name) if plan.topics else None
    return found[0] if found else ""


def prefixed(plan: Plan, prefix: str) -> Plan:
    """Return the plan with this prefix before each name of a topic, a group and a transactional id."""
    data = plan.model_dump(mode="json", by_alias=True)
    for topic in data["topics"]:
        topic["name"] = prefix + topic["name"]
    for client in (*data["workload"]["producers"], *data["workload"]["consumers"]):
        client["topic"] = prefix + client["topic"]
        for part in filter(None, (client.get("membership"), client.get("transactions"))):
            if part["group"] is not None:
                part["group"] = prefix + part["group"]
        if (transactions := client.get("transactions")) is not None:
            transactions["id"] = prefix + (transactions["id"] or client["name"])
    data["steps"] = [_of_step(step, prefix) for step in data["steps"]]
    for place, step in enumerate(plan.steps):
        if isinstance(step, AdministratorServed):  # its topics have the name of the step
            name = plan.step_name(place)
            data["steps"][place]["as"] = prefix + name
            data["steps"], data["coverage"] = _renamed([data["steps"], data["coverage"]], name, prefix + name)
    return Plan.model_validate(data)


def _renamed(value: Any, old: str, new: str, key: str = "") -> Any:
    """Return plain data with another name of a step, where it is referred to."""
    if isinstance(value, dict):
        return {each: _renamed(part, old, new, each) for each, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part, old, new, key) for part in value]
    if key in _STEP_NAMES and isinstance(value, str) and value.partition(".")[0] == old:
        return new + value.removeprefix(old)
    return value


def _of_step(step: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {key: _of_field(key, value, prefix) for key, value in step.items()}


def _of_field(key: str, value: Any, prefix: str) -> Any:
    match key, value:
        case "body", dict():
            return _mapped(value, lambda name: prefix + name if name else name)
        case (("topic" | "group" | "partition"), str()):
            return prefix + value
        case "unchanged", list():
            return [each if each == "brokers" else prefix + each for each in value]
        case "when", dict():
            return _of_step(value, prefix)
        case _, str():
            return _REFERENCE.sub(lambda found: found[0] + prefix, value)
        case _, list():
            return [_REFERENCE.sub(lambda found: found[0] + prefix, e) if isinstance(e, str) else e for e in value]
    return value


def _mapped(value: Any, change: Callable[[str], str], key: str = "") -> Any:
    """Return the value of a request's field with each name changed."""
    if key in _OTHERS:
        return value
    if isinstance(value, Mapping):
        return {each: _mapped(part, change, each) for each, part in value.items()}
    if isinstance(value, list | tuple):
        return [change(e) if key in _LISTS and isinstance(e, str) else _mapped(e, change, key) for e in value]
    return change(value) if key in _NAMES and isinstance(value, str) else value


def names_in_requests(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield (step, name) for each name that a request of the plan spells out."""
    for place, step in enumerate(plan.steps):
        if isinstance(step, ApiProbe):
            yield from ((plan.step_name(place), name) for name in _names(step.body))


def _names(body: Mapping[str, Any]) -> list[str]:
    found: list[str] = []

    def note(name: str) -> str:
        found.append(name)
        return name

    _mapped(body, note)
    return found
