"""Commands about this machine: clean up after dead runs, examine which mechanisms work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fencepost.harness.cli import completion
from fencepost.harness.cli.command import CommandOptions
from fencepost.harness.cli.options import Json, OwnedOption


@dataclass(frozen=True)
class CleanOptions(CommandOptions):
    """End exactly what dead runs left behind: processes, mounts, containers, networks, addresses.

    This is seldom needed: a watcher beside each run does the same as soon as its run dies. A process is ended only if
    its pid and start time, or the token in its environment, are in the records of the run; a mount, container or
    network only if it carries the token of the run. Runs that go on are left alone, also with --all. Journals and logs
    stay.

    [bold]Examples[/bold]
      fencepost clean --dry-run
      fencepost clean
      fencepost clean runs/2026-11-21-7f3c9a21
      fencepost clean --all            (also runs whose folder is gone)
      fencepost clean --images         (each change of the code leaves some)
    """

    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN",
            help="Run folders. Default: all dead runs that still hold addresses.",
            autocompletion=completion.runs,
        ),
    ] = None
    everything: Annotated[
        bool, typer.Option("--all", help="Clean every dead run that a process, a container or a lease names.")
    ] = False
    images: Annotated[
        bool,
        typer.Option("--images", help="Remove the images that no container uses; the next run builds what it needs."),
    ] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be removed, and remove nothing.")] = False
    as_json: Json = False

    def perform(self) -> int:
        from fencepost.harness.cli.clean import clean

        return clean(self)


@dataclass(frozen=True)
class DoctorOptions(CommandOptions):
    """Show which mechanisms work on this machine, and what is lost without the others.

    With --target one broker of that target is started, asked and ended: which ids and requests it has, whether it
    creates topics itself, its internal topics and files, its exit code on SIGTERM. Each line that the target file lacks
    is printed, and the scenarios that are left. A cluster that runs elsewhere is asked for metadata and versions alone,
    and only with --i-own-this-cluster.

    Exit codes: 0 runs can start, and the target file fits its broker; 1 the target file says otherwise than its broker;
    2 runs cannot start, or the broker did not; 64 no such target, or a mistake in its file.

    [bold]Examples[/bold]
      fencepost doctor
      fencepost doctor --json
      fencepost doctor --target ./acme.yaml
    """

    target: Annotated[
        str | None,
        typer.Option(
            metavar="TARGET",
            help="Start one broker of this target, and hold it against its target file: a name, or ./acme.yaml.",
            autocompletion=completion.targets,
        ),
    ] = None
    as_json: Json = False
    owned: OwnedOption = None

    def perform(self) -> int:
        if self.target is not None:
            from fencepost.harness.cli.target_report import doctor
            from fencepost.harness.targets.consent import give_consent
            from fencepost.harness.targets.elsewhere import Elsewhere
            from fencepost.harness.targets.registry import load

            give_consent(self.owned)
            if isinstance(target := load(self.target), Elsewhere):
                from fencepost.harness.cli.elsewhere_report import doctor_elsewhere

                return doctor_elsewhere(target, self.target, as_json=self.as_json)
            return doctor(self.target, as_json=self.as_json)
        import psutil

        from fencepost.harness.cli.signals import at_once
        from fencepost.harness.doctor import main

        def end_children() -> None:
            """Kill the processes that probes started. A probe ends them itself if it is given the time."""
            for child in psutil.Process().children(recursive=True):
                child.kill()

        with at_once(end_children):
            return main(self.as_json)
