"""Commands around single runs: run a plan, run it again, look at what it left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.suite import Backend, Runs, Seed, Target, plan_of

if TYPE_CHECKING:
    from harness.plan import Plan
    from results.records.verdict import Verdict

PANEL = "Runs"
RunFolderArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder: runs/2026-11-21-7f3c9a21")]


def register(app: typer.Typer) -> None:
    for command in (run, replay, report, recheck, trends):
        app.command(rich_help_panel=PANEL)(command)


def run(
    what: Annotated[str, typer.Argument(metavar="STORY|PLAN.yaml", help="A story's name, or a plan file.")],
    target: Target = "quorum",
    seed: Seed = 1,
    runs: Runs = Path("runs"),
    backend: Backend = "process",
) -> None:
    """Run one story, or one plan file, and judge it. A plan file names its own target and seed.

    [bold]Examples[/bold]
      fencepost run duplicate-id
      fencepost run duplicate-id --target apache-kafka:3.9.1
      fencepost run mine.yaml
    """
    from harness.plan import load_plan

    if what.endswith((".yaml", ".yml")):
        plan = load_plan(_existing(Path(what), "plan file"))
    else:
        plan = plan_of(what, target, seed)
    raise typer.Exit(_run_and_show(plan, runs, backend).exit_code)


def replay(
    folder: RunFolderArgument,
    times: Annotated[int, typer.Option(min=1, help="How often; the exit code is that of the worst.")] = 1,
    backend: Backend = "process",
) -> None:
    """Run the plan of an earlier run again, into a new folder beside it.

    [bold]Examples[/bold]
      fencepost replay runs/2026-11-21-7f3c9a21
      fencepost replay runs/2026-11-21-7f3c9a21 --times 10
    """
    from harness.plan import load_plan
    from results.records.folder import RunFolder
    from results.records.verdict import Verdict

    plan = load_plan(RunFolder.open(_existing(folder, "run folder")).plan)
    verdicts = [_run_and_show(plan, folder.resolve().parent, backend) for _ in range(times)]
    if times > 1:
        counted = ", ".join(f"{verdicts.count(verdict)} {verdict.value}" for verdict in Verdict if verdict in verdicts)
        typer.echo(f"{times} times: {counted}")
    raise typer.Exit(Verdict.worst(verdicts).exit_code)


def report(folder: RunFolderArgument) -> None:
    """Write the report page of a run anew, and say where it is.

    [bold]Example[/bold]
      fencepost report runs/2026-11-21-7f3c9a21
    """
    from harness.report import write_report
    from results.records.folder import RunFolder

    found = RunFolder.open(_existing(folder, "run folder"))
    write_report(found)
    typer.echo(found.report)


def recheck(folder: RunFolderArgument) -> None:
    """Judge a run again from what it left behind, with no cluster. Its verdict file stays as it is.

    [bold]Example[/bold]
      fencepost recheck runs/2026-11-21-7f3c9a21
    """
    from harness.cli.verdicts import show_verdict
    from harness.judge import judge
    from harness.plan import load_plan
    from harness.terminal import terminal
    from results.records.folder import RunFolder
    from results.records.journal import read_journal

    found = RunFolder.open(_existing(folder, "run folder"))
    verdict = judge(load_plan(found.plan), read_journal(found.journal), found.nodes)
    show_verdict(terminal(), found, verdict)
    raise typer.Exit(verdict.verdict.exit_code)


def trends(
    runs: Annotated[Path, typer.Argument(help="The folder that holds run folders.")] = Path("runs"),
    out: Annotated[Path | None, typer.Option(help="Where Parquet and the page go; RUNS/trends by default.")] = None,
) -> None:
    """Mine all runs with Spark: verdicts and durations over time, flakiness, slowest phases.

    [bold]Example[/bold]
      fencepost trends runs
    """
    from importlib.util import find_spec

    from harness.errors import UsageError

    found = _existing(runs, "folder of runs")
    if find_spec("pyspark") is None:
        raise UsageError("Spark is not installed, and trends need it: pip install 'fencepost[mining]'")

    from results.mining.launch import launch
    from results.mining.trends import main

    raise typer.Exit(launch(main, [str(found), *(["--out", str(out)] if out else [])]))


def _run_and_show(plan: Plan, runs: Path, backend: str) -> Verdict:
    from harness.cli.verdicts import Watcher, show_verdict
    from harness.run import run
    from harness.terminal import terminal

    console = terminal()
    with Watcher(console) as watcher:
        folder, verdict = run(plan, runs, backend, watch=watcher)
    show_verdict(console, folder, verdict)
    return verdict.verdict


def _existing(path: Path, what: str) -> Path:
    from harness.errors import UsageError

    if not path.exists():
        raise UsageError(f"there is no {what} {path}")
    return path
