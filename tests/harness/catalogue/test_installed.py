"""Catalogues of installed packages are one catalogue, and a mistake in one of them is refused with its place."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fencepost.harness.catalogue import CatalogueError, catalogue, describe
from fencepost.harness.catalogue.installed import FILE, GROUP, read_catalogues

ACME = """
format: fencepost-requirements/1
documents:
  - {name: Acme handbook, title: The handbook of Acme's broker, url: "https://example.org/acme"}
groups:
  - document: Acme handbook
    kind: guarantee
    prefix: ACME
    title: T
    rows:
      - {id: ACME-01, section: Deployment, level: must, says: A broker starts within a minute.}
"""

Install = Callable[[str, str, str | None], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that puts a distribution with a package, an entry point and a catalogue on the path."""
    monkeypatch.syspath_prepend(tmp_path)
    read_catalogues.cache_clear()

    def installed(name: str, package: str, text: str | None) -> Path:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {package}\n")
        if text is not None:
            (tmp_path / name / FILE).write_text(text)
        return tmp_path / name / FILE

    yield installed
    sys.modules.pop("acme_rules", None)
    read_catalogues.cache_clear()


def test_an_installed_package_adds_its_rows_to_those_of_the_project(install: Install) -> None:
    path = install("acme_rules", "acme_rules", ACME)
    row = describe("ACME-01")
    assert row is not None
    assert (row.says, row.section) == ("A broker starts within a minute.", "Deployment")
    assert row.place == f"{path}:11"
    assert catalogue().document(row.document).url == "https://example.org/acme"
    assert describe("K631-32") is not None


def test_an_id_that_no_catalogue_has_has_no_description() -> None:
    assert describe("NONE-01") is None
    assert describe(None) is None


def test_an_id_of_two_packages_is_refused_with_both_places(install: Install) -> None:
    path = install("acme_rules", "acme_rules", ACME.replace("ACME", "K631"))
    with pytest.raises(CatalogueError, match=r"stands at .*requirements\.yaml:\d+ already") as refused:
        catalogue()
    assert str(refused.value).startswith(f"the id K631-01 at {path}:11 stands at ")


def test_packages_may_share_a_document_under_one_title(install: Install) -> None:
    title = catalogue().document("KIP-996").title
    read_catalogues.cache_clear()
    listed = f'{{name: KIP-996, title: "{title}"}}'
    shared = ACME.replace(
        '{name: Acme handbook, title: The handbook of Acme\'s broker, url: "https://example.org/acme"}', listed
    )
    install("acme_rules", "acme_rules", shared.replace("document: Acme handbook", "document: KIP-996"))
    row = describe("ACME-01")
    assert row is not None
    assert row.document == "KIP-996"


def test_a_name_of_two_documents_is_refused(install: Install) -> None:
    install("acme_rules", "acme_rules", ACME.replace("Acme handbook", "KIP-996"))
    with pytest.raises(CatalogueError, match=r"the document KIP-996 has the title .* in another catalogue"):
        catalogue()


def test_a_malformed_file_of_a_package_is_refused_at_its_line(install: Install) -> None:
    path = install("acme_rules", "acme_rules", ACME.replace("level: must", "level: perhaps"))
    with pytest.raises(CatalogueError, match="should be 'must', 'should' or 'may', not 'perhaps'") as refused:
        catalogue()
    assert f"`level` at {path}:11" in str(refused.value)


@pytest.mark.parametrize(
    ("package", "message"),
    [
        ("acme_rules", "names acme_rules, which has no file requirements.yaml"),
        ("acme_mistyped", "names acme_mistyped, which is no package: No module named 'acme_mistyped'"),
    ],
)
def test_an_entry_point_that_leads_to_no_catalogue_is_named(install: Install, package: str, message: str) -> None:
    install("acme_rules", package, None)
    with pytest.raises(CatalogueError) as refused:
        catalogue()
    assert f"the entry point acme_rules of acme_rules 1.0 in the group {GROUP} {message}" in str(refused.value)
