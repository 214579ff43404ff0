"""The catalogue holds its own rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.harness.catalogue import CatalogueError, catalogue
from fencepost.harness.catalogue.model import RequirementKind, RequirementLevel
from fencepost.harness.catalogue.reader import parse
from fencepost.suites.scenarios import SCENARIOS

_ROW = """
format: fencepost-requirements/1
documents:
  - {name: D, title: A document, url: "https://example.org/d", aliases: [D-old]}
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
    rows = catalogue()
    assert {row.kind for row in rows} == set(RequirementKind)
    assert rows["D631-16"].level is RequirementLevel.MUST
    assert len(rows) > 100


@pytest.mark.parametrize(
    ("addition", "message"),
    [
        (
            "      - {id: X-01, section: S, level: must, says: B}\n",
            "the id X-01 at c.yaml:15 was used in line 11 already",
        ),
        (
            "      - {id: X-02, section: S, level: always, says: B}\n",
            "`level` at c.yaml:15: Input should be 'must', 'should' or 'may', not 'always'",
        ),
        ("      - {id: X-02, section: S, level: must}\n", "missing key `says` at c.yaml:15"),
        (
            "      - {id: X-02, section: S, level: must, says: B, nots: C}\n",
            "unknown key `nots` at c.yaml:15; did you mean `note`?",
        ),
        ("      - {id: Y-02, section: S, level: must, says: B}\n", "the id Y-02 at c.yaml:15 does not start with X-"),
        ("      - {id: [X-02\n", " at c.yaml:16"),
        (
            "  - {document: E, kind: decision, prefix: Y, title: T, rows: "
            "[{id: Y-01, section: S, level: must, says: A}]}\n",
            "the document E at c.yaml:15 is not listed in `documents`",
        ),
    ],
)
def test_a_mistake_is_refused_with_file_and_line(addition: str, message: str) -> None:
    with pytest.raises(CatalogueError) as refused:
        parse(_ROW + addition, Path("c.yaml"))
    assert message in str(refused.value)


@pytest.mark.parametrize(
    "rows",
    [
        ["{id: X-02, section: S, level: must}", "{id: X-03, section: S, level: always, says: B}"],
        ["{id: X-01, section: S, level: must, says: B}", "{id: Y-02, section: S, level: must, says: B}"],
    ],
    ids=["of the schema", "of the ids"],
)
def test_all_mistakes_are_named_at_once(rows: list[str]) -> None:
    with pytest.raises(CatalogueError) as refused:
        parse(_ROW + "".join(f"      - {row}\n" for row in rows), Path("c.yaml"))
    assert len(str(refused.value).splitlines()) == 2


def test_a_reference_to_an_id_that_does_not_exist_is_an_error_with_its_place() -> None:
    with pytest.raises(CatalogueError, match=r"scenario\.py:7: X-09 is not in c\.yaml"):
        parse(_ROW, Path("c.yaml")).check(["X-01", "X-09"], "scenario.py:7")


def test_a_document_is_found_by_its_name_and_by_its_aliases() -> None:
    rows = parse(_ROW, Path("c.yaml"))
    assert rows.document("D-old") == rows.document("D")
    assert rows.document("D").url == "https://example.org/d"
    with pytest.raises(CatalogueError, match=r"c\.yaml has no document E"):
        rows.document("E")


def test_no_name_stands_for_two_documents() -> None:
    twice = _ROW.replace("groups:", "  - {name: E, title: Another, aliases: [D-old]}\ngroups:")
    with pytest.raises(CatalogueError, match=r"the name D-old at c\.yaml:5 already stands for A document"):
        parse(twice, Path("c.yaml"))


@pytest.mark.parametrize(
    "cited",
    ["003", "Kafka internals", "Kafka Internals (2017)", "KIP-589", "ReplicaStateEvent", "Replication V2"],
)
def test_the_catalogue_resolves_the_names_by_which_documents_are_cited(cited: str) -> None:
    assert catalogue().document(cited).title


def test_every_scenario_names_a_document_of_the_catalogue_or_a_suite_of_its_own() -> None:
    rows = catalogue()
    cited = {scenario.document for scenario in SCENARIOS} - {"Faults"}
    assert {rows.document(name).name for name in cited} == cited
