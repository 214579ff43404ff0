"""Divide the scenarios of a suite among machines: each runs one shard, and together they run every scenario once.

The division depends on the scenarios and their durations alone, so that machines which do not know of each other agree
on it. That is why only durations that the caller names count, and not the earlier runs that a machine happens to have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fencepost.harness.errors import UsageError
from fencepost.harness.report.suite_results import SuiteResult
from fencepost.harness.targets.registry import load_file

LEFT_OUT = ("manifest.json", "verdict.json")
"""Files of run folders, which are no results of a suite."""


@dataclass(frozen=True)
class Shard:
    """Part `number` (from 1) of `total` parts."""

    number: int
    total: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the shard that `2/4` names. UsageError for any other text."""
        found = re.fullmatch(r"(\d+)/(\d+)", text.strip())
        shard = None if found is None else cls(int(found[1]), int(found[2]))
        if shard is None or not 1 <= shard.number <= shard.total:
            raise UsageError(f"the shard {text!r} is not I/N with I from 1 to N: for example 2/4")
        return shard

    def select(self, seconds: Mapping[str, float]) -> frozenset[str]:
        """Return the scenarios of this shard. `seconds` has the expected duration of every scenario of the suite.

        The longest come first, each to the shard that has the least to do (LPT scheduling), so that no shard takes more
        than a third longer than the best division.
        """
        loads = [0.0] * self.total
        parts: list[set[str]] = [set() for _ in loads]
        for scenario in sorted(seconds, key=lambda each: (-seconds[each], each)):
            place = loads.index(min(loads))
            loads[place] += seconds[scenario]
            parts[place].add(scenario)
        return frozenset(parts[self.number - 1])


def chosen(shard: str, declared: Mapping[str, float], durations: Path | None, target: str) -> frozenset[str]:
    """Return the scenarios of a shard. `declared` has the declared seconds of all, `durations` is a file or a folder.

    UsageError if the shard, the durations or the target is not there.
    """
    recorded = {} if durations is None else recorded_seconds(durations, load_file(target).name)
    return Shard.parse(shard).select(expected_seconds(declared, recorded))


def check(shard: str | None, durations: Path | None, target: str) -> None:
    """Raise UsageError if the shard, the durations or the target is not there."""
    if shard is not None:
        Shard.parse(shard)
    if durations is not None:
        recorded_seconds(durations, load_file(target).name)


def expected_seconds(declared: Mapping[str, float], recorded: Mapping[str, float]) -> dict[str, float]:
    """Return the expected duration of each scenario: the recorded one, or else the declared one.

    Declared durations are those on the reference cluster. They are scaled to the pace at which the recorded scenarios
    ran, because a slower target slows all of them.
    """
    ran = [each for each in declared if recorded.get(each)]
    pace = sum(recorded[each] for each in ran) / sum(declared[each] for each in ran) if ran else 1.0
    return {each: recorded.get(each, seconds * pace) for each, seconds in declared.items()}


def recorded_seconds(path: Path, target: str) -> dict[str, float]:
    """Return the durations in a file that `--json` wrote, or the newest of each scenario in a folder of such files.

    A skipped scenario took no time. Only results of this target count. A folder may have none, because a CI job begins
    without a history. UsageError if the path does not exist, or if a file has none.
    """
    found: dict[str, float] = {}
    suites = [suite for suite in _suites(path) if suite.target == target]
    if not suites and path.is_file():
        raise UsageError(f"{path} has no results of a suite on {target}: name a file that --json wrote, or a folder")
    for suite in sorted(suites, key=lambda each: each.started):
        found |= {each.scenario: each.seconds for each in suite.scenarios if each.seconds is not None}
        found |= {each.scenario: 0.0 for each in suite.skipped}
    return found


def _suites(path: Path) -> Iterable[SuiteResult]:
    if not path.exists():
        raise UsageError(f"there is no file or folder {path} for --durations")
    if path.is_file():
        files = [path]
    else:
        files = [each for pattern in ("*.json", "*/*.json") for each in path.glob(pattern) if each.name not in LEFT_OUT]
    for file in files:
        try:
            yield SuiteResult.load(file)
        except (OSError, ValueError, KeyError, TypeError):
            continue
