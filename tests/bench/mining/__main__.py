"""Hold the mining jobs beside known truth, numpy and DuckDB: `python -m tests.bench.mining [--results N]`.

Synthesizes a store with N results, runs all jobs by Spark and their aggregations by DuckDB, each in a process of its
own whose memory is sampled, and prints precision and recall of the jobs beside those of flip rate alone and of an
implementation in numpy.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import psutil
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from fencepost.harness.publishing.folders import find
from fencepost.results.mining.synthesize import TRUTH, Truth, add_day, make_truth, name, synthesize
from fencepost.results.store.store import Store
from fencepost.results.store.tables import FAULTS, RUNS
from tests.bench.mining import numpy_scores

NUMPY_MOST = 3_000_000
"""Results above which numpy is left out: it holds all of them."""
ON_TOP = 100_000
"""Results of the day that is added."""
FOLDERS = 100
"""Run folders whose way to pages is measured."""
WITHIN = 2
"""Builds by which a change point may be off."""
JUDGED = ("healthy", "flaky", "broken", "mended", "slower")
"""The kinds of tests that are flaky, or certainly are not."""
Score = tuple[float, float]


def scored(found: Collection[object], true: Collection[object]) -> Score:
    """Return precision and recall of a set."""
    right = len(set(found) & set(true))
    return right / len(found) if found else 1.0, right / len(true) if true else 1.0


def rows(out: Path, job: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = pq.read_table(out / job).to_pylist()
    return found


def accuracy(out: Path, truth: Truth) -> dict[str, Score]:
    """Return precision and recall of what the jobs wrote."""
    kinds = {name(number): kind for number, kind in enumerate(truth.kinds)}
    of = {kind: {test for test, each in kinds.items() if each == kind} for kind in set(kinds.values())}
    judged = {test for test, kind in kinds.items() if kind in JUDGED}
    flaky = rows(out, "flakiness")
    said = {state: {row["test"] for row in flaky if row["state"] == state} & judged for state in ("flaky", "broken")}
    found = {
        "flaky, of flaky, broken and healthy tests": scored(said["flaky"], of["flaky"]),
        "broken": scored(said["broken"], of["broken"]),
        "flaky by flip rate alone, at its best threshold": best_flip_rate(flaky, of["flaky"], judged),
    }
    changes = {(row["test"], int(str(row["build_number"]))) for row in rows(out, "change_points")}
    found["change points within 2 builds, broken and mended"] = changed(changes, truth, ("broken", "mended"))
    found["change points within 2 builds, fails more often"] = changed(changes, truth, ("worse",))
    slow = {(row["test"], int(str(row["build_number"]))) for row in rows(out, "slow_downs")}
    found["slower since a build, within 2"] = changed(slow, truth, ("slower",), of_all=True)
    caused = [row for row in rows(out, "attribution") if row["independent"] is not None]
    true = {frozenset(cause.split(" + ")) for cause in truth.causes}
    found["causes"] = scored({frozenset(map(str, _list(row["causes"]))) for row in caused}, true)
    pairs = {(str(row["first"])[:-11], str(row["second"])[:-11]) for row in rows(out, "together")}
    groups: dict[int, list[str]] = {}
    for number, group in enumerate(truth.groups):
        if group >= 0:
            groups.setdefault(group, []).append(name(number))
    together = {pair for tests in groups.values() for pair in combinations(sorted(tests), 2)}
    apart = {pair for pair in pairs if kinds[pair[0]] in ("flaky", "together", "healthy")}
    found["tests that fail together"] = scored(apart, together)
    return found


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def best_flip_rate(flaky: list[dict[str, object]], true: set[str], judged: set[str]) -> Score:
    """Return the score of the threshold with the best product of precision and recall."""
    rates = {str(row["test"]): float(str(row["flip_rate"])) for row in flaky if row["test"] in judged}
    thresholds = np.quantile(list(rates.values()), np.linspace(0, 1, 200))
    scores = [scored({test for test, rate in rates.items() if rate > each}, true) for each in thresholds]
    return max(scores, key=lambda each: each[0] * each[1])


def changed(
    found: Collection[tuple[object, int]], truth: Truth, wanted: tuple[str, ...], *, of_all: bool = False
) -> Score:
    """Return precision and recall of change points of tests of some kinds; false ones of healthy and flaky ones count.

    `of_all` counts false ones of all other kinds, too.
    """
    true = {name(number): truth.changes[number] for number, kind in enumerate(truth.kinds) if kind in wanted}
    steady = {name(number) for number, kind in enumerate(truth.kinds) if of_all or kind in ("healthy", "flaky")}
    counting = [(str(test), build) for test, build in found if test in true or test in steady]
    right = {test for test, build in counting if test in true and abs(build - true[test]) <= WITHIN}
    hits = sum(test in true and abs(build - true[test]) <= WITHIN for test, build in counting)
    return hits / len(counting) if counting else 1.0, len(right) / len(true) if true else 1.0


def by_numpy(store: Store, truth: Truth) -> tuple[dict[str, Score], list[str], float]:
    """Return the scores of the implementation in numpy, its states by test, and its seconds."""
    began = time.monotonic()
    runs = store.read(RUNS, ["run_id", "test", "build", "verdict", "started_at"])
    tests = np.array(
        [int(each[-5:]) for each in runs["test"].dictionary_encode().combine_chunks().dictionary.to_pylist()]
    )
    test = tests[runs["test"].dictionary_encode().combine_chunks().indices.to_numpy()]
    encoded = runs["build"].dictionary_encode().combine_chunks()
    build = np.array([int(each[-3:]) - 1 for each in encoded.dictionary.to_pylist()])[encoded.indices.to_numpy()]
    verdict = runs["verdict"].to_numpy(zero_copy_only=False)
    proof = (verdict == "violation") | (verdict == "pass")
    started = runs["started_at"].cast("int64").to_numpy()
    failed = (verdict == "violation").astype(float)
    counts = numpy_scores.counted(test[proof], build[proof], failed[proof], started[proof])
    states = numpy_scores.states(counts)
    of = {kind: {n for n, each in enumerate(truth.kinds) if each == kind} for kind in set(truth.kinds)}
    judged = {number for number, kind in enumerate(truth.kinds) if kind in JUDGED}
    said = {state: {n for n, each in enumerate(states) if each == state} & judged for state in ("flaky", "broken")}
    changes = {
        (name(number), at + 1)
        for number, (x, n) in enumerate(zip(counts.x.tolist(), counts.n.tolist(), strict=True))
        for at in numpy_scores.change_points(x, n)
    }
    scores = {
        "flaky, of flaky, broken and healthy tests": scored(said["flaky"], of["flaky"]),
        "broken": scored(said["broken"], of["broken"]),
        "change points within 2 builds, broken and mended": changed(changes, truth, ("broken", "mended")),
        "change points within 2 builds, fails more often": changed(changes, truth, ("worse",)),
    }
    random = np.isin(test, list(of["random"])) & proof
    ids = runs["run_id"].to_numpy(zero_copy_only=False)
    chosen = dict(zip(ids[random].tolist(), zip(test[random].tolist(), failed[random] > 0, strict=True), strict=True))
    present: dict[str, set[str]] = {run: set() for run in chosen}
    faults = store.read(FAULTS, ["run_id", "kind", "role"])
    for run, kind, role in zip(*(column.to_pylist() for column in faults.columns), strict=True):
        if run in present:
            present[run] |= {f"fault:{kind}", f"fault:{kind} role:{role}", f"role:{role}"}
    found = numpy_scores.causes(
        [frozenset(each) for each in present.values()],
        [chosen[run][0] for run in present],
        [bool(chosen[run][1]) for run in present],
    )
    scores["causes"] = scored(found, {frozenset(cause.split(" + ")) for cause in truth.causes})
    return scores, states, time.monotonic() - began


@dataclass(frozen=True)
class Cost:
    """The seconds and processor seconds of each job, and the most memory in GB."""

    seconds: dict[str, float]
    processor: dict[str, float]
    memory: float


def measured(store: Path, out: Path, engine: str, progress: Callable[[str], None]) -> Cost:
    """Run all jobs in a process of its own."""
    command = [sys.executable, "-m", "tests.bench.mining.jobs", str(store), str(out), engine]
    most, lines = 0.0, list[tuple[str, float, float]]()
    out.mkdir(parents=True, exist_ok=True)
    with (
        (out / "errors").open("w+") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):

        def sample() -> None:
            nonlocal most
            while process.poll() is None:
                try:
                    root = psutil.Process(process.pid)
                    family = [root, *root.children(recursive=True)]
                    most = max(most, sum(each.memory_info().rss for each in family) / 1e9)
                except psutil.NoSuchProcess:
                    pass
                time.sleep(0.2)

        sampler = threading.Thread(target=sample)
        sampler.start()
        for line in process.stdout or ():
            if line.startswith("["):
                name, seconds, processor = json.loads(line)
                lines.append((name, seconds, processor))
                progress(f"{engine}: {name} {seconds:.1f} s, {processor:.1f} s of processor time")
        process.wait()
        sampler.join()
        errors.seek(0)
        if process.returncode != 0:
            raise SystemExit(f"{engine} ended with {process.returncode}:\n{errors.read()[-3000:]}")
    return Cost({line[0]: line[1] for line in lines}, {line[0]: line[2] for line in lines}, most)


def folders_to_pages(runs: Path) -> Iterator[tuple[str, float]]:
    """Bring run folders to pages by way of a store, and by one command; yield each command with its seconds."""
    folders = [each.folder.path for each in find([runs]).runs][:FOLDERS]
    if len(folders) < FOLDERS:
        raise SystemExit(f"{runs} has {len(folders)} judged run folders, and {FOLDERS} are needed")
    with tempfile.TemporaryDirectory(prefix="fencepost-bench-") as scratch:
        store, pages, together = Path(scratch) / "store", Path(scratch) / "pages", Path(scratch) / "runs"
        for number, folder in enumerate(folders):
            shutil.copytree(folder, together / f"{number}-{folder.name}", ignore=shutil.ignore_patterns("nodes"))
        commands = {
            "publish RUNS": ["publish", *folders, "--to", store],
            "trends STORE": ["trends", store, "--out", pages],
            "trends RUNS": ["trends", together, "--out", pages],
        }
        for name, arguments in commands.items():
            began = time.monotonic()
            subprocess.run([sys.executable, "-m", "fencepost.harness.cli", *map(str, arguments)], check=True)
            yield name, time.monotonic() - began


def spent_by(command: list[str]) -> tuple[float, float]:
    """Run a command; return its seconds, and the processor seconds of it and its descendants, sampled.

    The JVM outlives the command, so the times of children that were waited for have not those of it.
    """
    began, spent = time.monotonic(), dict[psutil.Process, float]()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            try:
                root = psutil.Process(process.pid)
                for each in (root, *root.children(recursive=True)):
                    times = each.cpu_times()
                    spent[each] = times.user + times.system
            except psutil.NoSuchProcess:
                pass
            time.sleep(0.2)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return time.monotonic() - began, sum(spent.values())


def on_top(place: Path, truth: Truth, seed: int, scratch: Path) -> Iterator[tuple[str, float, float]]:
    """Mine a copy of a store to pages, add a day, and mine it again with and without what was kept of the other days.

    Yield what was done, with its seconds and processor seconds. Both ways have to say the same of the day.
    """
    copy, said = scratch / "on-top", dict[str, str]()
    shutil.copytree(place, copy)
    rebuild, added = "all days to pages", "the day on top of them to pages"
    steps = {rebuild: ["--rebuild"], added: [], f"{rebuild}, with the day": ["--rebuild"]}
    for step, arguments in steps.items():
        if step == added:
            number = add_day(Store.open(str(copy)), truth, seed, ON_TOP)
            yield f"{number:,} results added", 0.0, 0.0
        pages = scratch / "pages"
        command = [sys.executable, "-m", "fencepost.harness.cli", "trends", str(copy), "--out", str(pages), *arguments]
        yield step, *spent_by(command)
        said[step] = (pages / "trends.json").read_text()
    _, with_kept, without = said.values()
    if with_kept != without:
        raise SystemExit("what was kept of the days changes what the pages say")


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-mining", description="Truth and figures of the mining jobs.")
    parser.add_argument("--results", type=int, default=1_000_000)
    parser.add_argument("--builds", type=int, default=10)
    parser.add_argument("--runs-per-build", type=int, default=5, help="of each test")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", type=Path, help="keep the store here, or read the one that is here")
    parser.add_argument(
        "--folders", type=Path, metavar="RUNS", help=f"measure {FOLDERS} run folders from here instead, to their pages"
    )
    given = parser.parse_args()
    console = Console(width=120)
    if given.folders is not None:
        for command, seconds in folders_to_pages(given.folders):
            console.print(f"{command}: {seconds:.1f} s")
        return
    with tempfile.TemporaryDirectory(prefix="fencepost-bench-") as scratch:
        place = given.store or Path(scratch) / "store"
        if not (place / TRUTH).exists():
            tests = given.results // (given.builds * given.runs_per_build)
            began = time.monotonic()
            truth = make_truth(tests, given.builds, given.runs_per_build, given.seed, torn=10)
            number = synthesize(Store.create(str(place)), truth, given.seed)
            console.print(f"{number:,} results of {tests:,} tests synthesized in {time.monotonic() - began:.0f} s")
        truth = Truth.load(place / TRUTH)
        results = truth.tests * truth.builds * truth.runs_per_build
        duck = measured(place, Path(scratch) / "duckdb", "duckdb", console.print)
        spark = measured(place, Path(scratch) / "spark", "spark", console.print)
        table = Table("seconds", "Spark", "DuckDB", "processor: Spark", "DuckDB")
        for job in spark.seconds:
            cells = (of.get(job, 0.0) for of in (spark.seconds, duck.seconds, spark.processor, duck.processor))
            table.add_row(job, *(f"{each:.1f}" for each in cells))
        sums = (sum(of.values()) for of in (spark.seconds, duck.seconds, spark.processor, duck.processor))
        table.add_row("all", *(f"{each:.1f}" for each in sums))
        table.add_row("most memory, GB", f"{spark.memory:.1f}", f"{duck.memory:.1f}", "", "")
        console.print(table)
        for step, seconds, processor in on_top(place, truth, given.seed, Path(scratch)):
            console.print(f"{step}: {seconds:.1f} s, {processor:.1f} s of processor time")
        own = accuracy(Path(scratch) / "spark", truth)
        beside: dict[str, Score] = {}
        if results <= NUMPY_MOST:
            beside, states, seconds = by_numpy(Store.open(str(place)), truth)
            of_spark = {str(row["test"]): row["state"] for row in rows(Path(scratch) / "spark", "flakiness")}
            same = sum(of_spark[name(number)] == state for number, state in enumerate(states))
            console.print(f"numpy: {seconds:.0f} s; {same} of {len(states)} tests have the state that Spark gives them")
        table = Table("precision, recall", "jobs", "numpy")
        for what, (precision, recall) in own.items():
            other = "{:.3f}, {:.3f}".format(*beside[what]) if what in beside else "–"
            table.add_row(what, f"{precision:.3f}, {recall:.3f}", other)
        console.print(table)


if __name__ == "__main__":
    main()
