"""The catalogue holds its own rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from suites.requirements import CatalogueError, Kind, Level, load, parse

_ROW = """
format: fencepost-requirements/1
groups:
  - document: D
    kind: decision
    prefix: X
    title: T
    rows:
      - id: X-01
        section: S
        level: must
        says: A
"""


def test_the_catalogue_loads_with_every_kind_in_it() -> None:
    catalogue = load()
    assert {row.kind for row in catalogue} == set(Kind)
    assert catalogue["D631-16"].level is Level.MUST
    assert len(catalogue) > 100


@pytest.mark.parametrize(
    ("addition", "sentence"),
    [
        ("      - {id: X-01, section: S, level: must, says: B}\n", "c.yaml:13: the id X-01 was used in line 9 already"),
        ("      - {id: X-02, section: S, level: always, says: B}\n", "c.yaml:13: level always is none of must"),
        ("      - {id: X-02, section: S, level: must}\n", "c.yaml:13: the row lacks says"),
        ("      - {id: X-02, section: S, level: must, says: B, nots: C}\n", "c.yaml:13: a row has no key nots"),
        ("      - {id: Y-02, section: S, level: must, says: B}\n", "c.yaml:13: the id Y-02 does not start with X-"),
        ("      - {id: [X-02\n", "c.yaml:14: not YAML"),
    ],
)
def test_a_mistake_is_refused_with_file_and_line(addition: str, sentence: str) -> None:
    with pytest.raises(CatalogueError) as refused:
        parse(_ROW + addition, Path("c.yaml"))
    assert sentence in str(refused.value)


def test_all_mistakes_are_named_at_once() -> None:
    twice = "      - {id: X-02, section: S, level: must}\n      - {id: X-01, section: S, level: must, says: B}\n"
    with pytest.raises(CatalogueError) as refused:
        parse(_ROW + twice, Path("c.yaml"))
    assert len(str(refused.value).splitlines()) == 2


def test_a_reference_to_an_id_that_does_not_exist_is_an_error_with_its_place() -> None:
    with pytest.raises(CatalogueError, match=r"story\.py:7: X-09 is not in c\.yaml"):
        parse(_ROW, Path("c.yaml")).check(["X-01", "X-09"], "story.py:7")
