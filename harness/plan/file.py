"""Plan files: YAML in, with each error at its line; YAML out, always the same text for the same plan."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from harness.plan.check import problems
from harness.plan.hash import plain
from harness.plan.model import Plan

Location = Sequence[str | int]


class PlanError(ValueError):
    """A plan that cannot be run; `sentences` say what is wrong, where, and what would be right."""

    def __init__(self, sentences: Sequence[str]) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = tuple(sentences)


def load_plan(path: Path) -> Plan:
    """Read and check a plan file. PlanError with the lines; OSError if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise PlanError([f"{path} is no text (byte {error.start}): a plan is YAML in UTF-8"]) from None
    return parse_plan(text, path.name)


def parse_plan(text: str, file: str) -> Plan:
    """The plan in `text`; `file` is what errors call it."""
    try:
        data = YAML(typ="rt").load(text)
    except YAMLError as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        line = mark.line + 1 if mark is not None else 1
        what = error.problem if isinstance(error, MarkedYAMLError) and error.problem else str(error)
        raise PlanError([f"{what} at {file}:{line}"]) from None
    if not isinstance(data, CommentedMap):
        raise PlanError([f"no plan at {file}:1; a plan is a mapping that begins with `format: fencepost-plan/1`"])
    try:
        plan = Plan.model_validate(data)
    except ValidationError as error:
        raise PlanError([_sentence(data, detail, file) for detail in error.errors()]) from None
    wrong = problems(plan)
    if wrong:
        raise PlanError([f"{problem.sentence} at {file}:{line_of(data, problem.at)}" for problem in wrong])
    return plan


def dump_plan(plan: Plan) -> str:
    """The plan as YAML, keys in the order of the model."""
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = None
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]  # untyped attribute of ruamel
    yaml.width = 110
    out = StringIO()
    yaml.dump(plain(plan), out)
    return out.getvalue()


def line_of(data: Any, location: Location) -> int:
    """The line (from 1) of what `location` leads to, or of the nearest thing around it that is in the file.

    Pydantic puts the tags of unions into its locations; a part that the data does not have is passed over.
    """
    here = data
    line: int = data.lc.line + 1
    for part in location:
        if isinstance(here, CommentedMap) and part in here:
            line = here.lc.key(part)[0] + 1
        elif isinstance(here, CommentedSeq) and isinstance(part, int) and part < len(here):
            line = here.lc.item(part)[0] + 1
        else:
            continue
        here = here[part]
    return line


def _sentence(data: CommentedMap, detail: ErrorDetails, file: str) -> str:
    location, context = detail["loc"], detail.get("ctx", {})
    if detail["type"] == "unknown_key":
        line = line_of(data, [*location, context["key"]])
        return f"unknown key `{context['key']}` at {file}:{line}; {context['hint']}"
    line = line_of(data, location)
    name = next((str(part) for part in reversed(location) if isinstance(part, str)), "plan")
    if detail["type"] == "missing":
        return f"missing key `{name}` at {file}:{line}"
    if detail["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return f"`{name}` at {file}:{line}: {detail['msg']}"
    return f"`{name}` at {file}:{line}: {detail['msg']}, not {detail['input']!r}"
