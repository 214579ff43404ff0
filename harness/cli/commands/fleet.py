"""Commands about campaigns of many nights."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fencepost.harness.cli import completion
from fencepost.harness.cli.command import CommandOptions
from fencepost.harness.cli.commands.store import StoreArgument
from fencepost.harness.cli.options import Json


@dataclass(frozen=True)
class StatusOptions(CommandOptions):
    """Show what the campaigns of a results store did and found, by target and release.

    Of each release: the nights (days on which plans began), the plans and their verdicts, the hours that they took one
    after the other, how many combinations of fault or request, role, state and clients they tried, and each kind of
    violation with the days of its first and last run. A campaign that publishes into STORE adds to it, on one machine
    or on many. Plans with a planted defect are not counted.

    Exit codes: 0 shown, and no violation is there; 1 plans found violations; 2 the store failed; 3 it has no plan of a
    campaign; 64 there is no store.

    [bold]Examples[/bold]
      fencepost fleet status store
      fencepost fleet status store --target apache-kafka
      fencepost fleet status store --page nights.html
      fencepost fleet status store --json
    """

    address: StoreArgument
    target: Annotated[
        str | None,
        typer.Option(
            metavar="TARGET", help="Show the releases of this target only.", autocompletion=completion.targets
        ),
    ] = None
    as_json: Json = False
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an HTML page as well, one file that needs no other.")
    ] = None

    def perform(self) -> int:
        from fencepost.harness.cli.fleet_status import status

        return status(self)
