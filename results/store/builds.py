"""The build that a report is of: from its path, its properties, or a file beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Final

from fencepost.results.store.cases import Build

_COMMIT: Final = (
    "commit",
    "git.commit",
    "git.commit.id",
    "git.sha",
    "vcs.revision",
    "fencepost.commit",
    "GITHUB_SHA",
    "CI_COMMIT_SHA",
    "GIT_COMMIT",
)
_BRANCH: Final = ("branch", "git.branch", "GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "GIT_BRANCH")
_BUILD: Final = ("build", "build.id", "fencepost.digest")


@dataclass(frozen=True)
class CommitFrom:
    """The place of the commit of a report: `path:REGEX`, `property:NAME` or `file:NAME`."""

    kind: str
    value: str

    @classmethod
    def parse(cls, text: str) -> CommitFrom:
        """Raise ValueError, which says what is wrong."""
        kind, _, value = text.partition(":")
        if kind not in ("path", "property", "file") or not value:
            raise ValueError(f"{text!r} is none of path:REGEX, property:NAME and file:NAME")
        if kind == "path":
            try:
                re.compile(value)
            except re.error as error:
                raise ValueError(f"{value!r} is no regular expression: {error}") from error
        return cls(kind, value)

    def commit(self, folder: Path, path: Path, properties: Mapping[str, str]) -> str | None:
        """Return the commit of the report at a path in a folder that is imported; None if it is not there.

        Of a path it is the first group of the expression, or all that it matched; of a file its first word, and the
        file is looked for in the folder of the report and in those above it, up to the imported one.
        """
        if self.kind == "property":
            return properties.get(self.value) or None
        if self.kind == "path":
            found = re.search(self.value, path.relative_to(folder).as_posix() if folder != path else path.name)
            return (found[found.re.groups and 1] or None) if found else None
        for above in path.parents:
            if (beside := above / self.value).is_file():
                return next(iter(beside.read_text(encoding="utf-8", errors="replace").split()), None)
            if above == folder:
                break
        return None


@dataclass(frozen=True)
class Reading:
    """How a folder is read: the zone of time stamps without one (None: of this machine), and where commits are."""

    zone: tzinfo | None = None
    commit_from: CommitFrom | None = None


@dataclass(frozen=True)
class Builds:
    """The builds of the reports of one folder."""

    folder: Path
    commit_from: CommitFrom | None

    def of(self, path: Path, properties: Mapping[str, str]) -> Build:
        """Return the build of a report with these properties, of which those of an environment may begin `env.`."""
        bare = {name.removeprefix("env."): value for name, value in properties.items()}

        def first(names: tuple[str, ...]) -> str | None:
            return next((bare[name] for name in names if bare.get(name)), None)

        commit = self.commit_from.commit(self.folder, path, properties) if self.commit_from else first(_COMMIT)
        return Build(commit, first(_BRANCH), first(_BUILD))
