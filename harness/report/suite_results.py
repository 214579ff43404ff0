"""The results of a suite for programs, summaries and pages: each scenario with its verdict, rules and replay command.

A suite leaves a folder `suite-DATE-TARGET-SEED` beside its run folders, with `results.json`. `fencepost conformance
--json FILE` writes the same. Its keys are the fields of `SuiteResult`, and what follows from them for other programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any, Final

from fencepost.results.records.files import as_json, from_json, read_json, write_json
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.replay_command import replay_command
from fencepost.results.records.requirements import RequirementResult, RequirementState
from fencepost.results.records.survey import SUITE_FILE
from fencepost.results.records.verdict import Finding, Verdict

FORMAT: Final = "fencepost-suite/1"
WORST_FIRST: Final = (Verdict.VIOLATION, Verdict.INFRASTRUCTURE, Verdict.INCONCLUSIVE, Verdict.PASS)


@dataclass(frozen=True)
class FoundProblem:
    """One finding of a run that did not pass, or a listed difference that showed. `rule` is the id of a requirement."""

    verdict: Verdict
    check: str
    message: str
    rule: str | None = None
    level: str | None = None
    difference: str | None = None

    @classmethod
    def of(cls, finding: Finding) -> FoundProblem:
        return cls(
            finding.verdict, finding.check, finding.message, finding.requirement, finding.level, finding.difference
        )


@dataclass(frozen=True)
class ScenarioResult:
    """One scenario of a suite.

    `verdict` is None if the scenario was skipped, with the reason in `skipped`, or if the suite ended before it ran.
    `requirements` are the ids that the scenario names, `rules` those that its run judged or left out, with their state.
    `seconds` is the time from its start to its verdict, `run` the run folder, `report` the page in it.
    """

    scenario: str
    title: str
    requirements: tuple[str, ...]
    verdict: Verdict | None = None
    skipped: str | None = None
    seconds: float | None = None
    headline: str | None = None
    run: str | None = None
    rules: tuple[RequirementResult, ...] = ()
    problems: tuple[FoundProblem, ...] = ()
    planted_defect: str = ""
    """The mutant that the nodes ran with."""
    target_digest: str = ""
    target_commit: str = ""
    """The build that ran and its commit, as far as the manifest of the run knows them."""
    quarantined: str | None = None
    """The reason for which the scenario does not fail the suite."""

    @property
    def replay(self) -> str | None:
        return None if self.run is None else replay_command(Path(self.run))

    @property
    def report(self) -> Path | None:
        """Return the path of the page, or None if there is none."""
        page = None if self.run is None else RunFolder(Path(self.run)).report
        return page if page is not None and page.is_file() else None

    @property
    def broken(self) -> tuple[RequirementResult, ...]:
        return tuple(rule for rule in self.rules if rule.state is RequirementState.BROKEN)

    @property
    def failures(self) -> tuple[FoundProblem, ...]:
        """Return the problems with the verdict of the run: those that it failed by."""
        return tuple(each for each in self.problems if each.verdict is self.verdict is not Verdict.PASS)

    @property
    def differences(self) -> tuple[str, ...]:
        """Return the ids of listed differences that showed."""
        return tuple(sorted({each.difference for each in self.problems if each.difference is not None}))

    def with_run(self, run: Path) -> ScenarioResult:
        """Return the result with the content of verdict and manifest in a run folder, as far as they can be read."""
        values: dict[str, Any] = {"run": str(run)}
        if (saved := RunFolder(run).try_verdict()) is not None:
            known = [each for each in saved.shown(Verdict.PASS) if each.difference is not None]
            shown = [*(each for other in WORST_FIRST[:-1] for each in saved.shown(other)), *known]
            values |= {"rules": saved.requirements, "problems": tuple(map(FoundProblem.of, shown))}
            values["planted_defect"] = saved.planted_defect
        if (manifest := RunFolder(run).try_manifest()) is not None:
            values |= {"target_digest": manifest.target_digest, "target_commit": manifest.target_commit}
        return replace(self, **values)

    def to_json(self) -> dict[str, Any]:
        report = self.report
        return as_json(self) | {"replay": self.replay, "report": None if report is None else str(report)}


@dataclass(frozen=True)
class SuiteResult:
    """One suite against one target.

    `started` is in unix seconds, `seconds` the time of the whole. `selection` is the expression of `-k`. `shard` is
    `2/4` for a part of a suite. `interrupted` says that scenarios are missing because the suite was ended early. `ci`
    describes the job of continuous integration, as the manifest of a run does.
    """

    target: str
    target_version: str
    backend: str
    seed: int
    started: float
    seconds: float
    scenarios: tuple[ScenarioResult, ...]
    selection: str | None = None
    shard: str | None = None
    interrupted: bool = False
    ci: Mapping[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """Return the worst verdict; inconclusive if no scenario was judged, because that shows nothing.

        Of the scenarios in quarantine only those that passed count.
        """
        counting = (each for each in self.scenarios if each.verdict is Verdict.PASS or each.quarantined is None)
        judged = [each.verdict for each in counting if each.verdict is not None]
        if self.interrupted:
            judged.append(Verdict.INFRASTRUCTURE)
        return Verdict.worst(judged) if judged else Verdict.INCONCLUSIVE

    @property
    def failed(self) -> list[ScenarioResult]:
        """Return the scenarios that did not pass, the worst verdict first."""
        return [each for verdict in WORST_FIRST[:-1] for each in self.scenarios if each.verdict is verdict]

    @property
    def skipped(self) -> list[ScenarioResult]:
        return [each for each in self.scenarios if each.skipped is not None]

    @property
    def planted_defects(self) -> dict[str, int]:
        """Return the mutants that nodes ran with, and the number of scenarios with each."""
        return dict(Counter(each.planted_defect for each in self.scenarios if each.planted_defect))

    def counts(self) -> dict[Verdict, int]:
        counted = Counter(each.verdict for each in self.scenarios)
        return {verdict: counted[verdict] for verdict in Verdict}

    def slowest(self, number: int) -> list[ScenarioResult]:
        timed = [each for each in self.scenarios if each.verdict is not None and each.seconds is not None]
        return sorted(timed, key=lambda each: -(each.seconds or 0))[:number]

    def to_json(self) -> dict[str, Any]:
        own = as_json(replace(self, scenarios=()))
        del own["scenarios"]
        return {
            "format": FORMAT,
            **own,
            "verdict": self.verdict.value,
            "exit_code": self.verdict.exit_code,
            "counts": {verdict.value: number for verdict, number in self.counts().items()},
            "scenarios": [each.to_json() for each in self.scenarios],
        }

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, self.to_json())

    @classmethod
    def load(cls, path: Path) -> SuiteResult:
        """Read the results of a suite. Raise OSError, or ValueError for a file that has none."""
        value = read_json(path)
        if value.get("format") != FORMAT:
            raise ValueError(f"{path} has no results of a suite: its format is not {FORMAT}")
        return from_json(cls, value)


def create_suite_folder(runs: Path, target: str, seed: int) -> Path:
    """Make the folder `suite-DATE-TARGET-SEED` of a suite in `runs`, with a number when that is taken."""
    name = f"suite-{date.today().isoformat()}-{target.replace(':', '-').replace('/', '-')}-{seed}"
    for number in count(1):
        folder = runs / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            continue
    raise AssertionError("unreachable: count() does not end")


def earlier_suites(runs: Path) -> Iterable[SuiteResult]:
    """Yield the suites that left their results in `runs`, in no order. Leave out what cannot be read."""
    for path in runs.glob(f"suite-*/{SUITE_FILE}"):
        try:
            yield SuiteResult.load(path)
        except (OSError, ValueError):
            continue
