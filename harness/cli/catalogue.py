"""Every fault as the command line knows it: its parameters from its inject step, its help from both docstrings."""

from __future__ import annotations

import ast
import difflib
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from faults.capabilities import Capability
from faults.registry import FAULTS
from harness.errors import UsageError
from harness.plan.injects import Inject, InjectStep

NOT_A_PARAMETER = ("do", "as_", "fault")
MEANINGS = {
    "when": "Wait for this first: a line of a node's log, {says: fenced}, or any condition that a plan can await.",
    "plus_ms": "So long after that.",
}
_ADAPTER: TypeAdapter[InjectStep] = TypeAdapter(Inject)


@dataclass(frozen=True)
class Parameter:
    """`--key`: what it takes, whether it must be given, and what it means."""

    option: str
    takes: str
    required: bool
    default: str
    meaning: str


@dataclass(frozen=True)
class Known:
    """One fault."""

    name: str
    capability: Capability
    step: type[InjectStep]

    @property
    def what(self) -> str:
        """Its step, in the words of a plan."""
        return inspect.cleandoc(self.step.__doc__ or "")

    @property
    def models(self) -> str:
        """What it models, what it does not, where that comes from."""
        return inspect.cleandoc(FAULTS[self.name].__doc__ or "")

    @property
    def summary(self) -> str:
        """The first sentence, in one line."""
        text = " ".join(self.models.split())
        return re.split(r"(?<=\w\w\.) ", text)[0]

    @property
    def parameters(self) -> list[Parameter]:
        meanings = _meanings(self.step)
        fields = [(key, field) for key, field in self.step.model_fields.items() if key not in NOT_A_PARAMETER]
        fields.sort(key=lambda each: each[0] in InjectStep.model_fields)  # its own first, then what all have
        return [_parameter(key, field, MEANINGS.get(key) or meanings.get(key, "")) for key, field in fields]


def known() -> dict[str, Known]:
    """All faults that exist, by name."""
    steps = {step.model_fields["fault"].default: step for step in _members(Inject)}
    return {name: Known(name, make.capability, steps[name]) for name, make in FAULTS.items() if name in steps}  # type: ignore[attr-defined]


def find(name: str) -> Known:
    """Raises UsageError with the nearest name."""
    faults = known()
    if name not in faults:
        near = difflib.get_close_matches(name, faults, n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"`fencepost faults` lists them ({', '.join(faults)})"
        raise UsageError(f"no fault is called `{name}`: {hint}")
    return faults[name]


def parse(fault: Known, options: Sequence[str]) -> dict[str, Any]:
    """`--from node-4 --from node-5 --latency 200` as the plan writes it: `{from: [node-4, node-5], latency_ms: "200"}`.

    A name may be shortened by its unit. A value that begins like YAML (`{`, `[`) is read as that.
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
            raise UsageError(f"{word!r} belongs to no option: {usage(fault)}")
        else:
            given[key].append(_value(word))
    for name, values in given.items():
        if not values:
            raise UsageError(f"--{name} needs a value: {usage(fault)}")
    return {name.replace("-", "_"): values if len(values) > 1 else values[0] for name, values in given.items()}


def step_of(fault: Known, params: Mapping[str, Any], name: str) -> InjectStep:
    """The inject step of a plan with these parameters. Raises UsageError with a sentence for each that is wrong."""
    data = {"do": "inject", "as": name, "fault": fault.name, **params}
    try:
        return _ADAPTER.validate_python(data)
    except ValidationError as error:
        lists = {detail["loc"][1] for detail in error.errors() if "tuple" in detail["type"] and len(detail["loc"]) > 1}
        again = {key: [value] if key in lists and not isinstance(value, list) else value for key, value in data.items()}
        if again != data:
            return step_of(fault, {key: again[key] for key in params}, name)
        sentences = dict.fromkeys(_sentence(detail) for detail in error.errors())
        raise UsageError(f"{'; '.join(sentences)}: {usage(fault)}") from None


def usage(fault: Known) -> str:
    """`fencepost inject cut --from NODE --to NODE`: what must be given, and what may."""
    shown = [f"{each.option} {each.takes}" for each in fault.parameters if each.required]
    more = any(not each.required for each in fault.parameters)
    return " ".join([f"`fencepost inject {fault.name}", *shown, "…`" if more else "`"]).replace(" `", "`")


def _key(fault: str, name: str, keys: Sequence[str]) -> str:
    wanted = name.replace("_", "-")
    if wanted in keys:
        return wanted
    by_unit = [key for key in keys if key.rpartition("-")[0] == wanted]
    if len(by_unit) == 1:
        return by_unit[0]
    near = difflib.get_close_matches(wanted, keys, n=1)
    hint = f"did you mean --{near[0]}?" if near else f"there are {', '.join(f'--{key}' for key in keys)}"
    raise UsageError(f"the fault `{fault}` has no parameter --{name}: {hint}")


def _value(text: str) -> Any:
    if not text.startswith(("{", "[")):
        return text
    try:
        return YAML(typ="safe").load(text)
    except YAMLError as error:
        raise UsageError(f"{text!r} begins like YAML and is none: {error}") from None


def _sentence(detail: Any) -> str:
    place = [str(part) for part in detail["loc"][1:] if isinstance(part, str) and not part[:1].isupper()]
    name = place[0].rstrip("_").replace("_", "-") if place else ""
    if detail["type"] == "missing":
        return f"--{name} is missing"
    if detail["type"] == "value_error":
        return str(detail["ctx"]["error"])
    return f"--{name}: {detail['msg'].lower()}, not {detail['input']!r}" if name else str(detail["msg"])


def _members(union: Any) -> Iterator[type[InjectStep]]:
    """The classes of a union of unions."""
    if isinstance(union, type):
        yield union
        return
    for member in get_args(union):
        if not isinstance(member, FieldInfo):
            yield from _members(member)


def _parameter(key: str, field: FieldInfo, meaning: str) -> Parameter:
    default = "" if field.is_required() or field.default is None else _shown(field.default)
    return Parameter(
        f"--{key.rstrip('_').replace('_', '-')}", _takes(key, field), field.is_required(), default, meaning
    )


def _shown(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _takes(key: str, field: FieldInfo) -> str:
    """What to write: the choices, or a word for the kind."""
    text = str(field.annotation)
    if choices := re.search(r"Literal\[([^\]]*)\]", text):
        words = [choice.strip().strip("'\"") for choice in choices[1].split(",")]
        return "|".join([*words, "NUMBER"] if re.search(r"\bint\b", text) else words)
    if key == "when":
        return "{says: …}"
    if key.rstrip("_") in ("node", "nodes", "from", "to", "over"):
        return "NODE"
    if "int" in text or "float" in text:
        return "NUMBER"
    return key.rstrip("_").rpartition("_")[2].upper()


def _meanings(step: type[InjectStep]) -> dict[str, str]:
    """The strings under the fields of a class and of those it comes from, in one line each."""
    found: dict[str, str] = {}
    for each in reversed([one for one in step.__mro__ if issubclass(one, InjectStep)]):
        tree = ast.parse(textwrap.dedent(inspect.getsource(each))).body[0]
        assert isinstance(tree, ast.ClassDef)
        for field, text in zip(tree.body, tree.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and _is_text(text):
                found[field.target.id] = " ".join(ast.literal_eval(text.value).split())  # type: ignore[attr-defined]
    return found


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
