"""The links, make targets and commands that the documents name exist."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from fencepost.harness.cli.main import app

ROOT = Path(__file__).parents[1]
DOCUMENTS = subprocess.run(
    ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
).stdout.split()
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)

pytestmark = pytest.mark.parametrize("document", DOCUMENTS)


def text(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def code(document: str) -> str:
    """Return the code of a document, one block or span after the other."""
    fenced = FENCED.findall(text(document))
    return "\n".join([*fenced, *INLINE.findall(FENCED.sub("", text(document)))])


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as they are made where pages are shown."""
    headings = HEADING.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_a_link_leads_to_a_file_and_to_a_heading_of_it(document: str) -> None:
    for link in LINK.findall(FENCED.sub("", text(document))):
        if re.match("[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        page = (ROOT / document).parent / path if path else ROOT / document
        assert page.exists(), f"{document} links to {link}, which does not exist"
        assert not anchor or anchor in anchors(page), f"{document} links to {link}, which has no such heading"


def test_the_index_leads_to_every_page_of_the_documents(document: str) -> None:
    folder, _, page = document.rpartition("/")
    if folder == "docs" and page != "README.md":
        assert page in LINK.findall(text("docs/README.md")), f"docs/README.md does not link to {page}"


def test_make_has_the_targets_that_are_named(document: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"^make ([a-z][a-z-]*)", code(document), re.MULTILINE)) <= targets


def test_fencepost_has_the_commands_that_are_named(document: str) -> None:
    commands = {each.name or (each.callback and each.callback.__name__) for each in app.registered_commands}
    commands |= {each.name for each in app.registered_groups}
    assert set(re.findall(r"\bfencepost ([a-z]+)", code(document))) <= commands
