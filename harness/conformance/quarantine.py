"""The file of `conformance --quarantine`: known flaky scenarios, which run and are shown, and do not fail the build.

    format: fencepost-quarantine/1
    tests:
      - scenario: cut-from-controllers-cut
        target: quorum
        reason: fails in 12 % of its runs (8 to 19 %)
        expires: 2026-12-07

An entry holds until the end of the day `expires`, UTC. `backend` restricts it to one; without it both count.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from io import StringIO
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from fencepost.harness.errors import UsageError
from fencepost.harness.yaml_file import parse_mapping, read_text, validated

FORMAT = "fencepost-quarantine/1"


Test = tuple[str, str, str]
"""Scenario, target, backend."""


class Entry(BaseModel):
    """One scenario on one target. Keys beside these are for people and are kept by other programs."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    scenario: str = Field(min_length=1)
    target: str = Field(min_length=1)
    reason: str = Field(min_length=1)
    expires: date
    backend: str | None = None

    @property
    def described(self) -> str:
        """Return the entry in words: `quarantined until 2026-12-07: fails in 12 % of its runs`."""
        return f"quarantined until {self.expires.isoformat()}: {self.reason}"

    def holds_for(self, test: Test) -> bool:
        """Return whether the entry is for the test. Without a backend it is for all of them."""
        return (self.scenario, self.target) == test[:2] and self.backend in (None, test[2])


class Quarantine(BaseModel):
    """The entries of one file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["fencepost-quarantine/1"]
    tests: tuple[Entry, ...]

    @classmethod
    def load(cls, path: Path) -> Quarantine:
        """Read the file. UsageError if it is not there, or has mistakes: one line for each."""
        try:
            text = read_text(path, "quarantine")
        except OSError as error:
            raise UsageError(f"the quarantine {path} cannot be read: {error.strerror}") from None
        return validated(cls, parse_mapping(text, str(path), "quarantine", f"format: {FORMAT}"), str(path))

    def active(self, target: str, backend: str, today: date | None = None) -> Mapping[str, str]:
        """Return the entries of a target and backend that have not expired, in words, by scenario."""
        return {each.scenario: each.described for each in self._of(target, backend) if each.expires >= _day(today)}

    def expired(self, target: str, backend: str, today: date | None = None) -> tuple[Entry, ...]:
        """Return the entries of a target and backend that hold no more."""
        return tuple(each for each in self._of(target, backend) if each.expires < _day(today))

    def _of(self, target: str, backend: str) -> tuple[Entry, ...]:
        return tuple(each for each in self.tests if each.target == target and each.backend in (None, backend))


@dataclass(frozen=True)
class Renewal:
    """The text of a file with new entries, and the earlier entries that it has no more."""

    text: str
    expired: tuple[Entry, ...]
    broken: tuple[Entry, ...]


def renewed(path: Path, proposed: Collection[Entry], broken: Collection[Test], today: date | None = None) -> Renewal:
    """Return the file with the proposed entries; those that it has keep their other keys and their comments.

    An earlier entry that is not proposed stays until it expires, unless its test is broken by now: a quarantine would
    hide that. UsageError if there is a file with mistakes.
    """
    data = CommentedMap(format=FORMAT, tests=[])
    if path.exists():
        data = parse_mapping(read_text(path, "quarantine"), str(path), "quarantine", f"format: {FORMAT}")
    earlier = validated(Quarantine, data, str(path)).tests
    new = {(each.scenario, each.target, each.backend or ""): each for each in proposed}
    gone: dict[str, list[Entry]] = {"expired": [], "broken": []}
    rows = []
    for entry, row in zip(earlier, data["tests"], strict=True):
        same = [key for key in new if entry.holds_for(key)]
        if same:
            # An entry without backend is for all of them.
            fresh = max((new.pop(key) for key in same), key=lambda each: each.expires)
            row.update(reason=fresh.reason, expires=fresh.expires)
        elif entry.expires < _day(today):
            gone["expired"].append(entry)
            continue
        elif any(map(entry.holds_for, broken)):
            gone["broken"].append(entry)
            continue
        rows.append(row)
    data["tests"] = [*rows, *(each.model_dump(exclude_none=True) for each in new.values())]
    text = StringIO()
    yaml = YAML()
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.dump(data, text)
    return Renewal(text.getvalue(), tuple(gone["expired"]), tuple(gone["broken"]))


def _day(today: date | None) -> date:
    return today or datetime.now(UTC).date()
