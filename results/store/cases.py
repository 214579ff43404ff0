"""The executions of tests in the reports of other suites."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True)
class Build:
    """The build that a report says it is of; None where it does not."""

    commit: str | None = None
    branch: str | None = None
    build: str | None = None


@dataclass(frozen=True)
class Case:
    """One execution of a test.

    `key` is its identity in its format, `report` that of the report it is in, `kind` and `message` are of a failure,
    `headline` is the line of the message that says what failed. It is one of so many `attempts` of one run. `seconds`
    is None where it is not known; `is_dated` is False where `started` is the time of the file, for want of another.
    """

    key: str
    report: str
    test: str
    suite: str | None
    title: str
    file: str
    verdict: str
    started: datetime
    seconds: float | None
    attempt: int = 1
    attempts: int = 1
    kind: str = ""
    message: str = ""
    headline: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    is_dated: bool = True
    build: Build = field(default_factory=Build)
    runner: str | None = None


@dataclass(frozen=True)
class Recognized:
    """One file of a folder, or all files of one writer in it, and how it was read.

    `lost` is what cannot be known from it, `switch` the option of the runner that would help.
    """

    path: Path
    runner: str
    tests: int
    attempts: int
    skipped: int
    lost: tuple[str, ...] = ()
    switch: str = ""
    notes: tuple[str, ...] = ()


@dataclass
class Imported:
    """The executions of a folder, the tests that did not run, and what did not come in, with the reason.

    `copies` are files that repeat others, `zoneless` and `undated` numbers of executions whose time was taken to be
    of a time zone, or is that of their file.
    """

    cases: list[Case] = field(default_factory=list)
    skipped: int = 0
    unreadable: dict[Path, str] = field(default_factory=dict)
    copies: dict[Path, str] = field(default_factory=dict)
    files: list[Recognized] = field(default_factory=list)
    zoneless: int = 0
    undated: int = 0

    @property
    def is_whole(self) -> bool:
        """Return whether something came in, and nothing was left out but copies."""
        return bool(self.cases or self.skipped) and not self.unreadable
