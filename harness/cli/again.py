"""Commands that make a failure again, or judge it again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import completion

if TYPE_CHECKING:
    from rich.console import Console

    from harness.plan import Plan
    from harness.reproduction.rechecking import Recheck
    from harness.reproduction.replaying import Replays
    from results.records.folder import RunFolder
    from results.records.verdict import RunVerdict

PANEL = "Runs"
DIFFERS = 4
"""Exit code of a recheck that comes to another verdict than the run did."""
Json = Annotated[bool, typer.Option("--json", help="For programs: JSON on standard output, progress on the other.")]
WhatBackend = Annotated[
    str | None, typer.Option("--backend", help="How nodes are run; by default as they were: process or docker.")
]
RunOrPlan = Annotated[
    Path,
    typer.Argument(metavar="RUN|PLAN.yaml", help="A run folder, or a plan file.", autocompletion=completion.runs),
]


def register(app: typer.Typer) -> None:
    for command in (replay, recheck, shrink, bundle):
        app.command(rich_help_panel=PANEL)(command)


def replay(
    what: RunOrPlan,
    times: Annotated[int, typer.Option(min=1, help="How often.")] = 1,
    backend: WhatBackend = None,
    runs: Annotated[Path | None, typer.Option(help="Where run folders go; by default beside RUN.")] = None,
    as_json: Json = False,
) -> None:
    """Run the same plan again, and say how often it failed as before.

    As before: the same verdict, and at least one of the same rules broken. A run that was infrastructure says nothing
    about the target, is told, and is not among those counted. The exit code is that of the worst verdict; Ctrl-C ends
    it with what there is by then, as infrastructure.

    [bold]Examples[/bold]
      fencepost replay runs/2026-11-21-7f3c9a21
      fencepost replay runs/2026-11-21-7f3c9a21 --times 20
      fencepost replay runs/2026-11-21-7f3c9a21 --backend docker
      fencepost replay plan.yaml --times 20 --json        (on another machine)
    """
    from harness.reproduction.replaying import Original, Replays

    original = Original.read(what, runs or Path("runs"))
    replays = Replays(original, times, backend or original.backend or "process")
    console = console_beside(as_json)
    _replay(replays, runs or original.runs, console)
    if replays.interrupted:
        console.print(f"interrupted after {len(replays.done)} of {times}")
    if as_json:
        typer.echo(json.dumps(replays.to_json(), indent=2))
    elif times > 1:
        _show_count(replays, console)
    raise typer.Exit(replays.worst.exit_code)


def recheck(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder: runs/2026-11-21-7f3c9a21")],
    as_json: Json = False,
) -> None:
    """Judge a run again from what it left behind, with no cluster; say what is different from then, and why.

    Nothing in the folder is changed. The exit code is that of the verdict, or 4 if it is another one than the run's.

    [bold]Examples[/bold]
      fencepost recheck runs/2026-11-21-7f3c9a21
      fencepost recheck runs/2026-11-21-7f3c9a21 --json
    """
    from harness.errors import UsageError
    from harness.reproduction.rechecking import recheck as judge_again
    from results.records.folder import RunFolder

    if not folder.exists():
        raise UsageError(f"there is no run folder {folder}")
    checked = judge_again(RunFolder.open(folder))
    if as_json:
        typer.echo(json.dumps(checked.to_json(), indent=2))
    else:
        _show_recheck(checked, console_beside(as_json))
    raise typer.Exit(checked.now.verdict.exit_code if checked.same else DIFFERS)


def shrink(
    what: RunOrPlan,
    times: Annotated[int, typer.Option(min=1, help="How often each candidate is run, at most.")] = 3,
    rate: Annotated[float, typer.Option(min=0.01, max=1.0, help="A plan fails if so much of its runs do.")] = 0.8,
    minutes: Annotated[float, typer.Option(min=0.1, help="No run begins after so long.")] = 60.0,
    rule: Annotated[
        list[str] | None, typer.Option(help="Only these rules count as the failure: ACK-01. Default: any it broke.")
    ] = None,
    backend: WhatBackend = None,
    out: Annotated[Path | None, typer.Option(help="The smallest plan; by default beside RUN.")] = None,
    as_json: Json = False,
) -> None:
    """Find the smallest plan that still fails: fewer faults, steps, clients, topics, nodes, shorter times.

    Each candidate is a plan that can be run, is run up to --times times, and counts as failing if it fails as RUN did
    at the stated --rate. Ctrl-C, or the end of --minutes, ends it with the smallest found by then. Exit codes: 0 a plan
    was written, 3 the plan itself does not fail at that rate.

    [bold]Examples[/bold]
      fencepost shrink runs/2026-11-21-7f3c9a21
      fencepost shrink runs/2026-11-21-7f3c9a21 --times 5 --rate 0.6 --minutes 120
      fencepost shrink runs/2026-11-21-7f3c9a21 --rule ACK-01 --out small.yaml
    """
    from harness.cli.shrinking import Order
    from harness.cli.shrinking import shrink as find_smallest
    from harness.reproduction.replaying import Original

    original = Original.read(what)
    order = Order(original, times, rate, minutes, tuple(rule or ()), backend or original.backend or "process", out)
    raise typer.Exit(find_smallest(order, console_beside(as_json), as_json))


def bundle(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder: runs/2026-11-21-7f3c9a21")],
    out: Annotated[Path | None, typer.Option(help="The archive; by default NAME-bundle.tar.gz here.")] = None,
) -> None:
    """Pack a run for somebody else: plan, versions, journal, logs, verdict, report, and a compose file.

    From the archive the same topology starts with `docker compose up`, the same faults with one script, and the same
    verdict comes of `fencepost recheck`. Its README says how.

    [bold]Examples[/bold]
      fencepost bundle runs/2026-11-21-7f3c9a21
      fencepost bundle runs/2026-11-21-7f3c9a21 --out lost-records.tar.gz
    """
    from harness.errors import UsageError
    from harness.reproduction.bundle.pack import bundle as pack
    from results.records.folder import RunFolder

    if not folder.exists():
        raise UsageError(f"there is no run folder {folder}")
    found = RunFolder.open(folder)
    written = pack(found, out or Path(f"{folder.resolve().name}-bundle.tar.gz"))
    typer.echo(f"{written}  {written.stat().st_size / 1e6:.1f} MB")


def _replay(replays: Replays, runs: Path, console: Console) -> None:
    from harness.cli.pace import RunPace
    from harness.cli.series import Pace, Series
    from harness.cli.verdicts import Watcher, show_verdict
    from harness.reproduction.replaying import replay as run_again
    from harness.run import run
    from results.records.verdict import Verdict

    if replays.wanted == 1:
        with Watcher(console, RunPace.of(replays.original.plan, runs)) as watcher:
            made = list(run_again(replays, lambda plan: run(plan, runs, replays.backend, watch=watcher)))
        for one in made:
            show_verdict(console, one.folder, one.verdict)
        return
    pace = Pace(replays.wanted)
    with Series(console, pace.left) as series:

        def run_next(plan: Plan) -> tuple[RunFolder, RunVerdict]:
            series.begin(f"{len(replays.done) + 1} of {replays.wanted}")
            return run(plan, runs, replays.backend, watch=series)

        for one in run_again(replays, run_next):
            pace.step()
            broken = " ".join(sorted(one.signature.broken))
            said = one.verdict.headline if one.verdict.verdict is Verdict.INFRASTRUCTURE else broken
            series.done(one.verdict.verdict, f"{said}  {one.folder.path}".strip())


def _show_count(replays: Replays, console: Console) -> None:
    console.print(replays.sentence())
    for rule, count in replays.broken.most_common():
        console.print(f"{'':<15}{rule}: {count} of {replays.hits}", markup=False)


def _show_recheck(checked: Recheck, console: Console) -> None:
    from harness.cli.verdicts import show_verdict

    show_verdict(console, checked.folder, checked.now)
    for sentence in checked.sentences():
        console.print(f"{'':<15}{sentence}", soft_wrap=True, markup=False)


def console_beside(as_json: bool) -> Console:
    """For people: standard error where programs read the other."""
    from rich.console import Console

    from harness.terminal import terminal

    return Console(stderr=True, highlight=False) if as_json else terminal()
