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

from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from fencepost.harness.errors import UsageError
from fencepost.harness.yaml_file import parse_mapping, read_text, validated

FORMAT = "fencepost-quarantine/1"


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


def _day(today: date | None) -> date:
    return today or datetime.now(UTC).date()
