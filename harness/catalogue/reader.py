"""Read a catalogue file, such as `suites/requirements.yaml`.

A catalogue that breaks its own rules (a wrong key, an id used twice, a level that does not exist) is refused with one
message for each mistake, with its line.

The content is kept as JSON in the cache: each process that judges a run reads it, and YAML of 3,000 lines takes half a
second of processor time, its JSON a few milliseconds. A copy is found by the hash of the text, so it never differs from
the file. Without a copy, or with a damaged one, the file itself is read.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Literal

from pydantic import ValidationError
from ruamel.yaml.comments import CommentedMap

from fencepost.faults.parameters import PlanModel
from fencepost.harness.cache_folder import cache_folder
from fencepost.harness.catalogue.model import (
    Catalogue,
    CatalogueError,
    Document,
    Requirement,
    RequirementKind,
    RequirementLevel,
)
from fencepost.harness.yaml_file import YamlFileError, line_of, parse_mapping, read_text, validated

FORMAT: Literal["fencepost-requirements/1"] = "fencepost-requirements/1"


class _Document(PlanModel):
    name: str
    title: str
    url: str | None = None
    aliases: tuple[str, ...] = ()


class _Row(PlanModel):
    id: str
    section: str
    level: RequirementLevel
    says: str
    note: str | None = None
    untested: str | None = None
    unseen: str | None = None


class _Group(PlanModel):
    document: str
    kind: RequirementKind
    prefix: str
    title: str
    rows: tuple[_Row, ...]


class _File(PlanModel):
    format: Literal["fencepost-requirements/1"]
    documents: tuple[_Document, ...]
    groups: tuple[_Group, ...]


class _Content(PlanModel):
    """A catalogue without mistakes. `lines` has the line of each row, in the order of the file."""

    file: _File
    lines: tuple[int, ...]


def load(path: Path) -> Catalogue:
    """Read and check a catalogue file. CatalogueError with a line for each mistake."""
    try:
        text = read_text(path, "catalogue")
    except YamlFileError as error:
        raise CatalogueError(str(error)) from None
    content = _read_kept(text)
    if content is None:
        content = _content(text, path)
        _keep(text, content)
    return _catalogue(content, path)


def parse(text: str, path: Path) -> Catalogue:
    """Check the text of a catalogue; `path` is only named in errors. CatalogueError with a line for each mistake."""
    return _catalogue(_content(text, path), path)


def _content(text: str, path: Path) -> _Content:
    try:
        data = parse_mapping(text, str(path), "catalogue", f"format: {FORMAT}")
        file = validated(_File, data, str(path))
    except YamlFileError as error:
        raise CatalogueError(str(error)) from None
    if mistakes := list(_mistakes(file, data, path)):
        raise CatalogueError("\n".join(mistakes))
    lines = (
        line_of(data, ["groups", place, "rows", number])
        for place, group in enumerate(file.groups)
        for number in range(len(group.rows))
    )
    return _Content(file=file, lines=tuple(lines))


def _catalogue(content: _Content, path: Path) -> Catalogue:
    documents = [Document(each.name, each.title, each.url, each.aliases) for each in content.file.documents]
    rows = chain.from_iterable(((group, row) for row in group.rows) for group in content.file.groups)
    return Catalogue(
        paths=(path,),
        rows={
            row.id: Requirement(**dict(row), document=group.document, kind=group.kind, path=path, line=line)
            for (group, row), line in zip(rows, content.lines, strict=True)
        },
        documents={name: document for document in documents for name in (document.name, *document.aliases)},
    )


def _mistakes(file: _File, data: CommentedMap, path: Path) -> Iterator[str]:
    """Yield the mistakes that a schema cannot find: a name or an id that has two meanings, or none."""
    documents: dict[str, _Document] = {}
    for place, document in enumerate(file.documents):
        for name in (document.name, *document.aliases):
            if name in documents:
                line = line_of(data, ["documents", place])
                yield f"the name {name} at {path}:{line} already stands for {documents[name].title}"
            documents[name] = document
    lines: dict[str, int] = {}
    for place, group in enumerate(file.groups):
        if group.document not in documents:
            line = line_of(data, ["groups", place, "document"])
            yield f"the document {group.document} at {path}:{line} is not listed in `documents`"
        for number, row in enumerate(group.rows):
            line = line_of(data, ["groups", place, "rows", number])
            if not row.id.startswith(f"{group.prefix}-"):
                yield f"the id {row.id} at {path}:{line} does not start with {group.prefix}-"
            if row.id in lines:
                yield f"the id {row.id} at {path}:{line} was used in line {lines[row.id]} already"
            lines.setdefault(row.id, line)


def _read_kept(text: str) -> _Content | None:
    """Return what was kept for this text; None if nothing was, or if it does not fit the model any more."""
    try:
        return _Content.model_validate_json(_copy(text).read_bytes())
    except (OSError, ValidationError):
        return None


def _keep(text: str, content: _Content) -> None:
    """Keep the content of this text. A cache that cannot be written is no error: the next process reads the file."""
    copy = _copy(text)
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        # A file of its own: several processes of a suite may begin at once.
        descriptor, draft = tempfile.mkstemp(dir=copy.parent, suffix=".tmp")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(content.model_dump_json())
            Path(draft).replace(copy)
        finally:
            Path(draft).unlink(missing_ok=True)
    except OSError:
        return


def _copy(text: str) -> Path:
    return cache_folder() / "catalogues" / f"{hashlib.sha256(text.encode()).hexdigest()}.json"
