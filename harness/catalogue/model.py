"""The requirements of one catalogue or of several, and the documents that they come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from fencepost.harness.errors import UsageError


class RequirementKind(StrEnum):
    """The source of a requirement."""

    DOCUMENT = "document"
    DECISION = "decision"
    GUARANTEE = "guarantee"


class RequirementLevel(StrEnum):
    """The strength with which the source states a requirement."""

    MUST = "must"
    SHOULD = "should"
    MAY = "may"


class CatalogueError(UsageError, ValueError):
    """A mistake in a catalogue, or in a reference to one: one message a line, with `file:line` where there is one."""


@dataclass(frozen=True)
class Document:
    """A source of requirements, with every name by which it is cited. `url` is None where it has no public address."""

    name: str
    title: str
    url: str | None
    aliases: tuple[str, ...]


@dataclass(frozen=True)
class Requirement:
    """One row.

    `untested` says why nothing proves it yet; None means that a scenario or a test must name it. `unseen` says why no
    run on a cluster shows it, so that unit tests alone prove it.
    """

    id: str
    document: str
    kind: RequirementKind
    section: str
    level: RequirementLevel
    says: str
    note: str | None
    untested: str | None
    unseen: str | None
    path: Path
    line: int

    @property
    def place(self) -> str:
        """Return where the row stands: `suites/requirements.yaml:82`."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True)
class Catalogue:
    """Requirements by id, in the order of their files, and documents by each of their names."""

    paths: tuple[Path, ...]
    rows: Mapping[str, Requirement]
    documents: Mapping[str, Document]

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.rows.values())

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, requirement: str) -> Requirement:
        try:
            return self.rows[requirement]
        except KeyError:
            raise CatalogueError(f"{self._files} has no requirement {requirement}") from None

    def document(self, name: str) -> Document:
        """Return the document that is cited as `name`, which may be an alias; raise CatalogueError if there is none."""
        try:
            return self.documents[name]
        except KeyError:
            raise CatalogueError(
                f"{self._files} has no document {name}; add it to `documents`, or cite a name there"
            ) from None

    def check(self, references: Iterable[str], where: str) -> None:
        """Raise CatalogueError for ids that the catalogue lacks; `where` is the `file:line` that names them."""
        unknown = sorted(set(references) - set(self.rows))
        if unknown:
            raise CatalogueError(f"{where}: {', '.join(unknown)} is not in {self._files}; add a row, or correct the id")

    @property
    def _files(self) -> str:
        return ", ".join(map(str, self.paths))


def merge(catalogues: Iterable[Catalogue]) -> Catalogue:
    """Return the rows of all catalogues as one. Raise CatalogueError for an id or a name that has two meanings.

    Catalogues may share a document: its name has the same title in each of them.
    """
    paths: list[Path] = []
    rows: dict[str, Requirement] = {}
    documents: dict[str, Document] = {}
    mistakes: list[str] = []
    for each in catalogues:
        paths += each.paths
        for row in each:
            if row.id in rows:
                mistakes.append(
                    f"the id {row.id} at {row.place} stands at {rows[row.id].place} already; choose another prefix"
                )
            rows.setdefault(row.id, row)
        for name, document in each.documents.items():
            if documents.setdefault(name, document).title != document.title:
                other = documents[name].title
                mistakes.append(
                    f"the document {name} has the title {other!r} in another catalogue, and {document.title!r} in "
                    f"{each.paths[0]}; choose another name, or the same title"
                )
    if mistakes:
        raise CatalogueError("\n".join(mistakes))
    return Catalogue(tuple(paths), rows, documents)
