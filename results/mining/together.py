"""Tests that fail together: one cause, one row.

Failures are few beside results, and of each only test and occasion count: so the driver compares them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from fencepost.results.mining.association import false_discovery_rates
from fencepost.results.mining.formulas import fisher_tail
from fencepost.results.mining.groups import Floats, Numbers, keyed, ranks
from fencepost.results.mining.identity import TARGET, build_of, counted

LEAST_SIMILARITY: Final = 0.5
"""The Jaccard similarity of the occasions on which two tests failed, from which they fail together."""
LEAST_FAILURES: Final = 3
ALIKE: Final = 5
"""Tests with the very same occasions that are paired with all others; further ones are paired with the first."""
WAYS: Final = 16
"""Orders in which sets are sorted."""
NEIGHBOURS: Final = 40
"""Sets after it in an order that each set is compared with."""
_FIRST: Final = 8
"""Occasions by which sets are sorted."""
DISCOVERY: Final = 0.05
"""The share of pairs by chance among those that are named."""
_COLUMNS: Final = pa.schema(
    {
        **dict.fromkeys(("target", "first", "second"), pa.string()),
        **dict.fromkeys(("together", "first_failures", "second_failures"), pa.int64()),
        **dict.fromkeys(("similarity", "q_value"), pa.float64()),
        "group": pa.string(),
    }
)

Bytes = npt.NDArray[np.uint8]


def occasions_by_day(runs: DataFrame) -> DataFrame:
    """Return the occasions of each day: date, target, occasion and name (of a test that failed on it).

    Each occasion on which a run ended otherwise has a row without a name as well.
    """
    machine = F.concat_ws(" ", F.coalesce(build_of(TARGET), F.lit("")), F.to_date("started_at"), "machine")
    failed = F.when(F.col("verdict") == "violation", F.concat_ws(" on ", "test", "backend"))
    occasion = F.coalesce("ci_url", machine).alias("occasion")
    return counted(runs).select("date", "target", occasion, failed.alias("name")).distinct()


def failing_together(occasions: pa.Table) -> pa.Table:
    """Return the pairs of tests that fail on the same occasions, of those of each day (`occasions_by_day`).

    An occasion is a CI job (its page), else a build of the target on one day and machine. Columns: target, first and
    second (test on backend), together (occasions on which both failed), first_failures, second_failures, similarity
    (Jaccard: both / any of them), q_value, group (the first test of all that are connected by such pairs).

    Each set of occasions is a set of bits. Sets are sorted in 16 ways, and each is compared with the 40 after it: in
    each way the occasions have an order of their own, by chance, and sets with the same first occasions are neighbours,
    as similar sets nearly always are in one of the ways. So the cost grows with the number of sets, not with its
    square. Of up to 40 sets all are compared. A build that breaks a thousand tests at once is one set; of its
    tests 5 are paired with others, and the rest with the first. The p_value is Fisher's, of the occasions of the
    target: tests that fail often are together by chance, too. The q_value is over all pairs of sets. Rows have a
    similarity of 0.5 or more, 3 or more common occasions, and a q_value of at most 0.05.
    Sources: O. Parry et al., Systemic flakiness, 2025; the orders by chance: M. Bawa et al., LSH forest, 2005.
    """
    _, rows = keyed(occasions, ("target", "name", "occasion"))
    of_targets = [_Sets.of(target, rows.filter(pc.equal(rows["target"], target))) for target in _values(rows["target"])]
    found = [each for each in of_targets if each is not None]
    p_values = [sets.p_values() for sets in found]
    every = false_discovery_rates(np.concatenate([np.zeros(0), *p_values]), sum(sets.hypotheses for sets in found))
    q_values = np.split(every, np.cumsum([len(each) for each in p_values])[:-1]) if found else []
    named = [row for sets, q_value in zip(found, q_values, strict=True) for row in sets.named(q_value)]
    columns = zip(*named, strict=True) if named else ((),) * len(_COLUMNS)
    return pa.table([list(each) for each in columns], schema=_COLUMNS)


def _values(column: Any) -> list[str]:
    return sorted(pc.unique(column).to_pylist())


@dataclass(frozen=True)
class _Sets:
    """The different sets of occasions on which tests of a target failed, and the similar ones among them.

    - occasions: the number of all of the target. tests: those of each set by name; sets are in the order of their first
      tests. failures: the occasions of each set.
    - pairs: first and second set of each similar pair (of equal ones for a set of several tests), the one with fewer
      failures first, and the number of common occasions.
    """

    target: str
    occasions: int
    tests: list[list[str]]
    failures: Numbers
    pairs: Numbers

    @classmethod
    def of(cls, target: str, rows: Any) -> _Sets | None:
        """Return the sets, from rows with name and occasion; None if no test failed often enough."""
        number = len(pc.unique(rows["occasion"]))
        failed = rows.filter(pc.is_valid(rows["name"]))
        name, in_order = ranks(failed["name"])
        names, (occasion, _) = in_order.to_pylist(), ranks(failed["occasion"])
        often = np.bincount(name, minlength=len(names)) >= LEAST_FAILURES
        if not often.any():
            return None
        place = np.cumsum(often) - 1
        chosen = often[name]
        there = np.zeros((int(often.sum()), int(occasion.max()) + 1), dtype=bool)
        there[place[name[chosen]], occasion[chosen]] = True
        bits = np.packbits(there, axis=1)
        _, first, of = np.unique(bits, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        of_test = np.argsort(order)[of.reshape(-1)]
        tests: list[list[str]] = [[] for _ in first]
        for test, at in zip(np.array(names, dtype=object)[often], of_test, strict=True):
            tests[at].append(test)
        first = first[order]
        failures = there[first].sum(axis=1)
        pairs = _similar(there[first], bits[first], failures)
        several = np.array([number for number, each in enumerate(tests) if len(each) > 1], dtype=np.int64)
        itself = np.stack([several, several, failures[several]], axis=1)
        return cls(target, number, tests, failures, np.concatenate([pairs, itself]))

    @property
    def hypotheses(self) -> int:
        """Return the number of all pairs of sets, not only of those that are similar."""
        return len(self.tests) * (len(self.tests) - 1) // 2 + sum(len(each) > 1 for each in self.tests)

    def p_values(self) -> Floats:
        first, second, together = self.pairs.T
        counts = zip(*(each.tolist() for each in (together, self.failures[first], self.failures[second])), strict=True)
        return np.array([fisher_tail(both, a, b, max(self.occasions, a + b - both)) for both, a, b in counts])

    def named(self, q_values: Floats) -> Iterator[tuple[object, ...]]:
        """Yield a row for each pair of tests of the pairs of sets that are discovered."""
        discovered = q_values <= DISCOVERY
        pairs = self.pairs[discovered].tolist()
        group = _groups(len(self.tests), pairs)
        for (first, second, together), q_value in zip(pairs, q_values[discovered].tolist(), strict=True):
            numbers = [int(self.failures[each]) for each in (first, second)]
            similarity = together / (sum(numbers) - together)
            for one, other in self._tests(first, second):
                (left, of_left), (right, of_right) = sorted(zip((one, other), numbers, strict=True))
                of_pair = self.target, left, right, together, of_left, of_right
                yield (*of_pair, similarity, q_value, self.tests[group[first]][0])

    def _tests(self, first: int, second: int) -> Iterator[tuple[str, str]]:
        if first != second:
            yield from ((a, b) for a in self.tests[first][:ALIKE] for b in self.tests[second][:ALIKE])
            return
        tests = self.tests[first]
        for place, test in enumerate(tests[:ALIKE]):
            yield from ((test, other) for other in tests[place + 1 : None if place == 0 else ALIKE])


def _similar(there: npt.NDArray[np.bool_], bits: Bytes, failures: Numbers) -> Numbers:
    """Return the pairs of different sets that are similar enough: rows of first, second and the common occasions."""
    rng = np.random.default_rng(1)  # the same ways each time
    sets, occasions = np.nonzero(there)
    begins = np.concatenate([[0], np.cumsum(failures)[:-1]])
    number = np.bitwise_count
    found = [np.zeros((0, 3), dtype=np.int64)]
    for _ in range(WAYS):
        rank = rng.permutation(there.shape[1])[occasions]
        by_rank = rank[np.lexsort((rank, sets))]
        place = np.arange(len(sets)) - begins[sets]
        first = np.full((len(failures), _FIRST), -1, dtype=np.int64)
        early = place < _FIRST
        first[sets[early], place[early]] = by_rank[early]
        order = np.lexsort(first.T[::-1])
        for step in range(1, min(NEIGHBOURS, len(order) - 1) + 1):
            a, b = order[:-step], order[step:]
            together = number(bits[a] & bits[b]).sum(axis=1, dtype=np.int64)
            alike = together >= np.maximum(LEAST_FAILURES, LEAST_SIMILARITY * (failures[a] + failures[b] - together))
            a, b = a[alike], b[alike]
            swapped = (failures[a] > failures[b]) | (failures[a] == failures[b]) & (a > b)
            found.append(np.stack([np.where(swapped, b, a), np.where(swapped, a, b), together[alike]], axis=1))
    return np.unique(np.concatenate(found), axis=0)


def _groups(sets: int, pairs: list[list[int]]) -> list[int]:
    """Return the first set of all that are connected with each set."""
    group = list(range(sets))

    def root(number: int) -> int:
        while group[number] != number:
            group[number] = group[group[number]]
            number = group[number]
        return number

    for first, second, _ in pairs:
        a, b = sorted((root(first), root(second)))
        group[b] = a
    return [root(number) for number in range(sets)]
