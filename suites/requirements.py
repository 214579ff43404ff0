"""Loads the requirement catalogue, `suites/requirements.yaml`.

A catalogue that breaks its own rules (a wrong key, an id used twice, a level that does not exist) is refused with one
sentence for each mistake, each starting with `file:line`.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError

PATH = Path(__file__).with_name("requirements.yaml")
FORMAT = "fencepost-requirements/1"
_GROUP_KEYS = {"document": True, "kind": True, "prefix": True, "title": True, "rows": True}
_ROW_KEYS = {"id": True, "section": True, "level": True, "says": True, "note": False, "untested": False}


class Kind(StrEnum):
    """Where a requirement comes from."""

    DOCUMENT = "document"
    DECISION = "decision"
    GUARANTEE = "guarantee"


class Level(StrEnum):
    """How strongly the source states it."""

    MUST = "must"
    SHOULD = "should"
    MAY = "may"


class CatalogueError(ValueError):
    """The catalogue, or a reference to it, is wrong: one sentence a line, each with `file:line`."""


@dataclass(frozen=True)
class Requirement:
    """One row. `untested` says why nothing proves it yet; None means that a story or a test must name it."""

    id: str
    document: str
    kind: Kind
    section: str
    level: Level
    says: str
    note: str | None
    untested: str | None
    line: int


@dataclass(frozen=True)
class Catalogue:
    """All requirements by id, in the order of the file."""

    path: Path
    rows: Mapping[str, Requirement]

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.rows.values())

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, requirement: str) -> Requirement:
        try:
            return self.rows[requirement]
        except KeyError:
            raise CatalogueError(f"{self.path} has no requirement {requirement}") from None

    def check(self, references: Iterable[str], where: str) -> None:
        """Raises for ids that the catalogue does not have; `where` is the `file:line` that names them."""
        unknown = sorted(set(references) - set(self.rows))
        if unknown:
            raise CatalogueError(f"{where}: {', '.join(unknown)} is not in {self.path}; add a row, or correct the id")


def load(path: Path = PATH) -> Catalogue:
    """Reads and checks the catalogue."""
    return parse(path.read_text(encoding="utf-8"), path)


def parse(text: str, path: Path) -> Catalogue:
    """Checks the text of a catalogue; `path` is only named in errors."""
    try:
        document = YAML(typ="rt").load(io.StringIO(text))
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise CatalogueError(f"{path}:{line}: not YAML: {error.problem}") from None
    return _Reader(path).catalogue(document)


class _Reader:
    """Collects every mistake, so that one reading names them all."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mistakes: list[str] = []

    def catalogue(self, document: Any) -> Catalogue:
        rows: dict[str, Requirement] = {}
        if not isinstance(document, dict) or document.get("format") != FORMAT or "groups" not in document:
            raise CatalogueError(f"{self._path}:1: expected the keys `format: {FORMAT}` and `groups`")
        for group in document["groups"]:
            if not self._keys(group, _GROUP_KEYS, "group"):
                continue
            for row in group["rows"]:
                requirement = self._requirement(group, row)
                if requirement is None:
                    continue
                if requirement.id in rows:
                    first = rows[requirement.id].line
                    self._mistake(requirement.line, f"the id {requirement.id} was used in line {first} already")
                rows[requirement.id] = requirement
        if self._mistakes:
            raise CatalogueError("\n".join(self._mistakes))
        return Catalogue(self._path, rows)

    def _requirement(self, group: Any, row: Any) -> Requirement | None:
        if not self._keys(row, _ROW_KEYS, "row"):
            return None
        line = row.lc.line + 1
        kind, level = str(group["kind"]), str(row["level"])
        if kind not in list(Kind):
            self._mistake(group.lc.line + 1, f"kind {kind} is none of {', '.join(Kind)}")
            return None
        if level not in list(Level):
            self._mistake(line, f"level {level} is none of {', '.join(Level)}")
            return None
        if not str(row["id"]).startswith(f"{group['prefix']}-"):
            self._mistake(line, f"the id {row['id']} does not start with {group['prefix']}-")
            return None
        return Requirement(
            id=str(row["id"]),
            document=str(group["document"]),
            kind=Kind(kind),
            section=str(row["section"]),
            level=Level(level),
            says=str(row["says"]),
            note=row.get("note"),
            untested=row.get("untested"),
            line=line,
        )

    def _keys(self, mapping: Any, allowed: Mapping[str, bool], what: str) -> bool:
        """Are all required keys there and no other? `allowed` maps a key to whether it is required."""
        if not isinstance(mapping, CommentedMap):
            self._mistake(1, f"a {what} is not a mapping: {mapping!r}")
            return False
        line = mapping.lc.line + 1
        unknown = [key for key in mapping if key not in allowed]
        missing = [key for key, required in allowed.items() if required and not mapping.get(key)]
        for key in unknown:
            self._mistake(mapping.lc.key(key)[0] + 1, f"a {what} has no key {key}; it has {', '.join(allowed)}")
        if missing:
            self._mistake(line, f"the {what} lacks {', '.join(missing)}")
        return not unknown and not missing

    def _mistake(self, line: int, sentence: str) -> None:
        self._mistakes.append(f"{self._path}:{line}: {sentence}")
