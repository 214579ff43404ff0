"""The text of plans that libyaml writes and reads is to ruamel.yaml the same data."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from fencepost.harness.plan.text import read, write

TEXTS = st.text(st.sampled_from("abcxyz019 _-./:,;'\"#&*!?|>%@[]{}()$=~<\\nä"), max_size=30) | st.sampled_from(
    [
        "yes",
        "no",
        "null",
        "~",
        "true",
        "1",
        "1.5",
        "1e3",
        "0x1",
        "2026-01-01",
        "a: b",
        "a #b",
        "-",
        "- a",
        "a:",
        "=",
        "<<",
    ]
)
WORDS = st.lists(st.sampled_from(["a", "leader:t-0", "it's", "x" * 40, "x" * 120, "b,c", "[0].d"])).map(" ".join)
SCALARS = TEXTS | WORDS | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False)
KEYS = TEXTS | st.sampled_from(["do", "as", "results[0].error_code", "min.insync.replicas"])
DATA = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
    ),
    max_size=3,
)


def by_ruamel(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


@given(DATA)
def test_what_is_written_is_read_by_both(data: dict[str, Any]) -> None:
    text = write(data)
    assert by_ruamel(text) == data
    assert read(text) in (None, data)


@given(DATA, st.data())
def test_what_is_read_is_what_ruamel_reads(data: dict[str, Any], edit: st.DataObject) -> None:
    text = write(data)
    place = edit.draw(st.integers(0, len(text)))
    changed = text[:place] + edit.draw(st.sampled_from(["", " ", ":", "'", "a", "#", "-", "\n"])) + text[place + 1 :]
    if (found := read(changed)) is not None:
        assert found == by_ruamel(changed)


PLAN = """\
format: fencepost-plan/2
title: A text that is long enough to be folded is written in two lines, each of which is at most as long as a line
  may be
topology:
  nodes:
  - name: node-4
    roles: [broker]
steps:
- {do: await, as: leader-ready, condition: leader, within_ms: 30000, partition: t-0, 'is[0]': yes, rate: 1.5}
- do: probe
  node: leader:t-0
  body:
    topics: []
    name: ''
"""


def test_a_plan_is_read_without_ruamel() -> None:
    data = read(PLAN)
    assert data == by_ruamel(PLAN)
    assert data["steps"][0]["is[0]"] == "yes", "as in YAML 1.2"
    assert write(data) == PLAN


def test_a_text_with_more_levels_than_a_plan_has_is_left_to_ruamel() -> None:
    assert read("a:\n" + "- " * 300 + "b\n") is None
    assert read("a: " + "[" * 300 + "]" * 300 + "\n") is None


@pytest.mark.parametrize(
    ("right", "other"),
    [
        ("as: leader-ready", "as:  leader-ready"),
        ("name: node-4", "name: node-4  # the first"),
        ("rate: 1.5", "rate: 0x1F"),
        ("  nodes:\n  -", "  nodes:\n    -"),
        ("format: ", "---\nformat: "),
        ("name: ''", "name: ''\n    name: ''"),
        ("rate: 1.5}", "rate: 1.5"),
    ],
)
def test_any_other_text_is_left_to_ruamel(right: str, other: str) -> None:
    assert right in PLAN
    assert read(PLAN.replace(right, other)) is None
