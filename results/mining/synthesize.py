"""Make histories with known truth, in the tables of a store: `python -m fencepost.results.mining.synthesize STORE`.

Each test runs equally often on each build, in CI jobs that run all tests once. Its kind is known: healthy, flaky,
broken since a build, worse since a build (fails more often), mended at a build, slower since a build, one of a group
that fails together, or random plans in which two faults and one pair of faults are causes. The truth is written beside
the tables, as truth.json. Apart from it, all verdicts are random, from the seed.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import write_deltalake

from fencepost.results.store.store import Store
from fencepost.results.store.tables import FAULTS, FINDINGS, KEPT_ASIDE, REQUIREMENTS, RUNS, TIMINGS, Table

TRUTH = "truth.json"
SHARES = {
    "flaky": 0.10,
    "broken": 0.06,
    "worse": 0.04,
    "mended": 0.03,
    "slower": 0.04,
    "together": 0.04,
    "random": 0.05,
}
"""The shares of the kinds of tests; all others are healthy."""
GROUP = 5
"""The tests that fail together for one cause."""
KINDS = ("pause", "kill", "cut", "clock-jump", "disk-full", "slow-link", "duplicate", "stop")
ROLES = ("leader", "follower", "controller")
STATES = ("settled", "ISR shrunk", "no controller")
CAUSES = {
    "fault:pause role:leader": 0.5,
    "fault:duplicate": 0.4,
    "fault:cut + fault:clock-jump": 0.9,
}
"""The causes in random plans, and the probability of a failure with each."""
FALSE_ALARMS = 0.0005
"""The rate at which a healthy test fails all the same."""
RULES = 50
HALTED = 0.01
"""The share of runs that end without proof."""
_START = datetime(2026, 6, 1, tzinfo=UTC)
_DAY_US = 86_400_000_000
_PER_RUN = 2
"""The faults of a run."""

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Truth:
    """The tests by number: kind, rate of failures (of flaky and worse ones), build (from 1) of a change, group."""

    builds: int
    runs_per_build: int
    kinds: list[str]
    rates: list[float]
    changes: list[int]
    groups: list[int]
    slower: list[float]
    causes: dict[str, float]
    torn: int

    @property
    def tests(self) -> int:
        return len(self.kinds)

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, path: Path) -> "Truth":
        return cls(**json.loads(path.read_text()))


def name(number: int) -> str:
    return f"suite/test-{number:05}"


def make_truth(tests: int, builds: int, runs_per_build: int, seed: int, torn: int = 0) -> Truth:
    """Return the kinds of all tests, their order shuffled. Changes come between a fifth and four fifths of the builds.

    Flaky tests fail at 8 to 60 %, worse ones at 40 to 80 % after their change, slower ones take 1.3 to 2 times as long.
    """
    rng = np.random.default_rng(seed)
    counts = {kind: round(share * tests) for kind, share in SHARES.items()}
    counts["together"] -= counts["together"] % GROUP
    kinds = [kind for kind, count in counts.items() for _ in range(count)]
    groups = [number // GROUP for number in range(counts["together"])]
    kinds += ["healthy"] * (tests - len(kinds))
    order = rng.permutation(tests)
    first = kinds.index("together") if groups else tests
    of_group = [groups[each - first] if kinds[each] == "together" else -1 for each in range(tests)]
    rates = np.where(np.array(kinds) == "worse", rng.uniform(0.4, 0.8, tests), rng.uniform(0.08, 0.6, tests))
    changes = rng.integers(1 + max(1, builds // 5), 1 + max(2, builds - builds // 5), tests)
    slower = rng.uniform(1.3, 2.0, tests)
    return Truth(
        builds,
        runs_per_build,
        [kinds[each] for each in order],
        [float(rates[each]) for each in order],
        [int(changes[each]) for each in order],
        [of_group[each] for each in order],
        [float(slower[each]) for each in order],
        CAUSES,
        torn,
    )


def synthesize(store: Store, truth: Truth, seed: int) -> int:
    """Write the histories into a new store, one build after another; return the number of runs."""
    rng = np.random.default_rng(seed + 1)
    for build in range(1, truth.builds + 1):
        for table, rows in _of_build(truth, build, rng):
            write_deltalake(store.at(table), rows, mode="append")
    if truth.torn:
        write_deltalake(store.at(KEPT_ASIDE), _torn(truth), mode="append")
    if "://" not in store.name:
        truth.save(Path(store.name) / TRUTH)
    return truth.tests * truth.builds * truth.runs_per_build


def add_day(store: Store, truth: Truth, seed: int, most: int) -> int:
    """Add results on the next build to a store, on a day of their own, at most so many; return their number."""
    rng = np.random.default_rng(seed + 2)
    added = pa.array([], pa.string())
    for table, rows in _of_build(truth, truth.builds + 1, rng):
        if table is RUNS:
            added = rows["run_id"].slice(0, most)
        write_deltalake(store.at(table), rows.filter(pc.is_in(rows["run_id"], added)), mode="append")
    return len(added)


def _of_build(truth: Truth, build: int, rng: np.random.Generator) -> Iterator[tuple[Table, pa.Table]]:
    """Yield the rows of the runs on one build: each of its jobs runs all tests once."""
    tests, jobs = truth.tests, truth.runs_per_build
    test = np.tile(np.arange(tests), jobs)
    job = np.repeat(np.arange(jobs), tests)
    size = len(test)
    hits = _hits(rng, size)
    fails = _failures(truth, build, test, job, hits, rng)
    halted = rng.random(size) < HALTED
    verdict = np.where(halted, "inconclusive", np.where(fails, "violation", "pass"))
    verdict[halted & (rng.random(size) < 0.5)] = "infrastructure"
    number = (build - 1) * size + np.arange(size)
    kinds = np.array(truth.kinds)
    # Fixed scenarios have two plans; a random plan is run once.
    plan = np.where(kinds[test] == "random", number + 10**9, test * 2 + job % 2)
    slow = (kinds[test] == "slower") & (build >= np.array(truth.changes)[test])
    duration = np.exp(rng.normal(3.0, 0.2, size)) * np.where(slow, np.array(truth.slower)[test], 1.0)
    started = int(_START.timestamp() * 1e6) + (build - 1) * _DAY_US + job * 3_600_000_000 // max(1, jobs // 20)
    started = started + (test * (3_000_000_000 // max(1, tests))).astype(np.int64)
    names = pa.array([name(each) for each in range(tests)])
    own: dict[str, pa.Array] = {
        "run_id": pc.binary_join_element_wise("run", pc.cast(pa.array(number), pa.string()), "-"),
        "test": names.take(pa.array(test)),
        "verdict": pa.array(verdict.tolist(), pa.string()),
        "started_at": pa.array(started, pa.timestamp("us", "UTC")),
    }
    own["date"] = pc.cast(own["started_at"], pa.date32())
    same = {"target": "synthetic", "release": "1.0", "build": f"build-{build:03}", "backend": "process"}
    runs = own | {
        "plan_hash": pc.binary_join_element_wise("plan", pc.cast(pa.array(plan), pa.string()), "-"),
        "ci_url": pc.binary_join_element_wise(f"job/{build}", pc.cast(pa.array(job), pa.string()), "/"),
        "duration_s": pa.array(duration),
        "plan_steps": pa.array(5 + plan % 20),
    }
    yield RUNS, _table(RUNS, runs, same | {"source": "fencepost", "attempt": 1, "commit": "harness-1"})
    phase = {"row": 0, "timing": "failover", "begin_s": 1.0, "outcome": "done"}
    yield TIMINGS, _table(TIMINGS, own | {"seconds": pa.array(duration / 10)}, same | phase)
    yield FAULTS, _fault_rows(truth, own, same, test, hits)
    state = np.where(verdict == "violation", "broken", np.where(verdict == "pass", "held", "not covered"))
    rules = pa.array([f"SYN-{number:02}" for number in range(RULES)]).take(pa.array(test % RULES))
    judged = own | {"rule": rules, "state": pa.array(state.tolist(), pa.string())}
    yield REQUIREMENTS, _table(REQUIREMENTS, judged, same | {"row": 0, "checks": 1})
    failed = pa.array(np.flatnonzero(verdict == "violation"))
    # Failures of one cause have one message: that of the test, or of its group.
    group = np.array(truth.groups)[test]
    cause = np.where(group >= 0, group + 10**6, np.where(kinds[test] == "random", 10**7, test))
    signature = pc.binary_join_element_wise("s", pc.cast(pa.array(cause), pa.string()), "-")
    findings = {column: values.take(failed) for column, values in (own | {"signature": signature}).items()}
    findings["masked"] = findings["message"] = findings["signature"]
    known = {"row": 0, "check": "lost-write", "rule": "ACK-01", "finding": "violation", "masking": 1, "at_s": 9.0}
    yield FINDINGS, _table(FINDINGS, findings, same | known)


def _hits(rng: np.random.Generator, size: int) -> list[tuple[Numbers, Numbers, Numbers]]:
    """Return kind, role and state of the faults of each run, kinds of one run being different."""
    first = rng.integers(0, len(KINDS), size)
    second = (first + rng.integers(1, len(KINDS), size)) % len(KINDS)
    return [(kind, rng.integers(0, len(ROLES), size), rng.integers(0, len(STATES), size)) for kind in (first, second)]


def _failures(
    truth: Truth,
    build: int,
    test: Numbers,
    job: Numbers,
    hits: Sequence[tuple[Numbers, Numbers, Numbers]],
    rng: np.random.Generator,
) -> Flags:
    kinds, rates = np.array(truth.kinds)[test], np.array(truth.rates)[test]
    changed = build >= np.array(truth.changes)[test]
    group = np.array(truth.groups)[test]
    # The occasions of a group: one draw for each group and job.
    down = rng.random((max(truth.groups, default=0) + 2, int(job.max()) + 1)) < 0.15
    probability = np.full(len(test), FALSE_ALARMS)
    probability[kinds == "flaky"] = rates[kinds == "flaky"]
    probability[(kinds == "broken") & changed] = 1.0
    probability[(kinds == "mended") & ~changed] = 1.0
    worse = (kinds == "worse") & changed
    probability[worse] = rates[worse]
    together = kinds == "together"
    probability[together] = np.where(down[group[together], job[together]], 0.95, FALSE_ALARMS)
    for cause, rate in truth.causes.items():
        present = np.logical_and.reduce([_has(part, hits) for part in cause.split(" + ")])
        there = present & (kinds == "random")
        probability[there] = 1 - (1 - probability[there]) * (1 - rate)
    return rng.random(len(test)) < probability


def _has(feature: str, hits: Sequence[tuple[Numbers, Numbers, Numbers]]) -> Flags:
    """Return the runs that have a feature such as `fault:pause role:leader`."""
    fault, _, role = feature.removeprefix("fault:").partition(" role:")
    found = [(kind == KINDS.index(fault)) & (not role or at == ROLES.index(role)) for kind, at, _ in hits]
    return np.asarray(np.logical_or.reduce(found))


def _fault_rows(
    truth: Truth,
    own: dict[str, pa.Array],
    same: dict[str, Any],
    test: Numbers,
    hits: Sequence[tuple[Numbers, Numbers, Numbers]],
) -> pa.Table:
    """Return the faults: generated ones in random plans, and in a fixed scenario the two that belong to it."""
    fixed = np.array(truth.kinds)[test] != "random"
    parts = []
    for row, (kind, role, state) in enumerate(hits[:_PER_RUN]):
        kinds = pa.array(KINDS).take(pa.array(np.where(fixed, (test + row) % len(KINDS), kind)))
        columns = own | {
            "kind": kinds,
            "fault": kinds,
            "role": pa.array(ROLES).take(pa.array(np.where(fixed, test % len(ROLES), role))),
            "cluster_state": pa.array(STATES).take(pa.array(np.where(fixed, 0, state))),
        }
        known = {"row": row, "active_faults": row, "ordered_s": 2.0 + row, "outcome": "healed"}
        parts.append(_table(FAULTS, columns, same | known))
    return pa.concat_tables(parts)


def _torn(truth: Truth) -> pa.Table:
    day = _START.date()
    rows = [
        {
            "date": day,
            "id": f"torn-{number}",
            "folder": f"runs/torn-{number}",
            "reason": "torn",
            "detail": "The last line of the journal is cut.",
            "published": False,
            "seen_at": _START,
        }
        for number in range(truth.torn)
    ]
    return pa.Table.from_pylist(rows, schema=KEPT_ASIDE.schema.remove_metadata())


def _table(table: Table, columns: dict[str, pa.Array], same: dict[str, Any]) -> pa.Table:
    """Return rows with these columns and these constants; the others are null, or the start of the run."""
    size = len(columns["run_id"])
    known = {"run": "synthetic", "title": "synthetic", "published_at": _START} | same
    arrays = []
    for field in table.schema:
        if field.name in columns:
            arrays.append(columns[field.name].cast(field.type))
        elif field.name in known:
            arrays.append(pa.repeat(pa.scalar(known[field.name], field.type), size))
        else:
            arrays.append(pa.nulls(size, field.type))
    return pa.Table.from_arrays(arrays, schema=table.schema.remove_metadata())


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="synthesize", description="Make histories with known truth.")
    parser.add_argument("store", help="a new folder")
    parser.add_argument("--tests", type=int, default=2000)
    parser.add_argument("--builds", type=int, default=10)
    parser.add_argument("--runs-per-build", type=int, default=5)
    parser.add_argument("--torn", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(argv)
    truth = make_truth(given.tests, given.builds, given.runs_per_build, given.seed, given.torn)
    print(f"{synthesize(Store.create(given.store), truth, given.seed):,} runs in {given.store}")


if __name__ == "__main__":
    main()
