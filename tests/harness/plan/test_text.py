"""The fast text of plans is that of ruamel.yaml, or none."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from fencepost.harness.plan.text import WIDTH, read, write

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


def by_ruamel(data: Any) -> str:
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = None
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.width = WIDTH
    yaml.representer.ignore_aliases = lambda _: True
    out = StringIO()
    yaml.dump(data, out)
    return out.getvalue()


@given(DATA)
def test_data_is_written_as_ruamel_writes_it_or_not_at_all(data: dict[str, Any]) -> None:
    text = write(data)
    if text is not None:
        assert text == by_ruamel(data)
        assert read(text) in (None, data)


@given(DATA, st.data())
def test_what_is_read_is_what_ruamel_reads(data: dict[str, Any], edit: st.DataObject) -> None:
    text = by_ruamel(data)
    place = edit.draw(st.integers(0, len(text)))
    changed = text[:place] + edit.draw(st.sampled_from(["", " ", ":", "'", "a", "#", "-", "\n"])) + text[place + 1 :]
    for each in (text, changed):
        if (found := read(each)) is not None:
            assert found == YAML(typ="safe", pure=True).load(each)


PLAN = """\
format: fencepost-plan/2
title: A text that is long enough to be folded is written in two lines, each of which is at most as long as a§
  line may be
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
""".replace("§", " ")


def test_a_plan_is_read_and_written_without_a_library() -> None:
    data = read(PLAN)
    assert data == YAML(typ="safe", pure=True).load(PLAN)
    assert write(data) == PLAN


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
def test_any_other_text_is_left_to_the_library(right: str, other: str) -> None:
    assert right in PLAN
    assert read(PLAN.replace(right, other)) is None
