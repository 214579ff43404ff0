"""Commands that publish results to a store, and look after it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fencepost.harness.cli import completion
from fencepost.harness.cli.command import CommandOptions
from fencepost.harness.cli.options import Json

StoreOption = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="STORE",
        help="The store: a folder, or a URL that Delta Lake reaches, such as s3://bucket/results. Made if needed.",
    ),
]
StoreArgument = Annotated[str, typer.Argument(metavar="STORE", help="The store: a folder, or a URL.")]


@dataclass(frozen=True)
class PublishOptions(CommandOptions):
    """Add the facts of runs to a results store, from which trends are mined.

    The store gets what each run found, not its logs and data: verdict, findings, faults and what they hit, state
    changes, timings, latencies, kinds of log lines, rules. docs/results.md describes each table and column. Publishing
    a run again adds nothing, and several processes may publish at once. Folders of runs that were ended half way, that
    are damaged or that are no run folders are named, and kept in the table kept_aside.

    Exit codes: 0 published, 2 the store failed (a full disk, no access), 64 no runs there, or no store.

    [bold]Examples[/bold]
      fencepost publish runs --to store
      fencepost publish runs/campaign-2026-11-23-quorum-1-7 --to s3://bucket/results
      fencepost conformance quorum --publish store
    """

    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUNS",
            help="Run folders, or folders that hold them: of runs, of a suite, of a campaign.",
            autocompletion=completion.runs,
        ),
    ]
    to: StoreOption
    as_json: Json = False

    def perform(self) -> int:
        from fencepost.harness.cli.publish import publish

        return publish(self)


Since = Annotated[
    str | None, typer.Option(metavar="AGE", help="Leave earlier runs out: 30d, 8w, 6m, 1y (months of 30 days).")
]


@dataclass(frozen=True)
class TrendsOptions(CommandOptions):
    """Show which tests are new failures, known ones or fixed, since which build, why, and how to replay them.

    Mines a results store with Spark on this machine: flaky or broken with the probability, the build since which a test
    is worse with its 99 % interval, faults that go with failures, what became slower. The pages have one page for each
    test, the rules, and all timings. With --head, only the failures of a branch: which of them its base has as well,
    which are new with which probability, and how many reruns would tell. A folder of runs is published into a temporary
    store first. docs/trends.md explains what is shown.

    Exit codes: 0 mined, 2 Spark or the store failed, 64 no store, 65 damaged files in it.

    [bold]Examples[/bold]
      fencepost trends store
      fencepost trends store --since 30d --target quorum --out trends
      fencepost trends store --markdown >> "$GITHUB_STEP_SUMMARY"
      fencepost trends store --base main --head pr-123 --markdown
      fencepost trends runs
    """

    store: Annotated[
        str, typer.Argument(metavar="STORE", help="The store: a folder, or a URL. A folder of runs will do, too.")
    ] = "runs"
    since: Since = None
    target: Annotated[str | None, typer.Option(metavar="NAME", help="Only the runs on this target.")] = None
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Tests of each kind that are printed.")] = 10
    base: Annotated[
        str | None,
        typer.Option(metavar="BRANCH", help="With --head: the branch, build or commit to compare with. Default: main."),
    ] = None
    head: Annotated[
        str | None,
        typer.Option(metavar="BRANCH", help="Compare the newest build of this branch, or this build or commit."),
    ] = None
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make anew what a large store keeps of each day, and keep it.")
    ] = False
    as_json: Json = False
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, for the summary of a CI job.")] = False
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write pages into this folder; index.html is the overview.")
    ] = None

    def perform(self) -> int:
        from fencepost.harness.cli.trends import trends

        return trends(self)


@dataclass(frozen=True)
class ShowOptions(CommandOptions):
    """Show one test: its state, verdicts by build, since when, faults that matter, kinds of failures, times, replay.

    Exit codes: 0 shown, 2 Spark or the store failed, 64 no such test, or no plan of a failure.

    [bold]Examples[/bold]
      fencepost show refused-duplicate --store store
      fencepost show "(random plans)" --store store --save-plan plan.yaml && fencepost replay plan.yaml
    """

    test: Annotated[str, typer.Argument(metavar="TEST", help="The test, as `fencepost trends` names it.")]
    store: Annotated[str, typer.Option("--store", metavar="STORE", help="The store: a folder, or a URL.")]
    target: Annotated[str | None, typer.Option(metavar="NAME", help="Only the runs on this target.")] = None
    since: Since = None
    save_plan: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the plan of its newest failure into FILE instead, for a replay."),
    ] = None

    def perform(self) -> int:
        from fencepost.harness.cli.trends import show

        return show(self)


@dataclass(frozen=True)
class CompactOptions(CommandOptions):
    """Join the small files of a store, which many publications leave; queries are faster then.

    Files that were replaced more than a week ago are deleted. Readers, publishers and other compactions may go on
    meanwhile.

    [bold]Example[/bold]
      fencepost results compact store
    """

    address: StoreArgument

    def perform(self) -> None:
        from fencepost.harness.cli.results import compact

        compact(self)


@dataclass(frozen=True)
class ExpireOptions(CommandOptions):
    """Remove old runs from a store, but neither the last runs of a test nor the evidence of an open violation.

    A violation is open until the same plan passed later, or, for a test that is no random plan, until its last N runs
    all passed. The space is free after `fencepost results compact`, a week later.

    [bold]Examples[/bold]
      fencepost results expire store --older-than 180d --dry-run
      fencepost results expire store --older-than 180d
    """

    address: StoreArgument
    older_than: Annotated[
        str, typer.Option(metavar="AGE", help="Remove runs older than this: 180d, 26w, 6m, 1y (months of 30 days).")
    ]
    keep: Annotated[
        int, typer.Option(min=1, metavar="N", help="Runs of each test, target and backend that stay at any age.")
    ] = 20
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would expire, and remove nothing.")] = False

    def perform(self) -> None:
        from fencepost.harness.cli.results import expire

        expire(self)


@dataclass(frozen=True)
class CheckOptions(CommandOptions):
    """Read every row of a store, and report what is damaged, double or half published.

    Damaged files are named; they come back from a backup only. Rows that are there twice are removed by --repair: those
    of one key, and runs from reports that an earlier version imported again.

    Exit codes: 0 whole, 2 double or half published, 64 no store, 65 damaged files.

    [bold]Examples[/bold]
      fencepost results check store
      fencepost results check store --repair
    """

    address: StoreArgument
    repair: Annotated[bool, typer.Option("--repair", help="Remove what is there twice first.")] = False
    as_json: Json = False

    def perform(self) -> int:
        from fencepost.harness.cli.results import check

        return check(self)


@dataclass(frozen=True)
class QuarantineOptions(CommandOptions):
    """Write the file that `conformance --quarantine` reads: the scenarios that are flaky, and nothing else.

    A scenario is proposed if it is flaky with 95 %, if one plan both passed and failed on one build, and if no build is
    suspected to have made it worse. A broken one is never proposed. In a file that is there, other entries stay until
    they expire, and an entry is removed if its scenario is broken by now.

    [bold]Examples[/bold]
      fencepost results quarantine store --out quarantine.yaml
      fencepost results quarantine s3://bucket/results --out quarantine.yaml --target quorum --since 30d --lasts 4w
    """

    address: StoreArgument
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write, or to renew.")]
    target: Annotated[str | None, typer.Option(metavar="NAME", help="Only scenarios on this target.")] = None
    since: Annotated[
        str | None, typer.Option(metavar="AGE", help="Judge by the runs of this time: 30d, 8w. Default: all runs.")
    ] = None
    lasts: Annotated[str, typer.Option(metavar="AGE", help="Time after which an entry expires: 14d, 4w.")] = "14d"

    def perform(self) -> None:
        from fencepost.harness.cli.quarantine import quarantine

        quarantine(self)


class ImportKind(StrEnum):
    """The formats of other suites."""

    JUNIT = "junit"
    ALLURE = "allure"
    RETECS = "retecs"


@dataclass(frozen=True)
class ImportOptions(CommandOptions):
    """Add the results of any other suite to a store, so that all tests are mined in one place.

    A failure and an error (Allure: failed and broken) count as violation. Tests that did not run are counted in the
    output and not stored. Importing a report again adds nothing, whatever its place, time and commit. `--explain DIR`
    says of each file what was recognized, and imports nothing.

    Exit codes: 0 all came in, 2 nothing did, or not all, or the store failed, 64 no results there, or no store.

    [bold]Examples[/bold]
      fencepost results import junit build/test-results --to store --target acme --commit 1a2b3c4
      fencepost results import allure runs --to s3://bucket/results --commit-from 'path:^([0-9a-f]{40})/'
      fencepost results import retecs iofrol.csv --to store --time-zone Europe/Oslo   # a published history
      fencepost results import --explain build/test-results
    """

    kind: Annotated[
        ImportKind | None, typer.Argument(metavar="FORMAT", help="The format of the results: junit, allure or retecs.")
    ] = None
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="The folder with *.xml, *-result.json or *.csv files.")
    ] = None
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="STORE", help="The store: a folder, or a URL. Made if needed."),
    ] = None
    explain: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Print for each file: runner, tests, attempts, what cannot be known, the switch that helps.",
        ),
    ] = None
    target: Annotated[str, typer.Option(metavar="NAME", help="Name of the tested system.")] = "unknown"
    release: Annotated[str | None, typer.Option(metavar="VERSION", help="Release of the tested system.")] = None
    commit: Annotated[
        str | None,
        typer.Option(
            metavar="SHA",
            help="Tested commit. Default, as of branch: the report's properties, then the variables of the CI job.",
        ),
    ] = None
    commit_from: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="Where each report has its commit: path:REGEX (its first group, in the path below DIR), "
            "property:NAME (Allure: a label), file:NAME (beside the report, or above it).",
        ),
    ] = None
    branch: Annotated[str | None, typer.Option(metavar="NAME", help="Branch.")] = None
    job: Annotated[str | None, typer.Option(metavar="NAME", help="Name of the CI job.")] = None
    url: Annotated[str | None, typer.Option(metavar="URL", help="Page of the CI job.")] = None
    time_zone: Annotated[
        str | None,
        typer.Option(metavar="ZONE", help="Zone of times without one: UTC, Europe/Berlin. Default: this machine's."),
    ] = None
    as_json: Json = False

    def perform(self) -> int:
        from fencepost.harness.cli.import_results import import_results

        return import_results(self)
