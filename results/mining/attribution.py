"""Which faults, pairs, roles, states, releases and backends raise the probability of a failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fencepost.results.mining.association import (
    Associations,
    Counts,
    associated,
    false_discovery_rates,
    rates_of_families,
)
from fencepost.results.mining.groups import Flags, Groups, Numbers, keyed, numbers, ranks

STRATUM: Final = ("test", "target")
"""Runs are compared with runs of the same test on the same target only."""
OF_RUNS: Final = (*STRATUM, "run_id", "release", "backend", "features", "verdict", "left_out")
OF_FAULTS: Final = (*STRATUM, "run_id", "kind", "role", "node_state", "cluster_state")
"""The columns of runs and of faults that `cells` takes."""
LEAST_FAILURES: Final = 3
"""The failures that a cause must have been present in."""
DISCOVERY: Final = 0.05
"""The share of false causes among those that are named."""
_PAIRED: Final = 24
"""The features of which pairs are looked at: those with the highest scores, and the most frequent kinds of faults."""
MOST_INDEPENDENT: Final = 6
_SUPPORT: Final = 0.02
"""The share of failures in which a pair must be."""
_BEYOND: Final = 0.01
"""The p-value up to which runs with both of a pair fail more often than those with one part of it."""


@dataclass(frozen=True)
class Cells:
    """The runs of each stratum that are alike in features, counted.

    - strata: test and target of each. names: those of the features. features: the numbers of those of each combination.
    - stratum, combination, n (runs), x (failures): of each cell.
    """

    strata: pa.Table
    names: Sequence[str]
    features: Sequence[Numbers]
    stratum: Numbers
    combination: Numbers
    n: Numbers
    x: Numbers

    def totals(self) -> tuple[Numbers, Numbers]:
        """Return the runs of each stratum, and the failures."""
        n, x = (_added(self.stratum, each, self.strata.num_rows) for each in (self.n, self.x))
        return n, x

    def by_feature(self, *, of_all: bool) -> Counts:
        """Return the counts of each feature in each stratum; the key is the feature if `of_all`, else both of them."""
        sizes = np.array([len(each) for each in self.features], dtype=np.int64)[self.combination]
        cell = np.repeat(np.arange(len(self.n)), sizes)
        feature = np.concatenate([np.zeros(0, dtype=np.int64), *(self.features[each] for each in self.combination)])
        groups = Groups.of(self.stratum[cell], feature)
        stratum, of = groups.first(self.stratum[cell]), groups.first(feature)
        all_n, all_x = self.totals()
        key = of if of_all else stratum * len(self.names) + of
        return Counts(key, groups.sum(self.n[cell]), groups.sum(self.x[cell]), all_n[stratum], all_x[stratum])


def _added(group: Numbers, values: Numbers, number: int) -> Numbers:
    return np.bincount(group, values, number).astype(np.int64)


def mixed(tests: pa.Table) -> pa.Table:
    """Return the strata with passes and failures, of the tests of each day (`outcomes_by_day`): test, target.

    One in which all runs have one verdict says nothing.
    """
    stratum, strata = keyed(tests, STRATUM)
    n, x = (_added(stratum, numbers(tests, name), strata.num_rows) for name in ("n", "x"))
    return strata.filter(pa.array((x > 0) & (x < n)))


def cells(strata: pa.Table, runs: pa.Table, faults: pa.Table) -> Cells:
    """Return the runs of some strata with their features; `runs` and `faults` have the columns OF_RUNS and OF_FAULTS.

    From the faults of a run: `fault:pause`, `fault:pause role:leader`, `fault:pause node:catching up`, `role:leader`,
    `state:ISR of t-0 shrunk`. From the run: `release:3.9.1`, `backend:docker`, and those of its plan
    (`workload:transactions`).
    """
    judged = pc.is_in(runs["verdict"].cast(pa.string()), pa.array(["pass", "violation"]))
    runs = runs.filter(pc.and_(judged, pc.is_null(runs["left_out"])))
    of, named = keyed(runs, STRATUM)
    wanted = {tuple(row.values()): place for place, row in enumerate(strata.to_pylist())}
    places = np.array([wanted.get(tuple(row.values()), -1) for row in named.to_pylist()], dtype=np.int64)
    chosen = places[of] >= 0
    runs, stratum = runs.filter(pa.array(chosen)), places[of][chosen]
    names: dict[str, int] = {}
    hit, hits = keyed(faults, ("kind", "role", "node_state", "cluster_state"))
    run = pc.index_in(faults["run_id"].cast(pa.string()), runs["run_id"].cast(pa.string()).combine_chunks())
    of_run = pc.fill_null(run, -1).to_numpy().astype(np.int64)
    by_faults, fault_sets = _sets(of_run[of_run >= 0], hit[of_run >= 0], runs.num_rows)
    listed = runs["features"].combine_chunks()
    own, texts = ranks(pa.chunked_array([listed.flatten()], pa.string()))
    by_plan, plan_sets = _sets(pc.list_parent_indices(listed).to_numpy().astype(np.int64), own, runs.num_rows)
    alike, kinds = keyed(runs, ("release", "backend"))
    combined = Groups.of(alike, by_faults, by_plan)
    combination = np.empty(runs.num_rows, dtype=np.int64)
    combination[combined.order] = np.repeat(np.arange(len(combined.start)), combined.sizes)
    of_hits = [_features(**row) for row in hits.to_pylist()]
    of_kinds = [_present(release=row["release"], backend=row["backend"]) for row in kinds.to_pylist()]
    of_plans = texts.to_pylist()
    features = []
    for kind, fault_set, plan_set in zip(*map(combined.first, (alike, by_faults, by_plan)), strict=True):
        present = {*of_kinds[kind], *(of_plans[each] for each in plan_sets[plan_set])}
        present.update(*(of_hits[each] for each in fault_sets[fault_set]))
        features.append(np.array(sorted(names.setdefault(each, len(names)) for each in present), dtype=np.int64))
    cell = Groups.of(stratum, combination)
    is_failed = pc.equal(runs["verdict"].cast(pa.string()), "violation").to_numpy().astype(np.int64)
    of_cell = cell.first(stratum), cell.first(combination)
    return Cells(strata, list(names), features, *of_cell, cell.sizes, cell.sum(is_failed))


def _features(kind: str, role: str | None, node_state: str | None, cluster_state: str | None) -> list[str]:
    fault = f"fault:{kind}"
    beside = (f"{fault} {each}" for each in _present(role=role, node=node_state))
    return [fault, *beside, *_present(role=role, state=cluster_state)]


def _present(**values: str | None) -> list[str]:
    return [f"{name}:{value}" for name, value in values.items() if value is not None]


def _sets(row: Numbers, item: Numbers, rows: int) -> tuple[Numbers, list[tuple[int, ...]]]:
    """Return the number of the set of items of each row, and the different sets: number 0 is the empty one."""
    pairs = Groups.of(row, item)
    of, items = pairs.first(row), pairs.first(item)
    of_row = Groups.of(of)
    places = of_row.places
    number = np.zeros(rows, dtype=np.int64)
    sets: list[tuple[int, ...]] = [()]
    for place in range(int(places.max(initial=-1)) + 1):
        there = places == place
        longer = Groups.of(number[of[there]], items[there])
        before, added = longer.first(number[of[there]]).tolist(), longer.first(items[there]).tolist()
        further = np.empty(int(there.sum()), dtype=np.int64)
        further[longer.order] = len(sets) + np.repeat(np.arange(len(before)), longer.sizes)
        number[of[there]] = further
        sets += [(*sets[one], another) for one, another in zip(before, added, strict=True)]
    return number, sets


def attribution(found: Cells) -> pa.Table:
    """Return the features, and pairs of them, with which tests fail more often than without, best first.

    Columns: causes (one or two features), those of `Associations.columns` for causes and strata of one test on one
    target each, so that a fault is not blamed for the scenario that always has it, q_value, independent, rank. The
    q_value is over all features and pairs that were tested; rows have at most 0.05.

    `independent` numbers the causes that explain all others: the one with the highest z, then the best one for the runs
    without the first, and so on, at most 6; null for the rest, which have a part or a consequence of a cause. rank has
    the independent ones first, then all by z.

    Pairs come of the frequent ones in failed runs. A pair is named if it is in fewer runs than
    either part, and if runs with both fail more often than runs with each part alone (p_value at most 0.01), so that
    a cause is not named again with each feature that is present by chance.
    Source of the elimination of explained runs: B. Liblit et al., Scalable statistical bug isolation, 2005.
    """
    single = associated(found.by_feature(of_all=True))
    single = single.of(single.failures >= LEAST_FAILURES)
    best = _Best.of(single, found)
    paired, pairs = best.pairs()
    causes = [(found.names[each],) for each in single.key.tolist()] + [best.named(each) for each in paired]
    tested = single.followed_by(pairs)
    q_values = false_discovery_rates(tested.p_value)
    candidates = [(bit,) for bit in range(len(best.chosen))] + paired
    independent = {best.named(bits): number for number, bits in enumerate(best.independent(candidates), 1)}
    order = sorted(
        np.flatnonzero(q_values <= DISCOVERY).tolist(),
        key=lambda row: (independent.get(causes[row], MOST_INDEPENDENT + 1), -tested.z[row], causes[row]),
    )
    columns: dict[str, Any] = {"causes": pa.array([list(causes[row]) for row in order], pa.list_(pa.string()))}
    columns |= tested.of(np.array(order, dtype=np.int64)).columns()
    columns["q_value"] = pa.array(q_values[order] if order else [], pa.float64())
    columns["independent"] = pa.array([independent.get(causes[row]) for row in order], pa.int32())
    columns["rank"] = pa.array(range(1, len(order) + 1), pa.int32())
    return pa.table(columns)


def attribution_by_test(found: Cells) -> pa.Table:
    """Return the features with which each test fails more often: test, target, feature, those of `Associations.columns`
    and q_value.

    The p_value is Fisher's, the q_value over the features of the test; rows have at most 0.05.
    """
    tested = associated(found.by_feature(of_all=False))
    tested = tested.of(tested.failures >= LEAST_FAILURES)
    stratum, feature = np.divmod(tested.key, max(1, len(found.names)))
    q_values = rates_of_families(tested.p_value, stratum)
    named = q_values <= DISCOVERY
    columns = found.strata.take(stratum[named])
    names = pa.array([found.names[each] for each in feature[named].tolist()], pa.string())
    of_named = tested.of(named).columns()
    for name, values in {"feature": names, **of_named, "q_value": pa.array(q_values[named])}.items():
        columns = columns.append_column(name, values)
    return columns


@dataclass(frozen=True)
class _Best:
    """The runs of each stratum that have the same ones of the best features, counted.

    - chosen: the names of these features, the best one first. mask: its bit n says whether runs have the feature n.
    """

    chosen: Sequence[str]
    strata: int
    stratum: Numbers
    mask: Numbers
    n: Numbers
    x: Numbers

    @classmethod
    def of(cls, single: Associations, found: Cells) -> _Best:
        # A fault that only matters beside another one may be as rare in failures as elsewhere: so all kinds are paired.
        alone = single.p_value < 0.05
        names = [found.names[each] for each in single.key.tolist()]
        kind = np.array([each.startswith("fault:") and " " not in each for each in names], dtype=bool)
        score = np.where(alone, single.z, -np.inf)
        order = [each for each in np.lexsort((-single.failures, -score, ~alone)).tolist() if alone[each] or kind[each]][
            :_PAIRED
        ]
        bit = np.zeros(len(found.names), dtype=np.int64)
        bit[single.key[order]] = 1 << np.arange(len(order))
        masks = np.array([int(bit[each].sum()) for each in found.features], dtype=np.int64)
        mask = masks[found.combination]
        groups = Groups.of(found.stratum, mask)
        return cls(
            [names[each] for each in order],
            found.strata.num_rows,
            groups.first(found.stratum),
            groups.first(mask),
            groups.sum(found.n),
            groups.sum(found.x),
        )

    def named(self, bits: Sequence[int]) -> tuple[str, ...]:
        return tuple(sorted(self.chosen[bit] for bit in bits))

    def pairs(self) -> tuple[list[tuple[int, ...]], Associations]:
        """Return the pairs that explain more than their parts, by their bits."""
        rows = np.ones(len(self.mask), dtype=bool)
        several = (self.x > 0) & (np.bitwise_count(self.mask) > 1)
        mask, x = self.mask[several], self.x[several]
        least = _SUPPORT * x.sum()
        frequent = [
            pair
            for pair in combinations(range(len(self.chosen)), 2)
            if (failures := x[_has(mask, pair)].sum()) > 0 and failures >= least
        ]
        beyond = np.ones(len(frequent), dtype=bool)
        for part in range(2):
            among = [_has(self.mask, pair[part : part + 1]) for pair in frequent]
            scored = associated(self._counts(frequent, among))
            sure = np.zeros(len(frequent), dtype=bool)
            sure[scored.key[scored.p_value <= _BEYOND]] = True
            beyond &= sure
        scored = associated(self._counts(frequent, [rows] * len(frequent)))
        scored = scored.of(beyond[scored.key] & (scored.failures >= LEAST_FAILURES))
        return [frequent[each] for each in scored.key.tolist()], scored

    def independent(self, candidates: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Return the best candidate, then the best one for the runs without the first, and so on, by their bits."""
        found: list[tuple[int, ...]] = []
        rest = np.ones(len(self.mask), dtype=bool)
        while len(found) < MOST_INDEPENDENT:
            scored = associated(self._counts(candidates, [rest] * len(candidates)))
            sure = (scored.p_value * len(candidates) <= DISCOVERY) & (scored.failures >= LEAST_FAILURES)
            scored = scored.of(sure)
            ordered = zip((-scored.z).tolist(), (candidates[each] for each in scored.key.tolist()), strict=True)
            if (best := min(ordered, default=None)) is None:
                break
            found.append(best[1])
            rest &= ~_has(self.mask, best[1])
        return found

    def _counts(self, candidates: Sequence[Sequence[int]], among: Sequence[Flags]) -> Counts:
        """Return the counts of each candidate in each stratum, each among some of the rows."""
        parts = [np.zeros((5, 0), dtype=np.int64)]
        totals: dict[int, tuple[Numbers, Numbers]] = {}
        for key, (bits, rows) in enumerate(zip(candidates, among, strict=True)):
            if id(rows) not in totals:
                totals[id(rows)] = self._added(rows)
            with_n, with_x = self._added(rows & _has(self.mask, bits))
            there = np.flatnonzero(with_n)
            counts = (each[there] for each in (with_n, with_x, *totals[id(rows)]))
            parts.append(np.array([np.full(len(there), key), *counts]))
        return Counts(*np.concatenate(parts, axis=1))

    def _added(self, rows: Flags) -> tuple[Numbers, Numbers]:
        n, x = (_added(self.stratum[rows], each[rows], self.strata) for each in (self.n, self.x))
        return n, x


def _has(mask: Numbers, bits: Sequence[int]) -> Flags:
    wanted = sum(1 << bit for bit in bits)
    found: Flags = (mask & wanted) == wanted
    return found
