"""Commands about the machine: what dead runs left on it, and what works on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.cleaning.cleanup import Cleaned
    from harness.cleaning.images import Pruned

PANEL = "This machine"
Json = Annotated[bool, typer.Option("--json", help="For programs: JSON on standard output.")]


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=PANEL)(clean)
    app.command(rich_help_panel=PANEL)(doctor)


def clean(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN]…", help="Run folders; without any, all that died holding addresses."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every dead run that a process, a container or a lease names.")
    ] = False,
    images: Annotated[
        bool, typer.Option("--images", help="Instead: images that no container uses. They are built again when needed.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be ended, end nothing.")] = False,
    as_json: Json = False,
) -> None:
    """End exactly what dead runs left behind: processes, mounts, containers, networks, addresses.

    Seldom needed: a watcher beside each run does the same as soon as its run dies. A process is ended only if its pid
    and start time, or the token in its environment, are in the run's records; a mount, container or network only if it
    carries the token of the record. Runs that go on are left alone, also with --all. Journals and logs stay.

    [bold]Examples[/bold]
      fencepost clean --dry-run
      fencepost clean
      fencepost clean runs/2026-11-21-7f3c9a21
      fencepost clean --all            (also runs whose folder is gone)
      fencepost clean --images         (each change of the code leaves some)
    """
    if images:
        if runs or everything:
            raise UsageError("--images is not about runs: leave RUN and --all out")
        return _prune(dry_run, as_json)
    from harness.cleaning import cleanup
    from harness.cleaning import everything as all_runs

    unseen: list[str] = []
    if everything:
        done, unseen = all_runs.clean_all(dry_run=dry_run)
    else:
        done = [cleanup.clean(run, dry_run=dry_run) for run in runs or cleanup.left_behind()]
    if as_json:
        typer.echo(json.dumps([_as_json(each, dry_run) for each in done], indent=2))
    else:
        typer.echo("\n".join(_described(each, dry_run) for each in done) or "nothing was left behind")
    for sentence in unseen:
        typer.echo(f"not looked for: {sentence}", err=True)
    raise typer.Exit(2 if any(each.problems for each in done) else 0)


def doctor(as_json: Json = False) -> None:
    """Show what works on this machine, and what is lost without the rest.

    [bold]Examples[/bold]
      fencepost doctor
      fencepost doctor --json
    """
    from harness.cli.signals import at_once
    from harness.doctor import main

    with at_once(_end_children):
        code = main(as_json)
    raise typer.Exit(code)


def _prune(dry_run: bool, as_json: bool) -> None:
    from harness.cleaning.images import prune

    done = prune(dry_run=dry_run)
    if as_json:
        document = {"removed": not dry_run, "images": done.images, "freed": done.freed, "problems": done.problems}
        typer.echo(json.dumps(document, indent=2))
    else:
        typer.echo("\n".join(_pruned(done, dry_run)))
    raise typer.Exit(2 if done.problems else 0)


def _pruned(done: Pruned, dry_run: bool) -> Iterator[str]:
    if not done.images and not done.problems:
        yield "there are no images that no container uses"
    for name in done.images:
        yield f"{'would remove' if dry_run else 'removed'} image {name}"
    if done.freed:
        yield f"{done.freed / 1e6:,.0f} MB are free again"
    yield from (f"still there: {sentence}" for sentence in done.problems)


def _end_children() -> None:
    """What probes started; they end it themselves if they are given the time."""
    import psutil

    for child in psutil.Process().children(recursive=True):
        child.kill()


def _described(cleaned: Cleaned, dry_run: bool) -> str:
    verb = "would remove" if dry_run else "removed"
    found = [f"{verb} {each}" for each in cleaned.found]
    lines = [*found, *(f"still there: {sentence}" for sentence in cleaned.problems)]
    return "\n".join([str(cleaned.run), *(f"  {line}" for line in lines or ["nothing was left"])])


def _as_json(cleaned: Cleaned, dry_run: bool) -> dict[str, object]:
    return {
        "run": str(cleaned.run),
        "removed": not dry_run,
        "found": [{"kind": each.kind, "what": each.what, "id": each.id} for each in cleaned.found],
        "problems": list(cleaned.problems),
    }
