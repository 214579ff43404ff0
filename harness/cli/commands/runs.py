"""Commands that run one plan, run or judge it again, and show what it left."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fencepost.harness.cli.command import CommandOptions
from fencepost.harness.cli.options import (
    Backend,
    EndEarly,
    Json,
    MutantOption,
    OwnedOption,
    RunArgument,
    RunOrPlanArgument,
    Runs,
    SameBackend,
    ScenarioOrPlanArgument,
    SecurityOption,
    Seed,
    Target,
)


@dataclass(frozen=True)
class RunOptions(CommandOptions):
    """Run one scenario, or one plan file, and judge it.

    A plan file names its own target and seed. With --target it is run on that one: its nodes, levels and workload have
    to fit it, as `fencepost plan` checks.

    [bold]Examples[/bold]
      fencepost run duplicate-id-empty
      fencepost run duplicate-id-empty --target apache-kafka:3.9.2
      fencepost run mine.yaml --json
      fencepost run mine.yaml --target ./acme.yaml
      fencepost run duplicate-id-empty --security tls-scram
      fencepost run any-kill --target ./ours.yaml --i-own-this-cluster 5Ld1bGHBQNmE2g3xV0cAyw
    """

    source: ScenarioOrPlanArgument
    target: Target = None
    seed: Seed = 1
    runs: Runs = Path("runs")
    backend: Backend = "process"
    as_json: Json = False
    security: SecurityOption = None
    mutant: MutantOption = None
    end_early: EndEarly = False
    owned: OwnedOption = None

    def perform(self) -> int:
        from fencepost.harness.cli.run import run

        return run(self)


@dataclass(frozen=True)
class ReplayOptions(CommandOptions):
    """Run the same plan again, and count how often it fails as before.

    A run fails as before if it has the same verdict and breaks at least one of the same rules. An infrastructure run
    says nothing about the target: it is listed, not counted. The exit code is that of the worst verdict. Ctrl-C ends
    the series, reports the runs so far, and exits as infrastructure. All steps are tried, also of a run that a campaign
    ended early; --end-early ends it again there.

    [bold]Examples[/bold]
      fencepost replay runs/2026-11-21-7f3c9a21
      fencepost replay runs/2026-11-21-7f3c9a21 --times 20
      fencepost replay runs/2026-11-21-7f3c9a21 --backend docker
      fencepost replay plan.yaml --times 20 --json        (on another machine)
    """

    source: RunOrPlanArgument
    times: Annotated[int, typer.Option(min=1, metavar="N", help="How many times to run the plan.")] = 1
    backend: SameBackend = None
    runs: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder for the new run folders. Default: the folder that holds RUN."),
    ] = None
    as_json: Json = False
    end_early: EndEarly = False
    owned: OwnedOption = None

    def perform(self) -> int:
        from fencepost.harness.cli.run import replay

        return replay(self)


@dataclass(frozen=True)
class RecheckOptions(CommandOptions):
    """Judge a run again from its folder, without a cluster; report each difference from the stored verdict.

    Nothing in the folder is changed. The exit code is that of the verdict, or 4 if it differs from the stored one. With
    --spark it is that of ten checks of the data plane, which read the journal from disk. Records of transactions and
    topics that were deleted are not judged then, and differences that are listed for the target count as violations.

    [bold]Examples[/bold]
      fencepost recheck runs/2026-11-21-7f3c9a21
      fencepost recheck runs/2026-11-21-7f3c9a21 --json
      fencepost recheck runs/soak-7f3c9a21 --spark --spark-memory 8g
    """

    run: RunArgument
    as_json: Json = False
    spark: Annotated[
        bool, typer.Option("--spark", help="Judge the data plane alone, with Spark: for histories beyond memory.")
    ] = False
    spark_memory: Annotated[str, typer.Option(metavar="SIZE", help="Memory for --spark, such as 4g.")] = "4g"

    def perform(self) -> int:
        from fencepost.harness.cli.recheck import recheck

        return recheck(self)


@dataclass(frozen=True)
class ShrinkOptions(CommandOptions):
    """Find the smallest plan that still fails: fewer faults, steps, clients, topics, nodes, shorter times.

    Each candidate is a complete plan and is run up to --times times. It counts as failing if the fraction --rate of its
    runs fails as RUN did. Ctrl-C, or the end of --minutes, stops the search and keeps the smallest plan so far.
    Exit codes: 0 if a plan was written, 3 if the original plan does not fail at that rate.

    [bold]Examples[/bold]
      fencepost shrink runs/2026-11-21-7f3c9a21
      fencepost shrink runs/2026-11-21-7f3c9a21 --times 5 --rate 0.6 --minutes 120
      fencepost shrink runs/2026-11-21-7f3c9a21 --rule ACK-01 --out small.yaml
    """

    source: RunOrPlanArgument
    times: Annotated[int, typer.Option(min=1, metavar="N", help="Run each candidate at most this many times.")] = 3
    rate: Annotated[float, typer.Option(min=0.01, max=1.0, metavar="N", help="Fraction of runs that must fail.")] = 0.8
    minutes: Annotated[
        float, typer.Option(min=0.1, metavar="N", help="Stop starting runs after this many minutes.")
    ] = 60.0
    rule: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID", help="Count only these rules as the failure: ACK-01. Default: any rule that RUN broke."
        ),
    ] = None
    backend: SameBackend = None
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File for the smallest plan. Default: RUN-shrunk.yaml, beside RUN."),
    ] = None
    as_json: Json = False

    def perform(self) -> int:
        from fencepost.harness.cli.shrink import shrink

        return shrink(self)


@dataclass(frozen=True)
class BundleOptions(CommandOptions):
    """Pack a run for another person: plan, versions, journal, logs, verdict, report, and a compose file.

    From the archive, `docker compose up` starts the same topology, one script injects the same faults, and
    `fencepost recheck` gives the same verdict. The README in the archive explains how.

    [bold]Examples[/bold]
      fencepost bundle runs/2026-11-21-7f3c9a21
      fencepost bundle runs/2026-11-21-7f3c9a21 --out lost-records.tar.gz
    """

    run: RunArgument
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The archive to write. Default: RUN-bundle.tar.gz in this folder."),
    ] = None

    def perform(self) -> None:
        from fencepost.harness.reproduction.bundle.pack import bundle
        from fencepost.harness.targets.registry import open_run

        archive = bundle(open_run(self.run), self.out or Path(f"{self.run.resolve().name}-bundle.tar.gz"))
        print(f"{archive}  {archive.stat().st_size / 1e6:.1f} MB")


@dataclass(frozen=True)
class ReportOptions(CommandOptions):
    """Write the report page of a run again, and print its path.

    [bold]Example[/bold]
      fencepost report runs/2026-11-21-7f3c9a21
    """

    run: RunArgument

    def perform(self) -> None:
        from fencepost.harness.report import write_report
        from fencepost.harness.targets.registry import open_run

        folder = open_run(self.run)
        write_report(folder)
        print(folder.report)


@dataclass(frozen=True)
class IndexOptions(CommandOptions):
    """Write the pages over many runs again: verdicts, rules, the slowest runs, what was skipped and why.

    Each suite and campaign writes its page when it ends, and that of the folder it is in. A page is one file,
    `index.html`, and links the reports of the runs by relative paths, so a folder can be moved or published whole.

    [bold]Examples[/bold]
      fencepost index
      fencepost index nightly/monday nightly/tuesday
      fencepost index runs/campaign-2026-11-23-quorum-1-7
    """

    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUNS]…", help="Folders with runs, suites or campaigns. Default: runs."),
    ] = None

    def perform(self) -> None:
        from fencepost.harness.cli.index import index

        index(self)
