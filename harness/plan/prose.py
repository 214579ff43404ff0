"""Steps, conditions and faults of a plan in prose, for reports and progress."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from fencepost.faults.parameters import Refers, key_of, references
from fencepost.faults.registry import FAULTS
from fencepost.harness.plan.base import Expect, ExpectOutcome, Level, LogLine
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.refs import node_keys
from fencepost.harness.plan.requests.request import ProbeStep

NOTHING: Mapping[str, Any] = {}
MOST_NAMES = 3
"""Nodes that are named one by one; of more only the number is given."""

_ROLES = {
    "active-controller": "the active controller",
    "standby-controller": "a controller that is not active",
    "zookeeper-leader": "the leader of the ensemble",
    "controllers": "the controllers",
    "brokers": "the brokers",
    "zookeeper": "the ZooKeeper servers",
    "none": "no node",
    "site:main": "clients",
}
_MANY = ("followers:", "site:", "controllers", "brokers", "zookeeper")


def step_in_words(step: Any, bound: Mapping[str, Any] = NOTHING) -> str:
    """Return what a step does, as an imperative or a clause: `Wait until node-5 leads t-0`.

    `bound` has the nodes and values that stand for `$name`, as far as they are known.
    """
    values = _values(step, bound)
    match step.do:
        case "inject":
            return capitalised(fault_in_words(step.fault, values) + _when(step, bound))
        case "await":
            return f"Wait until {condition_in_words(step, bound)}"
        case "probe":
            return _probe(step, values)
        case _:
            return _filled(step.clause, values, node_keys(type(step)))


def claim_in_words(step: Any, bound: Mapping[str, Any] = NOTHING) -> str:
    """Return the step with the claim that it carries: `Ask node-6 for metadata: never served`."""
    expect: Expect | None = getattr(step, "expect", None)
    if expect is None:
        return step_in_words(step, bound)
    if step.do == "await":
        within = f"within {step.within_ms / 1000:g} s"
        condition = condition_in_words(step, bound)
        match expect.level:
            case Level.MUST:
                return capitalised(f"{condition} {within}")
            case Level.NEVER:
                return f"Never {within}: {condition}"
            case _:
                return capitalised(f"{condition} {within}, or not")
    if not isinstance(expect, ExpectOutcome):
        return step_in_words(step, bound)
    level = {Level.MUST: "must be", Level.NEVER: "never", Level.MAY: "may be"}[expect.level]
    return f"{step_in_words(step, bound)}: {level} {outcome_in_words(expect.outcome)}"


def steps_in_words(plan: Plan) -> dict[str, str]:
    """Return the steps of a plan in words, by their names and in their order."""
    return {plan.step_name(place): claim_in_words(step) for place, step in enumerate(plan.steps)}


def condition_in_words(step: Any, bound: Mapping[str, Any] = NOTHING) -> str:
    """Return the condition of a step that waits, as a clause: `node-6 is active`."""
    return _filled(step.clause, _values(step, bound), node_keys(type(step)))


def fault_in_words(fault: str, parameters: Mapping[str, Any], *, past: bool = False) -> str:
    """Return the state that a fault makes, as a clause: `node-6 is cut off from the controllers`.

    `parameters` are those of a plan or of the journal, by their keys there. A fault that is not known here, or that
    lacks a parameter, is given by its name and its nodes.
    """
    known = FAULTS.get(fault)
    phrase = getattr(known, "phrase", "")
    values, nodes = dict(parameters), frozenset[str]()
    if known is not None:
        nodes = node_keys(known.Parameters)
        fields = known.Parameters.model_fields
        values = {key_of(key): field.default for key, field in fields.items() if not field.is_required()} | values
    wanted = re.findall(r"{(\w+)}", phrase)
    if not phrase or any(values.get(key) is None for key in wanted):
        targets = values.get("nodes") or values.get("node") or values.get("from")
        phrase, values = ("`{fault}` is in effect" + (" on {on}" if targets else "")), {"fault": fault, "on": targets}
    if "from" in values and "nodes" in values:
        values["from"] = _others(values["from"], values["nodes"])
    if agreeing := re.match(r"{(\w+)} are ", phrase):
        one = not _is_many(values[agreeing[1]])
        phrase = phrase.replace(" are ", " is ", 1) if one else phrase
    if past:
        phrase = re.sub(r"\b(is|are)\b", lambda verb: {"is": "was", "are": "were"}[verb[0]], phrase, count=1)
    return _filled(phrase, values, {*nodes, "on"})


def outcome_in_words(outcome: str) -> str:
    """Return the outcome of a request that a plan expects: `error:[74,75]` names both errors."""
    if not outcome.startswith("error:"):
        return outcome
    codes = [int(code) for code in re.findall(r"-?\d+", outcome)]
    return "answered with " + " or ".join(error_name(code) for code in codes)


def error_name(code: int) -> str:
    """Return Kafka's name of an error code in the way its documents write it, with the number."""
    from kio.schema.errors import ErrorCode  # few readers of a plan need it

    known = {int(each.value): each.name for each in ErrorCode}
    return f"{known[code].upper()} ({code})" if code in known else f"error {code}"


