"""The data dictionary of the documents is that of the tables."""

from pathlib import Path

from fencepost.results.store.dictionary import dictionary, runners

DOCUMENT = Path(__file__).parents[3] / "docs" / "results.md"


def test_the_document_has_the_tables_as_they_are_declared() -> None:
    _, _, tables = DOCUMENT.read_text(encoding="utf-8").partition("## Tables\n\n")
    assert tables == dictionary(), "paste what `python -m fencepost.results.store.dictionary` prints below `## Tables`"


def test_the_document_has_the_runners_that_are_recognized() -> None:
    assert f"### Runners\n\n{runners()}\n" in DOCUMENT.read_text(encoding="utf-8")
