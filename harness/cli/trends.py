"""`fencepost trends` and `fencepost show`: a results store, mined with Spark on this machine."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.compute as pc
from rich.console import Console

from fencepost.harness.catalogue.installed import catalogue
from fencepost.harness.cli.ages import days
from fencepost.harness.cli.commands.store import ShowOptions, TrendsOptions
from fencepost.harness.cli.publish import store_errors
from fencepost.harness.cli.spark import run_on_spark
from fencepost.harness.errors import HarnessError, UsageError
from fencepost.harness.publishing.folders import Found, find
from fencepost.harness.publishing.publish import publish_runs
from fencepost.results.mining.pages.folder import NotOurs, check_folder
from fencepost.results.store.errors import NotAStore
from fencepost.results.store.store import Store
from fencepost.results.store.tables import PLANS, RUNS
from fencepost.suites.target_facts import TargetFacts


def trends(options: TrendsOptions) -> int:
    """Mine a store, or a folder of runs; print what was found and return the exit code of the job.

    UsageError if there is neither, InfrastructureError without Spark or Java, or if Spark fails.
    """
    if options.as_json and options.markdown:
        raise UsageError("--json and --markdown are two forms: choose one")
    if options.out is not None:
        try:
            check_folder(options.out)
        except NotOurs as error:
            raise UsageError(str(error)) from error
    if options.base is not None and options.head is None:
        raise UsageError("--base is what --head is compared with: name the branch with --head")
    if options.head is not None and options.rebuild:
        raise UsageError("--head compares the runs themselves, and no kept days: leave --rebuild away")
    if options.head is not None and options.out is not None:
        raise UsageError("--head prints a comparison and writes no pages: leave --out away")
    arguments = ["--top", str(options.top), *scope(options.since, options.target)]
    arguments += ["--json"] if options.as_json else ["--markdown"] if options.markdown else []
    arguments += ["--out", str(options.out)] if options.out else []
    arguments += ["--rebuild"] if options.rebuild else []
    arguments += ["--base", options.base] if options.base else []
    arguments += ["--head", options.head] if options.head else []
    if (found := _runs_in(options.store)) is not None:
        with tempfile.TemporaryDirectory(prefix="fencepost-store-") as scratch:
            address = str(Path(scratch) / "store")
            return mine(address, ["--name", options.store, *arguments], lambda: len(found.runs), found=found)
    with store_errors():
        store = Store.open(options.store)

    def number() -> int:
        # It imports pyspark, which only the extra `mining` installs.
        from fencepost.results.mining.jobs import Keep, keep
        from fencepost.results.mining.kept import runs_to_make

        with store_errors():
            is_kept = options.head is None and keep(store, anew=options.rebuild) is not Keep.NOT
            return runs_to_make(store, anew=options.rebuild) if is_kept else store.rows(RUNS)

    return mine(options.store, arguments, number)


def scope(since: str | None, target: str | None) -> list[str]:
    """Return the arguments of the job for `--since` and `--target`. UsageError for an age that is none."""
    found = ["--since", (datetime.now(UTC) - days(since)).isoformat()] if since else []
    return found + (["--target", target] if target else [])


def _runs_in(address: str) -> Found | None:
    """Return what is in the folder of runs that an address names; None for a store. UsageError if it is neither."""
    folder = Path(address)
    if "://" in address or not folder.is_dir():
        return None
    try:
        Store.open(address)
    except NotAStore:
        found = find([folder])
        if not found.runs:
            raise UsageError(f"{address} has neither a store nor a judged run: `fencepost publish` makes one") from None
        return found
    return None


def mine(address: str, arguments: Sequence[str], number: Callable[[], int], *, found: Found | None = None) -> int:
    """Mine a store, of which Spark reads so many runs; with `found`, run folders are published into it first, while
    Spark starts.
    """
    with tempfile.TemporaryDirectory(prefix="fencepost-trends-") as scratch:
        rules = Path(scratch) / "rules.json"

        def job(argv: Sequence[str]) -> int:
            # They import pyspark, which only the extra `mining` installs.
            from fencepost.results.mining.launch import start_session

            console = Console(stderr=True, highlight=False)
            with console.status("starting Spark") as status, ThreadPoolExecutor(1) as pool, store_errors():
                session = pool.submit(start_session)
                from fencepost.results.mining.trends import main

                store = _published(found, address, console) if found is not None else Store.open(address)
                rules.write_text(json.dumps(_owed_rules(store)))
                session.result()
                return main(argv, progress=lambda part: status.update(f"mining: {part}"))

        return run_on_spark(job, [address, "--rules", str(rules), *arguments], number)


def _published(found: Found, address: str, console: Console) -> Store:
    """Publish run folders into a new store; name what is not in it."""
    store = Store.create(address)
    published = publish_runs(found, store)
    for each in published.aside:
        console.print(f"kept aside: {each.folder}: {each.reason}, {each.detail}", soft_wrap=True)
    for path in published.running:
        console.print(f"running: {path}", soft_wrap=True)
    return store


def _owed_rules(store: Store) -> list[tuple[str, str, str]]:
    """Return the rules that the targets of a store owe: id, the rule in words, target. Unknown targets owe none."""
    found = []
    for target in sorted(store.read(RUNS, ["target"])["target"].unique().to_pylist()):
        try:
            facts = TargetFacts.of(target)
        except HarnessError:
            continue
        found += [(row.id, row.says, target) for row in catalogue() if row.untested is None and facts.owes(row.id)]
    return found


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
    return mine(options.store, ["--test", options.test, *scope(options.since, options.target)], lambda: number)


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
