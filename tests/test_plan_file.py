"""The plans of the documents are valid, and docs/plan-file.md names all that a plan can have."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from ruamel.yaml import YAML

from fencepost.harness.engine.run import run
from fencepost.harness.plan.checks import problems
from fencepost.harness.plan.conditions import CONDITIONS
from fencepost.harness.plan.file import load_plan, parse_plan
from fencepost.harness.plan.model import ConsumerSpec, NodeSpec, Plan, ProducerSpec, Timing, TopicSpec, Topology
from fencepost.harness.plan.requests import REQUESTS
from fencepost.harness.plan.steps import STEPS
from fencepost.results.records.verdict import Verdict
from tests import plan_words

PAGE = (Path(__file__).parents[1] / "docs" / "plan-file.md").read_text(encoding="utf-8")
FENCED = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
TEXT = "".join(FENCED.findall(PAGE))
CODE = set(re.findall(r"[A-Za-z][\w-]*", " ".join([TEXT, *re.findall(r"`([^`]+)`", FENCED.sub("", PAGE))])))
"""The words in the code of the page."""


def test_the_plan_on_the_page_is_valid() -> None:
    assert problems(parse_plan(TEXT, "plan-file.md")) == []


def test_each_line_is_read_as_it_is_written() -> None:
    read = parse_plan(TEXT, "plan-file.md").model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert read == _with_lists(YAML(typ="safe").load(TEXT), read)


@pytest.mark.parametrize("part", [Plan, Timing, NodeSpec, Topology, TopicSpec, ProducerSpec, ConsumerSpec])
def test_every_key_of_a_plan_is_named(part: type[BaseModel]) -> None:
    assert set(part.model_fields) - CODE == set()


def test_the_tables_of_words_are_those_of_their_classes() -> None:
    assert len(CONDITIONS) > 20 and len(REQUESTS) > 20 and len(STEPS) > 10
    assert plan_words.with_tables(PAGE) == PAGE, "write it anew: python -m tests.plan_words"


def test_the_words_of_scenarios_are_those_of_the_registries() -> None:
    text = plan_words.IMPORTS.read_text(encoding="utf-8")
    assert text == plan_words.imports(), "write it anew: python -m tests.plan_words"
    names = [line.rpartition(" ")[2] for line in text.splitlines() if line.startswith("from fencepost.")]
    assert len(names) == len(set(names)) > 90, "two words of one class name: the later one hides the other"


@pytest.mark.integration
def test_the_plan_on_the_page_passes(tmp_path: Path) -> None:
    _, verdict = run(parse_plan(TEXT, "plan-file.md"), tmp_path)
    assert verdict.verdict is Verdict.PASS, verdict.headline


def _with_lists(written: Any, read: Any) -> Any:
    """Return what is written with a list where one node may stand for a list of nodes."""
    if isinstance(written, dict):
        return {key: _with_lists(value, read[key]) for key, value in written.items()}
    if isinstance(written, list):
        return [_with_lists(each, other) for each, other in zip(written, read, strict=True)]
    return [written] if isinstance(read, list) else written


def test_the_plan_of_the_walkthrough_is_valid() -> None:
    assert problems(load_plan(Path(__file__).parents[1] / "docs" / "walkthrough.yaml")) == []
