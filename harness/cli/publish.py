"""`fencepost publish`: the facts of run folders, added to a results store."""

from __future__ import annotations

import json as json_format
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from fencepost.harness.cli.commands.store import PublishOptions
from fencepost.harness.errors import DamagedResults, HarnessError, InfrastructureError, UsageError
from fencepost.harness.publishing.folders import Found, find
from fencepost.harness.publishing.publish import Publication, publish_runs
from fencepost.harness.terminal import console_beside, counted
from fencepost.results.records.verdict import Verdict
from fencepost.results.store.errors import DamagedStore, NewerStore, NotAStore, StoreError
from fencepost.results.store.store import Store

MARGIN = 15
NAMED = 20
"""Folders of one reason that are listed; the table `kept_aside` has all."""


def publish(options: PublishOptions) -> int:
    """Publish the folders and print what was added and what was kept aside; return 0.

    UsageError if there is nothing to publish, or if something else than a store is there.
    """
    began = time.monotonic()
    console = console_beside(options.as_json)
    found = find(options.runs)
    if not (found.runs or found.aside or found.running):
        raise UsageError(
            f"{', '.join(map(str, options.runs))} has no run folder: name the folder that holds run folders"
        )
    with store_errors():
        result = _publish(found, Store.create(options.to), console)
    seconds = time.monotonic() - began
    if options.as_json:
        print(json_format.dumps(_as_json(result, options.to, seconds), indent=2))
    else:
        _show(result, options.to, seconds, console)
    return 0


def check_store(to: str | None) -> None:
    """Make the store of `--publish`, so that a mistake shows before the first run. UsageError, InfrastructureError."""
    if to is not None:
        with store_errors():
            Store.create(to)


def publish_at_end(folders: Sequence[Path], to: str, console: Console) -> Verdict:
    """Publish the runs that a suite or a campaign made, and print it. Return `infrastructure` if that fails.

    The runs are judged by then, so an error is shown here, and the command that publishes them later.
    """
    try:
        with store_errors():
            result = _publish(find(folders), Store.create(to), console)
    except HarnessError as error:
        names = " ".join(str(folder) for folder in folders[:5])
        console.print(Text(f"{'not published':<{MARGIN}}{error}", "red"))
        console.print(f"{'':<{MARGIN}}later: fencepost publish {names}{' …' * (len(folders) > 5)} --to {to}")
        return Verdict.INFRASTRUCTURE
    console.print(f"{'published':<{MARGIN}}{_counts(result)} to {to}", highlight=False, soft_wrap=True)
    _show_aside(result, console)
    return Verdict.PASS


@contextmanager
def store_errors() -> Iterator[None]:
    """Raise UsageError for something that is no store, or is newer, DamagedResults for one with damaged files.

    InfrastructureError if a store fails.
    """
    try:
        yield
    except (NotAStore, NewerStore) as error:
        raise UsageError(str(error)) from error
    except DamagedStore as error:
        raise DamagedResults(str(error)) from error
    except StoreError as error:
        raise InfrastructureError(str(error)) from error


def _publish(found: Found, store: Store, console: Console) -> Publication:
    if not console.is_terminal:
        return publish_runs(found, store)
    columns = (TextColumn("publishing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("publishing", total=len(found.runs))
        return publish_runs(found, store, lambda done: bar.update(task, completed=done))


def _counts(result: Publication) -> str:
    known = f", {result.known} known already" if result.known else ""
    return f"{counted(result.added, 'run')} ({counted(result.rows, 'row')}){known}"


def _show(result: Publication, to: str, seconds: float, console: Console) -> None:
    console.print(f"{'published':<{MARGIN}}{_counts(result)}, in {seconds:.1f} s", highlight=False, soft_wrap=True)
    _show_aside(result, console)
    console.print(f"{'store':<{MARGIN}}{to}", highlight=False, soft_wrap=True)


def _show_aside(result: Publication, console: Console) -> None:
    """Name each folder that has no run in the store, and each that has one with damage, by reason."""
    for path in result.running:
        console.print(f"{'running':<{MARGIN}}{path}: not over yet, publish it later", highlight=False, soft_wrap=True)
    for reason in dict.fromkeys(each.reason for each in result.aside):
        same = [each for each in result.aside if each.reason == reason]
        console.print(f"{'kept aside':<{MARGIN}}{len(same)} {reason}", highlight=False, soft_wrap=True)
        for each in same[:NAMED]:
            file = f"/{each.file}" if each.file else ""
            published = " (published all the same)" if each.published else ""
            console.print(
                f"{'':<{MARGIN}}{each.folder}{file}: {each.detail}{published}", highlight=False, soft_wrap=True
            )
        if len(same) > NAMED:
            console.print(f"{'':<{MARGIN}}and {len(same) - NAMED} more: see the table kept_aside", highlight=False)


def _as_json(result: Publication, to: str, seconds: float) -> dict[str, object]:
    return {
        "store": to,
        "added": result.added,
        "known": result.known,
        "rows": result.rows,
        "running": [str(path) for path in result.running],
        "kept_aside": [
            {
                "folder": str(each.folder),
                "reason": each.reason,
                "file": each.file,
                "detail": each.detail,
                "published": each.published,
            }
            for each in result.aside
        ],
        "seconds": round(seconds, 2),
    }
