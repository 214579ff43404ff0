"""The list of faults that people read is the list that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fencepost.faults.registry import FAULTS
from tests.faults.readme import NEEDS, faults_table, models, write, written


def test_the_table_of_the_faults_is_that_of_their_docstrings() -> None:
    assert written("faults") == faults_table(), "python -m tests.faults.readme writes it anew"


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_says_what_it_models_and_what_it_does_not(name: str) -> None:
    said = " ".join((FAULTS[name].__doc__ or "").split())
    assert models(FAULTS[name])
    assert re.search(r"\b(does not|no |not )\b", said, re.IGNORECASE), f"{name} does not say where it ends"


def test_what_every_capability_needs_is_known() -> None:
    assert {fault.capability for fault in FAULTS.values()} <= set(NEEDS)


def test_only_the_place_that_is_written_changes(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("a\n<!-- x: by hand -->\nold\n<!-- end of x -->\nb\n<!-- y: z -->\n<!-- end of y -->\n")
    write("x", "new\n", file)
    assert file.read_text() == "a\n<!-- x: by hand -->\nnew\n<!-- end of x -->\nb\n<!-- y: z -->\n<!-- end of y -->\n"
    assert (written("x", file), written("y", file)) == ("new\n", "")
