"""`fencepost results`: look after a results store."""

from __future__ import annotations

import json as json_format
from collections.abc import Sequence
from dataclasses import asdict

from fencepost.harness.cli.ages import days
from fencepost.harness.cli.commands.store import CheckOptions, CompactOptions, ExpireOptions
from fencepost.harness.cli.publish import MARGIN, store_errors
from fencepost.harness.terminal import counted, terminal
from fencepost.results.records.verdict import DAMAGED, Verdict
from fencepost.results.store import maintenance
from fencepost.results.store.check import TableState
from fencepost.results.store.check import check as check_store
from fencepost.results.store.repair import Repair, repair
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
    """Print the state of each table; return 0, DAMAGED if files are damaged, or 2 for another problem."""
    with store_errors():
        store = Store.open(options.address)
        repairs = list(repair(store)) if options.repair else []
        states = list(check_store(store))
    if options.as_json:
        print(json_format.dumps(_json(options, states, repairs)))
        return _exit_code(states)
    console = terminal()
    for each in repairs:
        console.print(f"{'repaired':<{MARGIN}} {each.table}: {counted(each.rows, 'row')} removed that were there twice")
    for state in states:
        console.print(f"{state.table:<{MARGIN}} {counted(state.rows, 'row')} in {counted(state.files, 'file')}")
        for problem in state.problems:
            console.print(f"{'':<{MARGIN}} {problem}", style="red", markup=False, highlight=False, soft_wrap=True)
    console.print(f"{'store':<{MARGIN}} {'damaged' if _exit_code(states) else 'whole'}")
    return _exit_code(states)


def _json(options: CheckOptions, states: Sequence[TableState], repairs: Sequence[Repair]) -> dict[str, object]:
    return {
        "store": options.address,
        "whole": not _exit_code(states),
        "repaired": {each.table: each.rows for each in repairs},
        "tables": [asdict(state) for state in states],
    }


def _exit_code(states: Sequence[TableState]) -> int:
    if any(state.is_damaged for state in states):
        return DAMAGED
    return Verdict.INFRASTRUCTURE.exit_code if any(state.problems for state in states) else 0
