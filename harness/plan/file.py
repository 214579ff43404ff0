"""Plan files in YAML. Each error names its line; the same plan is always written as the same text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from fencepost.harness.plan import text as written
from fencepost.harness.plan.checks import problems
from fencepost.harness.plan.hash import plain
from fencepost.harness.plan.model import Plan
from fencepost.harness.yaml_file import YamlFileError, line_of, parse_mapping, read_text, validated
from fencepost.results.records.formats import PLAN_FORMAT, upgrade_plan


class PlanError(YamlFileError):
    """A plan that cannot be run. `messages` say what is wrong, where, and how to correct it."""


def load_plan(path: Path) -> Plan:
    """Read and check a plan file. PlanError with a line for each mistake; OSError if it cannot be read."""
    with _as_plan_error():
        return parse_plan(read_text(path, "plan"), path.name)


def parse_plan(text: str, file: str) -> Plan:
    """Return the plan in `text`. Errors call it `file`. PlanError with a line for each mistake."""
    if (plan := _without_lines(text)) is not None:
        return plan
    with _as_plan_error():
        data = parse_mapping(text, file, "plan", f"format: {PLAN_FORMAT}")
        upgrade_plan(data)
        plan = validated(Plan, data, file)
    wrong = problems(plan)
    if wrong:
        raise PlanError([f"{problem.message} at {file}:{line_of(data, problem.at)}" for problem in wrong])
    return plan


def dump_plan(plan: Plan) -> str:
    """Return the plan as YAML, with the keys in the order of the model."""
    return written.write(plain(plan))


def _without_lines(text: str) -> Plan | None:
    """Return a plan that is as it was written and without mistakes; None for one whose lines may have to be named."""
    data = written.read(text)
    if data is None:
        return None
    upgrade_plan(data)
    try:
        plan = Plan.model_validate(data)
    except ValidationError:
        return None
    return None if any(True for _ in problems(plan)) else plan


@contextmanager
def _as_plan_error() -> Iterator[None]:
    try:
        yield
    except YamlFileError as error:
        raise PlanError(error.messages) from None
