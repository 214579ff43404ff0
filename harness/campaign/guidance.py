"""The knowledge of earlier runs by which a campaign chooses plans, as a file: `guidance.json`, beside the plans.

The file and the seed decide all plans, so a campaign can be repeated without the store that the file was mined from.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fencepost.harness.campaign.combinations import Combination, parts
from fencepost.harness.campaign.planner import VERSION
from fencepost.harness.errors import UsageError
from fencepost.results.records.files import write_json

FORMAT = "fencepost-guidance/1"
FILE = "guidance.json"


@dataclass(frozen=True)
class Failure:
    """One kind of failure of earlier runs: the combinations of its shortest plan."""

    signature: str
    run: str
    combinations: frozenset[Combination]


@dataclass(frozen=True)
class Guidance:
    """How many runs of a target had each combination, with all smaller ones, and which plans failed."""

    target: str
    release: str
    runs: int
    counts: Mapping[Combination, int]
    failures: tuple[Failure, ...] = ()
    planner: int = VERSION
    """The version of the planner that it was made for: another one makes other plans of it."""

    def save(self, path: Path) -> None:
        """Write the file; the same guidance gives the same bytes."""
        failures = [{**asdict(each), "combinations": sorted(map(str, each.combinations))} for each in self.failures]
        counts = {str(each): number for each, number in sorted(self.counts.items())}
        head = {"format": FORMAT, "planner": self.planner, "target": self.target, "release": self.release}
        write_json(path, {**head, "runs": self.runs, "failures": failures, "counts": counts})

    @classmethod
    def load(cls, path: Path) -> Guidance:
        """Read a file. Raise UsageError that says what is wrong with it."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}; name the {FILE} of a campaign") from None
        except ValueError as error:
            raise UsageError(f"{path} is no guidance file: {error}; name the {FILE} of a campaign") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            found = data.get("format") if isinstance(data, dict) else None
            has = f"its format is {found}" if found else "it has no `format`"
            raise UsageError(f"{path} is no guidance file: {has}, expected {FORMAT}; name the {FILE} of a campaign")
        try:
            return cls._read(data)
        except KeyError as error:
            raise UsageError(f"{path} is damaged: it has no {error}; learn again with --learn STORE") from None
        except (TypeError, ValueError, AttributeError) as error:
            raise UsageError(f"{path} is damaged: {error}; learn again with --learn STORE") from None

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> Guidance:
        failures = (
            Failure(each["signature"], each["run"], frozenset(map(Combination.read, each["combinations"])))
            for each in data["failures"]
        )
        return cls(
            target=str(data["target"]),
            release=str(data["release"]),
            runs=int(data["runs"]),
            counts={Combination.read(text): int(number) for text, number in data["counts"].items()},
            failures=tuple(failures),
            planner=int(data["planner"]),
        )


def counted(runs: Iterable[frozenset[Combination]]) -> Counter[Combination]:
    """Return the number of runs that have each combination and each smaller one. `runs`: the combinations of each."""
    found = Counter[Combination]()
    for each in runs:
        found.update(parts(each))
    return found
