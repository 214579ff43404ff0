"""`fencepost clean`: end what dead runs left behind."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from fencepost.harness.cleaning import cleanup
from fencepost.harness.cleaning.cleanup import CleanupReport, clean_all
from fencepost.harness.cleaning.containers import PruneReport, prune
from fencepost.harness.cli.commands.machine import CleanOptions
from fencepost.harness.errors import UsageError


def clean(options: CleanOptions) -> int:
    """Clean up and print what was removed; return 2 if something could not be removed, otherwise 0."""
    if options.images:
        if options.runs or options.everything:
            raise UsageError("--images does not look at runs: leave out RUN and --all")
        return _prune(options.dry_run, options.as_json)
    unseen: list[str] = []
    if options.everything:
        done, unseen = clean_all(dry_run=options.dry_run)
    else:
        done = [cleanup.clean(run, dry_run=options.dry_run) for run in options.runs or cleanup.dead_runs()]
    if options.as_json:
        print(json.dumps([_as_json(each, options.dry_run) for each in done], indent=2))
    else:
        print("\n".join(_described(each, options.dry_run) for each in done) or "nothing was left behind")
    for message in unseen:
        print(f"not looked for: {message}", file=sys.stderr)
    return 2 if any(each.problems for each in done) else 0


def _prune(dry_run: bool, as_json: bool) -> int:
    done = prune(dry_run=dry_run)
    if as_json:
        document = {"removed": not dry_run, "images": done.images, "freed": done.freed, "problems": done.problems}
        print(json.dumps(document, indent=2))
    else:
        print("\n".join(_pruned(done, dry_run)))
    return 2 if done.problems else 0


def _pruned(done: PruneReport, dry_run: bool) -> Iterator[str]:
    if not done.images and not done.problems:
        yield "every image is in use by a container"
    for name in done.images:
        yield f"{'would remove' if dry_run else 'removed'} image {name}"
    if done.freed:
        yield f"{done.freed / 1e6:,.0f} MB freed"
    yield from (f"not removed: {message}" for message in done.problems)


def _described(cleaned: CleanupReport, dry_run: bool) -> str:
    verb = "would remove" if dry_run else "removed"
    found = [f"{verb} {each}" for each in cleaned.found]
    lines = [*found, *(f"not removed: {message}" for message in cleaned.problems)]
    return "\n".join([str(cleaned.run), *(f"  {line}" for line in lines or ["nothing was left"])])


def _as_json(cleaned: CleanupReport, dry_run: bool) -> dict[str, object]:
    return {
        "run": str(cleaned.run),
        "removed": not dry_run,
        "found": [{"kind": each.kind, "what": each.what, "id": each.id} for each in cleaned.found],
        "problems": list(cleaned.problems),
    }
