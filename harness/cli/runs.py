"""Commands around single runs: run a plan, run it again, look at what it left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import again, completion
from harness.cli.suite import Backend, Runs, Seed, plan_of, usual_seconds
from harness.cli.targets import DEFAULT, Target

if TYPE_CHECKING:
    from harness.plan import Plan
    from results.records.verdict import Verdict

PANEL = "Runs"
RunFolderArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="A run folder: runs/2026-11-21-7f3c9a21", autocompletion=completion.runs)
]


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=PANEL)(run)
    again.register(app)
    for command in (report, trends):
        app.command(rich_help_panel=PANEL)(command)


def run(
    what: Annotated[
        str,
        typer.Argument(
            metavar="STORY|PLAN.yaml",
            help="A story's name, or a plan file.",
            autocompletion=completion.stories_and_plans,
        ),
    ],
    target: Target = DEFAULT,
    seed: Seed = 1,
    runs: Runs = Path("runs"),
    backend: Backend = "process",
    as_json: again.Json = False,
) -> None:
    """Run one story, or one plan file, and judge it. A plan file names its own target and seed.

    [bold]Examples[/bold]
      fencepost run duplicate-id-empty
      fencepost run duplicate-id-empty --target apache-kafka:3.9.1
      fencepost run mine.yaml --json
    """
    from harness.plan import load_plan

    if what.endswith((".yaml", ".yml")):
        plan = load_plan(_existing(Path(what), "plan file"))
    else:
        plan = plan_of(what, target, seed)
    raise typer.Exit(_run_and_show(plan, runs, backend, as_json).exit_code)


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


def _run_and_show(plan: Plan, runs: Path, backend: str, as_json: bool) -> Verdict:
    from harness.cli.pace import RunPace
    from harness.cli.verdicts import Watcher, as_data, show_verdict
    from harness.run import Interrupted, run

    console = again.console_beside(as_json)
    try:
        with Watcher(console, RunPace.of(plan, runs, usual_seconds(plan.story))) as watcher:
            folder, verdict = run(plan, runs, backend, watch=watcher)
    except Interrupted as interrupted:
        folder, verdict = interrupted.folder, interrupted.verdict
    if as_json:
        typer.echo(json.dumps(as_data(folder, verdict), indent=2))
    else:
        show_verdict(console, folder, verdict)
    return verdict.verdict


def _existing(path: Path, what: str) -> Path:
    from harness.errors import UsageError

    if not path.exists():
        raise UsageError(f"there is no {what} {path}")
    return path
