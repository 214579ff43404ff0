"""The settings that topics and brokers of a release can have while they run, as the release itself documents them.

Plans are made before a cluster runs, so that the definitions of each release lie here as files. `python -m
tests.definitions apache-kafka:4.4.0` writes one from the release's own documentation of its settings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fencepost.harness.targets.file import TargetFile

FOLDER = Path(__file__).parent
REFERENCE = "reference"
"""The file of the reference cluster. Its three designs have the same settings."""
NAMES: Mapping[str, str] = {
    "apache-kafka": "kafka-{version}",
    "apache-kafka-zk": "kafka-{version}",
    "quorum": REFERENCE,
    "zk-controller": REFERENCE,
    "leader-driven": REFERENCE,
}
"""The name of a target's file, which those that extend it share."""
LARGEST: Mapping[str, int] = {"short": 2**15 - 1, "int": 2**31 - 1, "long": 2**63 - 1}

_RANGE = re.compile(r"\[(?:(-?\d+),)?\.\.\.(?:,(-?\d+))?\](?: or -?\d+)?")
_CHOICE = re.compile(r"\[([\w.-]+(?:, *[\w.-]+)*)\]")


@dataclass(frozen=True)
class Definition:
    """One setting. `type` and `valid` are words of Kafka's documentation: `long`, `[-1,...]`, `[delete, compact]`."""

    name: str
    type: str
    default: str | None
    valid: str = ""

    @property
    def accepted(self) -> tuple[str, ...]:
        """The values at the limits: lowest, just above, highest; of a choice all of them. Empty if none are known."""
        if self.type == "boolean":
            return "true", "false"
        if (bounds := self._bounds) is not None:
            lowest, highest = bounds
            numbers = (lowest, highest) if self.type == "double" else (lowest, lowest + 1, highest)
            return tuple(dict.fromkeys(self._text(number) for number in numbers))
        return self._choices

    @property
    def refused(self) -> tuple[str, ...]:
        """The values just beyond the limits, and one of another type."""
        if (bounds := self._bounds) is not None:
            lowest, highest = bounds
            return self._text(lowest - 1), self._text(highest + 1), "x"
        if self.type in LARGEST:
            return self._text(LARGEST[self.type] + 1), "x"
        return ("x",) if self.accepted else ()

    def raised(self, value: str | None) -> tuple[str, ...]:
        """Return the two numbers after a value; none if it has none after it, or is no number above 0.

        0 and -1 often mean more than a number: no limit, or never.
        """
        if self.type not in LARGEST or value is None or not value.isdecimal() or int(value) == 0:
            return ()
        highest = LARGEST[self.type] if self._bounds is None else self._bounds[1]
        return tuple(str(number) for more in (1, 2) if (number := int(value) + more) <= highest)

    @property
    def _bounds(self) -> tuple[int, int] | None:
        found = _RANGE.fullmatch(self.valid)
        if found is None or found[1] is None or (self.type not in LARGEST and found[2] is None):
            return None
        return int(found[1]), int(found[2] or LARGEST[self.type])

    @property
    def _choices(self) -> tuple[str, ...]:
        found = _CHOICE.fullmatch(self.valid) if self.type in ("string", "list") else None
        return tuple(word.strip() for word in found[1].split(",")) if found else ()

    def _text(self, number: int) -> str:
        return f"{number}.0" if self.type == "double" else str(number)


@dataclass(frozen=True)
class Definitions:
    """The settings of topics, and those of brokers that can be changed while they run, by name."""

    topic: Mapping[str, Definition]
    broker: Mapping[str, Definition]


def path_of(target: str, version: str) -> Path | None:
    """Return the path of a target's file, whether it exists or not; None for a target that has none."""
    return FOLDER / f"{NAMES[target].format(version=version)}.json" if target in NAMES else None


def definitions(target: TargetFile) -> Definitions | None:
    """Return the definitions of the release for which the file was read; None if there are none of it."""
    path = path_of(target.name if target.name in NAMES else target.extends or "", target.release)
    return None if path is None or not path.is_file() else _read(path)


@cache
def _read(path: Path) -> Definitions:
    data = json.loads(path.read_text(encoding="utf-8"))
    return Definitions(_of(data["topic"]), _of(data["broker"]))


def _of(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Definition]:
    return {name: Definition(name=name, **facts) for name, facts in settings.items()}
