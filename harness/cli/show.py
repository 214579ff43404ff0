"""`fencepost show`: what a results store knows of one test."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc

from fencepost.harness.cli.commands.store import ShowOptions
from fencepost.harness.cli.publish import store_errors
from fencepost.harness.cli.trends import mine, scope
from fencepost.harness.errors import UsageError
from fencepost.results.store.store import Store
from fencepost.results.store.tables import PLANS, RUNS


def show(options: ShowOptions) -> int:
    """Print what a store knows of one test, or save the plan of its newest failure; return the exit code.

    UsageError if there is no such test or no plan.
    """
    with store_errors():
        opened = Store.open(options.store)
        wanted = (pc.field("test") == options.test) & (pc.field("target") == options.target if options.target else True)
        number = opened.read(RUNS, ["test", "target"]).filter(wanted).num_rows
        if not number:
            raise UsageError(_no_such_test(opened, options.test, options.target))
        if options.save_plan is not None:
            return _save_plan(opened, wanted, options.test, options.save_plan)
    return mine(options.store, ["--test", options.test, *scope(options.since, options.target)], number=number)


def _save_plan(store: Store, wanted: pc.Expression, test: str, path: Path) -> int:
    plans = store.read(PLANS, ["test", "target", "verdict", "started_at", "run_id", "plan"])
    violations = plans.filter(wanted & (pc.field("verdict") == "violation"))
    if not violations.num_rows:
        raise UsageError(f"{store.name} has no plan of a failure of {test}")
    newest = max(violations.to_pylist(), key=lambda row: (row["started_at"], row["run_id"]))
    path.write_text(newest["plan"], encoding="utf-8")
    print(f"{path}: the plan of {newest['run_id']}")
    return 0


def _no_such_test(store: Store, test: str, target: str | None) -> str:
    where = f" on {target}" if target else ""
    names = sorted(set(store.read(RUNS, ["test"])["test"].to_pylist()))
    near = [name for name in names if test in name][:5] or names[:5]
    return f"{store.name} has no test {test}{where}; it has {', '.join(near)}{' …' * (len(names) > len(near))}"
