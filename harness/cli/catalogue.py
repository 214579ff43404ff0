"""The options and the help of every fault, from its inject step and its docstrings."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from fencepost.faults.capabilities import Capability
from fencepost.faults.parameters import key_of
from fencepost.faults.registry import FAULTS
from fencepost.harness.errors import UsageError
from fencepost.harness.plan.injects import STEPS, Inject, InjectStep

NOT_A_PARAMETER = ("do", "as_", "fault")
NODE = "node"
"""The option for the nodes of a fault, however many it takes. In plans the key is `node` or `nodes`."""
_ADAPTER: TypeAdapter[InjectStep] = TypeAdapter(Inject)


@dataclass(frozen=True)
class Parameter:
    """An option `--key` of a fault: the values it takes, whether it is required, its default and meaning."""

    option: str
    takes: str
    required: bool
    default: str
    meaning: str


@dataclass(frozen=True)
class FaultHelp:
    """A fault with its step, its options and its help."""

    name: str
    capability: Capability
    step: type[InjectStep]

    @property
    def what(self) -> str:
        """The effect of its step, from the docstring of the step."""
        return inspect.cleandoc(self.step.__doc__ or "")

    @property
    def models(self) -> str:
        """The failures that the fault models and does not model, with the source."""
        return inspect.cleandoc(FAULTS[self.name].__doc__ or "")

    @property
    def summary(self) -> str:
        """The first line of `models`, in one line."""
        text = " ".join(self.models.split())
        return re.split(r"(?<=\w\w\.) ", text)[0]

    @property
    def parameters(self) -> list[Parameter]:
        fields = [(key, field) for key, field in self.step.model_fields.items() if key not in NOT_A_PARAMETER]
        fields.sort(key=lambda each: each[0] in InjectStep.model_fields)  # its own first, then what all have
        nodes = (*self.step.one_node, *self.step.many_nodes)
        meanings = InjectStep.meanings() | FAULTS[self.name].Parameters.meanings()
        return [_parameter(key, field, meanings.get(key, ""), leads_to_nodes=key in nodes) for key, field in fields]


def known() -> dict[str, FaultHelp]:
    """Return all faults by name."""
    return {name: FaultHelp(name, fault.capability, STEPS[name]) for name, fault in FAULTS.items()}


def find(name: str) -> FaultHelp:
    """Return a fault. UsageError with the nearest name if there is none of this name."""
    faults = known()
    if name not in faults:
        near = difflib.get_close_matches(name, faults, n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"`fencepost faults` lists them ({', '.join(faults)})"
        raise UsageError(f"no fault is called `{name}`: {hint}")
    return faults[name]


def parse(fault: FaultHelp, options: Sequence[str]) -> dict[str, Any]:
    """Return options as a plan has them.

    `--from node-4 --from node-5 --latency 200` becomes `{from: [node-4, node-5], latency_ms: "200"}`: the unit of a
    name may be left out. A value that begins with `{` or `[` is read as YAML. UsageError for an unknown option.
    """
    keys = [parameter.option.removeprefix("--") for parameter in fault.parameters]
    given: dict[str, list[Any]] = {}
    key: str | None = None
    for word in options:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            key = _key(fault.name, name, keys)
            given.setdefault(key, [])
            if equals:
                given[key].append(_value(value))
        elif key is None:
            raise UsageError(f"{word!r} follows no option: {usage(fault)}")
        else:
            given[key].append(_value(word))
    for name, values in given.items():
        if not values:
            raise UsageError(f"--{name} needs a value: {usage(fault)}")
    own = {_option(key): key_of(key) for key in fault.step.model_fields}
    return {own[name]: values if len(values) > 1 else values[0] for name, values in given.items()}


def step_of(fault: FaultHelp, params: Mapping[str, Any], name: str) -> InjectStep:
    """Return the inject step with these parameters. UsageError with a message for each wrong parameter."""
    data = {"do": "inject", "as": name, "fault": fault.name, **params}
    try:
        return _ADAPTER.validate_python(data)
    except ValidationError as error:
        lists = {detail["loc"][1] for detail in error.errors() if "tuple" in detail["type"] and len(detail["loc"]) > 1}
        retried = {
            key: [value] if key in lists and not isinstance(value, list) else value for key, value in data.items()
        }
        if retried != data:
            return step_of(fault, {key: retried[key] for key in params}, name)
        messages = dict.fromkeys(_message(detail) for detail in error.errors())
        raise UsageError(f"{'; '.join(messages)}: {usage(fault)}") from None


def usage(fault: FaultHelp) -> str:
    """Return the command line with the required options: `fencepost inject kill --node NODE... [OPTIONS]`."""
    shown = [f"{each.option} {each.takes}" for each in fault.parameters if each.required]
    more = any(not each.required for each in fault.parameters)
    return " ".join([f"`fencepost inject {fault.name}", *shown, "[OPTIONS]`" if more else "`"]).replace(" `", "`")


def _key(fault: str, name: str, keys: Sequence[str]) -> str:
    wanted = _option(name)
    if wanted in keys:
        return wanted
    by_unit = [key for key in keys if key.rpartition("-")[0] == wanted]
    if len(by_unit) == 1:
        return by_unit[0]
    near = difflib.get_close_matches(wanted, keys, n=1)
    hint = f"did you mean --{near[0]}?" if near else f"its options are {', '.join(f'--{key}' for key in keys)}"
    raise UsageError(f"the fault `{fault}` has no option --{name}: {hint}")


def _value(text: str) -> Any:
    if not text.startswith(("{", "[")):
        return text
    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise UsageError(f"{text!r} begins like YAML but is not valid YAML: {error}") from None


def _message(detail: Any) -> str:
    place = [str(part) for part in detail["loc"][1:] if isinstance(part, str) and not part[:1].isupper()]
    name = _option(place[0]) if place else ""
    if detail["type"] == "missing":
        return f"--{name} is missing"
    if detail["type"] == "value_error":
        return str(detail["ctx"]["error"])
    return f"--{name}: {detail['msg'].lower()}, not {detail['input']!r}" if name else str(detail["msg"])


def _parameter(key: str, field: FieldInfo, meaning: str, *, leads_to_nodes: bool) -> Parameter:
    takes = ("NODE..." if key == "nodes" else "NODE") if leads_to_nodes else _takes(key, field)
    default = "" if field.is_required() or field.default is None else _shown(field.default)
    return Parameter(f"--{_option(key)}", takes, field.is_required(), default, " ".join(meaning.split()))


def _option(key: str) -> str:
    """Return the name of the option for the key of a plan: the same for `node` and `nodes`."""
    name = key_of(key).replace("_", "-")
    return NODE if name == "nodes" else name


def _shown(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _takes(key: str, field: FieldInfo) -> str:
    """Return the choices of an option, or a word for the kind of its value."""
    text = str(field.annotation)
    if choices := re.search(r"Literal\[([^\]]*)\]", text):
        words = [choice.strip().strip("'\"") for choice in choices[1].split(",")]
        return "|".join([*words, "NUMBER"] if re.search(r"\bint\b", text) else words)
    if key == "when":
        return "{says: …}"
    if "int" in text or "float" in text:
        return "NUMBER"
    return key.rstrip("_").rpartition("_")[2].upper()
