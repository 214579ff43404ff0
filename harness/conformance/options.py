"""The options of a session, each once: the plugin adds them to pytest, and `fencepost conformance` hands them over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_type_hints

if TYPE_CHECKING:  # the command has these options as well, and does not load pytest for its help
    import pytest


class InconclusiveAs(StrEnum):
    """How JUnit files and pytest show a run that proves nothing."""

    ERROR = "error"
    SKIP = "skip"


class Help(NamedTuple):
    """The texts of an option: for its value, in pytest's help, and in the command's own, unless more commands have it
    (`cli/options.py`)."""

    metavar: str
    in_pytest: str
    in_command: str = ""


@dataclass(frozen=True)
class SessionOptions:
    """The options of a session. `runs` is the folder for run folders."""

    target: Annotated[
        str,
        Help(
            "TARGET",
            "what to run against: quorum, zk-controller, leader-driven, apache-kafka:3.9.2, apache-kafka-zk, or a "
            "target file of yours: ./acme.yaml",
        ),
    ] = "quorum"
    seed: Annotated[int, Help("N", "seed of the plans")] = 1
    runs: Annotated[Path, Help("FOLDER", "folder for the run folders")] = Path("runs")
    backend: Annotated[str, Help("BACKEND", "how nodes are run: process or docker")] = "process"
    security: Annotated[
        str | None,
        Help(
            "NAME",
            "how the listeners of plans without a security of their own are secured: tls-scram",
            "Secure the listeners of plans without a security of their own: tls, tls-plain, tls-scram, sasl, "
            "sasl-plain or sasl-scram.",
        ),
    ] = None
    inconclusive: Annotated[
        InconclusiveAs,
        Help(
            "",
            "how a test ends whose run proves nothing, because a fault or a step did not happen as planned",
            "How the JUnit file shows a run that proves nothing. The exit code is 3 in both cases.",
        ),
    ] = InconclusiveAs.ERROR
    shard: Annotated[
        str | None,
        Help(
            "I/N",
            "run part I of N of the scenarios: 2/4",
            "Run part I of N of the scenarios, such as 2/4. Each is in one part.",
        ),
    ] = None
    durations: Annotated[
        Path | None,
        Help(
            "PATH",
            "results of earlier suites that balance the shards: a file of `fencepost conformance --json`, or a folder",
            "Balance the shards by earlier results: a file of --json, or a folder of such files. The same for all "
            "shards.",
        ),
    ] = None
    quarantine: Annotated[
        Path | None,
        Help(
            "FILE",
            "known flaky scenarios: they run and are shown, and do not fail the session until their entries expire",
            "Run and show the known flaky scenarios of this file, and let them not fail the suite until their entries "
            "expire.",
        ),
    ] = None

    @classmethod
    def of(cls, config: pytest.Config) -> SessionOptions:
        """Return the values of the options `--fencepost-...`."""
        values = {name: config.getoption(f"--fencepost-{name}") for name in declared()}
        return cls(**{name: value and declared()[name].type(value) for name, value in values.items()})

    def arguments(self) -> Iterator[str]:
        """Yield the arguments by which pytest gets these values."""
        for name in declared():
            if (value := getattr(self, name)) is not None:
                yield f"--fencepost-{name}={value}"


class Declared(NamedTuple):
    """One option. `type` makes its value of a text, or of the value itself."""

    type: Any
    help: Help


@cache
def declared() -> dict[str, Declared]:
    """Return the options by their names, in the order of the fields."""
    return {name: _declared(*get_args(hint)) for name, hint in get_type_hints(SessionOptions, None, None, True).items()}


def _declared(hint: Any, texts: Help) -> Declared:
    return Declared(next((one for one in get_args(hint) if one is not NoneType), hint), texts)


def add_options(parser: pytest.Parser) -> None:
    """Add the options to pytest.

    Each name has the prefix: a conftest may have a --target of its own, and two options of one name end pytest.
    """
    group = parser.getgroup("fencepost", "fencepost: scenarios on real clusters")
    for field in fields(SessionOptions):
        kind, texts = declared()[field.name]
        of_value = {"type": kind, "metavar": texts.metavar}
        if issubclass(kind, StrEnum):
            of_value = {"choices": [choice.value for choice in kind]}
        group.addoption(f"--fencepost-{field.name}", default=field.default, help=texts.in_pytest, **of_value)
