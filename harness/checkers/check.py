"""The identity of a checker, and the findings that it can make."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fencepost.harness.checkers.control import TopicPartition
from fencepost.results.records.verdict import Basis, Counterexample, Finding, Verdict

UNKNOWN_OFFSET = "unknown offset"


@dataclass(frozen=True, slots=True)
class RunCheck:
    """The identity of a check of the run itself, which judges no rule of its own. `says` explains it."""

    name: str
    says: str


@dataclass(frozen=True, slots=True)
class Check:
    """The identity of a checker. `anomaly` is the title of its findings; `basis` is the evidence of its violations."""

    name: str
    anomaly: str
    requirement: str
    basis: Basis
    also: tuple[str, ...] = ()
    """Further requirements that it judges."""

    @property
    def requirements(self) -> tuple[str, ...]:
        return self.requirement, *self.also

    def held(self, judged: int, message: str, **evidence: Any) -> Finding:
        """Return a pass: all `judged` items, which may be none, were right."""
        return self._finding(Verdict.PASS, message, evidence={"judged": judged, **evidence})

    def broken(
        self,
        judged: int,
        message: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        *,
        at: float | None,
        context: Sequence[Sequence[Any]] = (),
        **evidence: Any,
    ) -> Finding:
        """Return a violation. `rows` has one row for each wrong item; `at` is the time of the first, in seconds."""
        return self._finding(
            Verdict.VIOLATION,
            message,
            at=at,
            evidence={"judged": judged, "wrong": len(rows), **evidence},
            counterexample=Counterexample.of(columns, rows, context=context),
        )

    def broken_by_table(self, judged: int, message: str, table: Counterexample, **evidence: Any) -> Finding:
        """Return a violation that was found after the run, with a complete table."""
        return self._finding(
            Verdict.VIOLATION,
            message,
            evidence={"judged": judged, "wrong": table.total, **evidence},
            counterexample=table,
        )

    def unjudged(self, message: str, **evidence: Any) -> Finding:
        """Return an inconclusive finding: the run gives no evidence to judge."""
        return self._finding(Verdict.INCONCLUSIVE, message, evidence={"judged": 0, **evidence})

    def _finding(self, verdict: Verdict, message: str, **rest: Any) -> Finding:
        return Finding(
            verdict=verdict,
            check=self.name,
            title=self.anomaly,
            message=message,
            requirement=self.requirement,
            level="never",
            basis=self.basis,
            also=self.also,
            **rest,
        )


def spans(offsets: Sequence[int]) -> str:
    """Describe offsets: `offset 7`, `offsets 100 to 319`, or `offsets 3 … 99` if some between are not among them.

    Those that are negative are unknown.
    """
    known = {offset for offset in offsets if offset >= 0}
    if not known:
        return UNKNOWN_OFFSET
    first, last = min(known), max(known)
    more = f" and {UNKNOWN_OFFSET}" if len(known) < len(set(offsets)) else ""
    if first == last:
        return f"offset {first}{more}"
    return f"offsets {first} {'to' if last - first + 1 == len(known) else '…'} {last}{more}"


def shown_offset(offset: int) -> int | str:
    """Return an offset for a table."""
    return offset if offset >= 0 else UNKNOWN_OFFSET


def offsets_by_partition(places: Iterable[tuple[TopicPartition, int]]) -> dict[TopicPartition, list[int]]:
    """Return the distinct offsets of each partition, both in order."""
    offsets: dict[TopicPartition, set[int]] = {}
    for at, offset in places:
        offsets.setdefault(at, set()).add(offset)
    return {at: sorted(offsets[at]) for at in sorted(offsets)}


def named_places(places: Iterable[tuple[TopicPartition, int]]) -> str:
    """Describe places by partition: `u-0 offsets 100 to 319; u-1 offset 7`."""
    return "; ".join(
        f"{topic}-{number} {spans(each)}" for (topic, number), each in offsets_by_partition(places).items()
    )


def extent(places: Iterable[tuple[TopicPartition, int]]) -> Mapping[str, list[list[int]]]:
    """Return the places as `verdict.json` has them: by partition the first and last offsets of its ranges.

    Unknown offsets, which are negative, are in none.
    """
    ranges: dict[str, list[list[int]]] = {}
    for (topic, number), offsets in offsets_by_partition(places).items():
        mine = ranges.setdefault(f"{topic}-{number}", [])
        for offset in (each for each in offsets if each >= 0):
            if mine and mine[-1][1] == offset - 1:
                mine[-1][1] = offset
            else:
                mine.append([offset, offset])
    return ranges


def within(inner: Mapping[str, Sequence[Sequence[int]]], outer: Mapping[str, Sequence[Sequence[int]]]) -> bool:
    """Return whether each range of one extent lies in a range of the other. Ranges of an extent do not touch."""
    return all(
        any(first <= begin and end <= last for first, last in outer.get(partition, ()))
        for partition, ranges in inner.items()
        for begin, end in ranges
    )
