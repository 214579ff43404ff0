"""A catalogue that was read once is read from its kept copy, and never otherwise than from the file itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.harness.catalogue import CatalogueError, reader
from fencepost.harness.yaml_file import parse_mapping

TEXT = """\
format: fencepost-requirements/1
documents:
  - {name: D, title: A document}
groups:
  - document: D
    kind: decision
    prefix: X
    title: T
    rows:
      - {id: X-01, section: S, level: must, says: A}
      - {id: X-02, section: S, level: may, says: B, note: N}
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "requirements.yaml"
    file.write_text(TEXT)
    return file


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "fencepost" / "catalogues"


def _count_yaml(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    read: list[str] = []

    def counted(text: str, file: str, kind: str, begins: str) -> object:
        read.append(file)
        return parse_mapping(text, file, kind, begins)

    monkeypatch.setattr(reader, "parse_mapping", counted)
    return read


def test_the_second_process_reads_no_yaml_and_the_same_rows(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = _count_yaml(monkeypatch)
    first, second = reader.load(own), reader.load(own)
    assert read == [str(own)]
    assert first == second
    assert [row.line for row in second] == [10, 11]


def test_a_changed_file_is_read_anew(own: Path) -> None:
    reader.load(own)
    own.write_text("\n" + TEXT.replace("says: A", "says: Another"))
    changed = next(iter(reader.load(own)))
    assert (changed.says, changed.line) == ("Another", 11)


@pytest.mark.parametrize("damage", [b"", b"{", b'{"file": {}, "lines": []}'])
def test_a_damaged_copy_is_passed_over_and_replaced(damage: bytes, own: Path, cache: Path) -> None:
    whole = reader.load(own)
    (copy,) = cache.iterdir()
    kept = copy.read_bytes()
    copy.write_bytes(damage)
    assert reader.load(own) == whole
    assert copy.read_bytes() == kept


def test_a_cache_that_cannot_be_written_is_no_error(own: Path, tmp_path: Path) -> None:
    (tmp_path / "fencepost").write_text("a file in the place of the folder")
    assert len(reader.load(own)) == 2


def test_a_file_with_a_mistake_is_never_kept(own: Path, cache: Path) -> None:
    own.write_text("format: fencepost-requirements/1\ndocuments: []\n")
    for _ in range(2):
        with pytest.raises(CatalogueError, match="missing key `groups`"):
            reader.load(own)
    assert not cache.exists()
