"""The command that compares targets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fencepost.harness.cli import completion
from fencepost.harness.cli.command import CommandOptions
from fencepost.harness.cli.options import Backend, Json, Runs, Seed


@dataclass(frozen=True)
class CompareOptions(CommandOptions):
    """Send the same requests to several targets, and list every difference in what they answer and describe.

    Without PLAN these are the probes of fencepost: each request that a client may send, ordinary, at limits, and
    mistaken. A PLAN is a scenario or a plan file; its probes are compared. The targets run one after the other, and
    the first one is what the others are compared with. What differs by nature (ids, times, epochs) is masked, and the
    masks are listed. A target file lists known differences under `answers`; the exit code is 1 if there is another one.
    What a release does not offer is no difference.

    A target can be a run folder of an earlier comparison: it is not asked again.

    [bold]Examples[/bold]
      fencepost compare --release-to-release 4.3.1 4.4.0
      fencepost compare --targets apache-kafka:4.4.0,quorum,./acme.yaml
      fencepost compare --targets apache-kafka,quorum --only 'create-topics.*' --only 'delete-topics.*'
      fencepost compare mine.yaml --targets apache-kafka:4.4.0,apache-kafka:3.9.2 --markdown changes.md
    """

    plans: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PLAN...",
            help="Scenarios or plan files, whose probes are compared. Default: the probes of fencepost.",
            show_default=False,
            autocompletion=completion.scenarios_and_plans,
        ),
    ] = None
    targets: Annotated[
        str | None,
        typer.Option(
            "--targets",
            metavar="TARGET,TARGET...",
            help="What is compared: targets, with versions, or files; or run folders of earlier comparisons.",
            show_default=False,
        ),
    ] = None
    releases: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--release-to-release",
            metavar="OLD NEW",
            help="Compare two releases of Apache Kafka: what changes for clients with an upgrade.",
            show_default=False,
        ),
    ] = None
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="PATTERN", help="Only probes with such names: 'produce.*'.", show_default=False),
    ] = None
    show_all: Annotated[bool, typer.Option("--all", help="Show rows without a difference, too.")] = False
    as_json: Json = False
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write the whole table as Markdown.")
    ] = None
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the whole table as a page.")] = None
    seed: Seed = 1
    runs: Runs = Path("runs")
    backend: Backend = "process"

    def perform(self) -> int:
        from fencepost.harness.cli.compare import compare

        return compare(self)
