"""`fencepost results`: look after a results store, and import the results of other suites."""

from __future__ import annotations

import json as json_format
from dataclasses import asdict

from fencepost.harness.cli.ages import days
from fencepost.harness.cli.commands.store import CheckOptions, CompactOptions, ExpireOptions, ImportOptions
from fencepost.harness.cli.publish import MARGIN, NAMED, store_errors
from fencepost.harness.engine.ci_job import ci_job
from fencepost.harness.errors import UsageError
from fencepost.harness.terminal import console_beside, counted, terminal
from fencepost.results.records.verdict import Verdict
from fencepost.results.store import maintenance
from fencepost.results.store.imports import Origin, read_allure, read_junit, rows_of
from fencepost.results.store.store import Store


def compact(options: CompactOptions) -> None:
    """Compact each table and print its files before and after."""
    console = terminal()
    with store_errors():
        for each in maintenance.compact(Store.open(options.address)):
            removed = f", {counted(each.removed, 'old file')} deleted" if each.removed else ""
            console.print(f"{each.table:<{MARGIN}} {counted(each.before, 'file')} -> {each.after}{removed}")


def expire(options: ExpireOptions) -> None:
    """Remove the runs that expire, and print how many are kept and why."""
    age = days(options.older_than)
    with store_errors():
        store = Store.open(options.address)
        found = maintenance.expiry(store, age, last=options.keep)
        if not options.dry_run:
            maintenance.expire(store, found.expired)
    console = terminal()
    verb = "would expire" if options.dry_run else "expired"
    console.print(f"{verb:<{MARGIN}}{counted(len(found.expired), 'run')} older than {options.older_than}")
    console.print(f"{'kept':<{MARGIN}}{found.last} among the last {options.keep} of their test")
    console.print(f"{'kept':<{MARGIN}}{found.evidence} as evidence of an open violation")


def check(options: CheckOptions) -> int:
    """Print the state of each table; return 0, or 2 if one has a problem."""
    with store_errors():
        states = list(maintenance.check(Store.open(options.address)))
    whole = not any(state.problems for state in states)
    if options.as_json:
        print(
            json_format.dumps({"store": options.address, "whole": whole, "tables": [asdict(state) for state in states]})
        )
        return 0 if whole else Verdict.INFRASTRUCTURE.exit_code
    console = terminal()
    for state in states:
        console.print(f"{state.table:<{MARGIN}} {counted(state.rows, 'row')} in {counted(state.files, 'file')}")
        for problem in state.problems:
            console.print(f"{'':<{MARGIN}} {problem}", style="red")
    console.print(f"{'store':<{MARGIN}} {'whole' if whole else 'damaged'}")
    return 0 if whole else Verdict.INFRASTRUCTURE.exit_code


def import_results(options: ImportOptions) -> None:
    """Import a folder of results and print what was added. UsageError if it has none."""
    if not options.folder.exists():
        raise UsageError(f"there is no folder {options.folder}")
    found = (read_junit if options.kind == "junit" else read_allure)(options.folder)
    if not (found.cases or found.skipped or found.unreadable):
        pattern = "*.xml" if options.kind == "junit" else "*-result.json"
        raise UsageError(f"{options.folder} has no {pattern}: name the folder that holds the {options.kind} results")
    ci = ci_job()
    origin = Origin(
        target=options.target,
        release=options.release,
        commit=options.commit or ci.get("commit"),
        branch=options.branch or ci.get("branch"),
        ci_system=ci.get("system"),
        ci_job=options.job or ci.get("job"),
        ci_url=options.url or ci.get("url"),
    )
    with store_errors():
        added = Store.create(options.to).add(rows_of(found, options.kind, origin)).get("runs", 0)
    known = len(found.cases) - added
    if options.as_json:
        unreadable = {str(path): reason for path, reason in found.unreadable.items()}
        print(
            json_format.dumps(
                {
                    "store": options.to,
                    "added": added,
                    "known": known,
                    "skipped": found.skipped,
                    "unreadable": unreadable,
                },
                indent=2,
            )
        )
        return
    console = console_beside(options.as_json)
    more = f", {known} known already" if known else ""
    console.print(f"{'imported':<{MARGIN}}{counted(added, 'result')}{more}, {found.skipped} skipped by their suite")
    for path, reason in list(found.unreadable.items())[:NAMED]:
        console.print(f"{'kept aside':<{MARGIN}}{path}: {reason}")
    if len(found.unreadable) > NAMED:
        console.print(f"{'':<{MARGIN}}and {len(found.unreadable) - NAMED} more: see the table kept_aside")
    console.print(f"{'store':<{MARGIN}}{options.to}")
