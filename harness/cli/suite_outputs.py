"""The files that suites and campaigns leave for programs and for CI systems, and their annotations."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from fencepost.harness.cli.board import Board, Row
from fencepost.harness.cli.options import Annotations
from fencepost.harness.errors import UsageError
from fencepost.harness.report.ci_summary import github_annotations, markdown
from fencepost.harness.report.suite_history import past_runs
from fencepost.harness.report.suite_results import ScenarioResult, SuiteResult, create_suite_folder
from fencepost.results.records.progress import Phase
from fencepost.results.records.survey import SUITE_FILE


@dataclass(frozen=True)
class CiOutputs:
    """The outputs for CI systems that the caller wants."""

    summary: Path | None = None
    annotations: Annotations = Annotations.AUTO

    def check(self) -> None:
        """Make the folders of the files. UsageError if a file could not be written at the end, which is too late."""
        if self.summary is not None:
            check_file("--summary", self.summary)

    def write(self, result: SuiteResult, runs: Path | None, console: Console) -> None:
        """Append the summary to its file and print the annotations.

        `runs` has the earlier runs, or is None for random plans, which ran never before.
        """
        if self.summary is not None:
            past = past_runs(runs) if result.failed and runs is not None else None
            with self.summary.open("a", encoding="utf-8") as file:
                file.write(markdown(result, past))
        if self._annotates:
            for line in github_annotations(result):
                console.print(line, markup=False, highlight=False, soft_wrap=True)

    @property
    def _annotates(self) -> bool:
        if self.annotations is Annotations.AUTO:
            return os.environ.get("GITHUB_ACTIONS") == "true"
        return self.annotations is Annotations.GITHUB


@dataclass(frozen=True)
class SuiteOutputs:
    """The outputs that the caller wants besides the files in the folder of the suite."""

    json: Path | None = None
    junitxml: Path | None = None
    ci: CiOutputs = CiOutputs()
    publish: str | None = None
    """The results store to which the runs are added."""

    def check(self) -> None:
        """Make the folders of the files. UsageError if a file could not be written at the end, which is too late."""
        for option, path in (("--json", self.json), ("--junitxml", self.junitxml)):
            if path is not None:
                check_file(option, path)
        self.ci.check()

    def write(self, result: SuiteResult, runs: Path, console: Console) -> Path:
        """Write all but the JUnit file, and return the folder of the suite, which is in `runs`."""
        self.ci.write(result, runs, console)
        folder = create_suite_folder(runs, result.target, result.seed)
        result.save(folder / SUITE_FILE)
        if self.json is not None:
            result.save(self.json)
        return folder


def check_file(option: str, path: Path) -> None:
    """Make the folder of a file that an option names. UsageError if the file cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        existed = path.exists()
        path.open("ab").close()
        if not existed:
            path.unlink()
    except OSError as error:
        raise UsageError(f"{option} {path} cannot be written ({error.strerror}): name another file") from None


def scenario_results(board: Board) -> tuple[ScenarioResult, ...]:
    """Return the results of all scenarios on the board, with the rules that their run folders have."""
    return tuple(_result(row, board.quarantined.get(row.scenario)) for row in board.rows.values())


def _result(row: Row, quarantined: str | None) -> ScenarioResult:
    skipped = row.phase is Phase.SKIPPED
    result = ScenarioResult(
        scenario=row.scenario,
        title=row.title,
        requirements=row.requirements,
        verdict=row.verdict,
        skipped=row.headline if skipped else None,
        seconds=row.seconds if row.verdict is not None else None,
        headline=None if skipped else row.headline,
        quarantined=quarantined,
    )
    return result if row.run is None else result.with_run(Path(row.run))
