"""The command `fencepost campaign`: random plans for a target until the time is up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.suite import Backend, Runs

PANEL = "Stories"


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=PANEL)(campaign)


def campaign(
    target: Annotated[str, typer.Argument(help="quorum, leader-driven, apache-kafka:3.9.1 …; see `conformance`.")],
    minutes: Annotated[float, typer.Option(min=0.0, help="No plan is begun after so long.")] = 60.0,
    seed: Annotated[int, typer.Option(min=0, help="What plans draw from; the same seed gives the same plans.")] = 1,
    plans: Annotated[int | None, typer.Option(min=1, help="So many plans, if the time allows.")] = None,
    workers: Annotated[
        int, typer.Option("--workers", "-n", min=0, help="Clusters side by side; 0: as many as the cores carry.")
    ] = 0,
    backend: Backend = "process",
    runs: Runs = Path("runs"),
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON, and nothing else.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be broken, and start nothing.")] = False,
) -> None:
    """Run random plans, one after another or side by side, and go on after a failure.

    Each plan breaks a cluster in a way of its own, drawn from the seed. At the end: verdicts, which fault met whom, and
    for each failure the command that replays it.

    [bold]Examples[/bold]
      fencepost campaign quorum --minutes 60 --seed 7
      fencepost campaign apache-kafka --plans 20 --workers 1
      fencepost campaign zk-controller --plans 10 --dry-run
    """
    from harness.campaign.campaign import Order
    from harness.cli.campaigns import run_campaign, show_plans
    from harness.terminal import terminal

    order = Order(target, backend, seed, minutes, workers, plans)
    if dry_run:
        show_plans(order, terminal())
        return
    raise typer.Exit(run_campaign(order, runs, terminal(), as_json=json))
