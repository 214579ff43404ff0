"""The job `trends`: from a store to what people look at.

The job sets neither the master nor anything else of the Spark cluster: what starts the session does.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import SparkSession

from fencepost.results.mining import branches_in_words, summary
from fencepost.results.mining.branches import NoRuns, compare
from fencepost.results.mining.facts import Facts, collect
from fencepost.results.mining.jobs import REBUILD, Keep, Scope, keep, naming_damage, read_evidence, spark_frame
from fencepost.results.mining.launch import start_session
from fencepost.results.mining.pages.folder import NotOurs, check_folder
from fencepost.results.mining.pages.write import write_pages
from fencepost.results.mining.show import as_text
from fencepost.results.records.verdict import DAMAGED, WRONG_USAGE
from fencepost.results.store.errors import DamagedStore, NewerStore, NotAStore, StoreError
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS

Progress = Callable[[str], None]


def main(argv: Sequence[str], *, progress: Progress = lambda part: None) -> int:
    """Run the job with the arguments of a command line, and print what was asked for.

    Return 0; WRONG_USAGE if there is no store, no run of a branch that is compared, or if other files are in the output
    folder; DAMAGED for damaged files in the store; 2 if it fails.
    """
    arguments = _parser().parse_args(argv)
    try:
        if arguments.out is not None:
            check_folder(arguments.out)
        store = Store.open(arguments.store)
        rules = json.loads(arguments.rules.read_text()) if arguments.rules else []
        scope = Scope(arguments.now or datetime.now(UTC), arguments.since, arguments.target, arguments.test)
        spark = start_session()
        try:
            with naming_damage(store):
                if arguments.head is not None:
                    return _compare(spark, store, scope, arguments)
                owed = [(rule, says, target) for rule, says, target in rules]
                evidence = read_evidence(spark, store, scope, owed, _kept(store, arguments))
                facts = collect(evidence, arguments.name or arguments.store, progress)
        except BaseException:
            spark.stop()  # else it is stopped while the pages are written
            raise
    except (NotOurs, NotAStore, NewerStore, NoRuns) as error:
        print(error, file=sys.stderr)
        return WRONG_USAGE
    except DamagedStore as error:
        print(error, file=sys.stderr)
        return DAMAGED
    except StoreError as error:
        print(error, file=sys.stderr)
        return 2
    with ThreadPoolExecutor(1) as pool:
        pool.submit(spark.stop)
        if arguments.out is not None:
            progress("pages")
            write_pages(facts, store, arguments.out)
    print(_shown(facts, arguments))
    if arguments.out is not None and not arguments.json:
        print(f"\npage: {arguments.out / 'index.html'}")
    return 0


def _kept(store: Store, arguments: argparse.Namespace) -> Keep:
    """Return whether days are kept: not of a temporary store, nor where Spark plans longer than it reads."""
    if arguments.name is not None or arguments.test is not None:
        return Keep.NOT
    return keep(store, anew=arguments.rebuild)


def _compare(spark: SparkSession, store: Store, scope: Scope, arguments: argparse.Namespace) -> int:
    """Print what a branch has beside its base; return 0. Raise NoRuns, StoreError."""
    runs = scope.of(spark_frame(spark, store, RUNS))
    found = compare(runs, arguments.base, arguments.head)
    spark.stop()
    if arguments.json:
        print(json.dumps(branches_in_words.as_json(found, store.address), indent=2))
    elif arguments.markdown:
        print(branches_in_words.markdown(found, store.address, arguments.top))
    else:
        print(branches_in_words.text(found, store.address, arguments.top))
    return 0


def _shown(facts: Facts, arguments: argparse.Namespace) -> str:
    if arguments.json:
        return json.dumps(summary.as_json(facts, arguments.top), indent=2)
    if arguments.markdown:
        return summary.markdown(facts, arguments.top)
    if arguments.test:
        return as_text(facts)
    is_store = arguments.name is None  # else run folders were published for this call only
    return "\n".join([summary.text(facts, arguments.top), *(hints(arguments.store) if is_store else ())])


def hints(store: str) -> Sequence[str]:
    """Return the commands that show more of a store."""
    show, branch = f"show TEST --store {store}", f"trends {store} --base main --head BRANCH"
    return ("", f"one test: fencepost {show}", f"a branch: fencepost {branch}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="trends", description="Mine a results store.")
    parser.add_argument("store", help="the folder or the URL of the store")
    parser.add_argument("--name", help="how the store is called in what is printed; its address by default")
    parser.add_argument("--since", type=_time, help="leave earlier runs out: 2026-11-01, or with a time")
    parser.add_argument("--now", type=_time, help="the end of the last week; the present time by default")
    parser.add_argument("--target", help="leave the runs on other targets out")
    parser.add_argument("--test", help="show this test only")
    parser.add_argument(
        "--base", default="main", help="with --head: the branch, the build or the commit to compare with"
    )
    parser.add_argument("--head", help="say which failures of this branch, build or commit its base has as well")
    parser.add_argument("--top", type=int, default=10, help="tests of each kind that are printed")
    parser.add_argument("--rules", type=Path, help="a JSON file: the rules that targets owe, [[rule, says, target]]")
    parser.add_argument("--rebuild", action="store_true", help=REBUILD)
    parser.add_argument("--out", type=Path, help="the folder for the pages")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--markdown", action="store_true", help="print Markdown")
    return parser


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)