def names(refs: str | Sequence[str] | None) -> str:
    """Return references to nodes as a phrase: roles are spelled out, and of many nodes only the number is given."""
    if refs is None:
        return "no node"
    if not isinstance(refs, list | tuple):
        return _name(str(refs))
    listed = [_name(ref) for ref in refs]
    if len(listed) > MOST_NAMES:
        return f"{len(listed)} nodes"
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}" if listed else "no node"


def _name(ref: str) -> str:
    role, _, partition = ref.partition(":")
    if role == "leader" and partition:
        return f"the leader of {partition}"
    if role == "followers" and partition:
        return f"the followers of {partition}"
    return _ROLES.get(ref, ref.removeprefix("$"))


def _probe(step: ProbeStep, values: Mapping[str, Any]) -> str:
    words = _filled(step.clause, values, node_keys(type(step)))
    given = (key for key, marks in references(type(step)).items() if Refers.VALUE in marks)
    epochs = [
        f"a stale {name}" if value == "stale" else f"{name} {str(value).removeprefix('$')}"
        for key in sorted(given, key=lambda key: not key.endswith("epoch"))
        if (value := values.get(key)) is not None and value != "current"
        for name in [key.replace("_", " ")]
    ]
    times = f", {step.repeat} times" if step.repeat > 1 else ""
    return words + (f" at {' and '.join(epochs)}" if epochs else "") + times


def _when(step: InjectStep, bound: Mapping[str, Any]) -> str:
    if step.when is None:
        return ""
    if isinstance(step.when, LogLine):
        where = names(step.when.node) if step.when.node else "its node"
        return f", once {where} logs “{step.when.says}”"
    return f", once {condition_in_words(step.when, bound)}"


def _others(nodes: Any, inside: Any) -> Any:
    """Return the nodes that a group is separated from, without the group itself."""
    if isinstance(nodes, str):
        return nodes
    own = {inside} if isinstance(inside, str) else set(inside)
    return [node for node in nodes if node not in own] or nodes


def _is_many(refs: Any) -> bool:
    return refs.startswith(_MANY) if isinstance(refs, str) else len(refs) > 1 or any(map(_is_many, refs))


def _values(step: Any, bound: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a step that are set, by their keys in the file, with bound values in place of `$name`."""

    def found(value: Any) -> Any:
        if isinstance(value, str) and value.startswith("$"):
            return bound.get(value[1:], value)
        return tuple(map(found, value)) if isinstance(value, tuple) else value

    return {key_of(key): found(value) for key in type(step).model_fields if (value := getattr(step, key)) is not None}


def _filled(phrase: str, values: Mapping[str, Any], nodes: Collection[str]) -> str:
    def word(found: re.Match[str]) -> str:
        key = found[1]
        value = values.get(key)
        if key in nodes:
            return names(value)
        if value == "both":
            return "requests and replies"
        return str(value).removeprefix("$")

    return re.sub(r"{(\w+)}", word, phrase)


def capitalised(clause: str) -> str:
    """Return a clause as the begin of a text; the name of a node stays as it is."""
    return clause[:1].upper() + clause[1:] if not re.match(r"\w+-\d", clause) else clause
