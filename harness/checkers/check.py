"""What a checker is called, what it guards, and the two findings it can come to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from results.records.verdict import Basis, Counterexample, Finding, Verdict


@dataclass(frozen=True, slots=True)
class Check:
    """The identity of one checker. `anomaly` is what must never be seen; `basis` is what its violations rest on."""

    name: str
    anomaly: str
    requirement: str
    basis: Basis

    def held(self, judged: int, sentence: str, **evidence: Any) -> Finding:
        """Nothing was wrong with any of the `judged` items; none at all is said too."""
        return self._finding(Verdict.PASS, sentence, evidence={"judged": judged, **evidence})

    def broken(
        self,
        judged: int,
        sentence: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        *,
        at: float | None,
        context: Sequence[Sequence[Any]] = (),
        **evidence: Any,
    ) -> Finding:
        """`rows` shows what was wrong, one row an instance; it may be long. `at` is when it first showed."""
        return self._finding(
            Verdict.VIOLATION,
            sentence,
            at=at,
            evidence={"judged": judged, "wrong": len(rows), **evidence},
            counterexample=Counterexample.of(columns, rows, context=context),
        )

    def shown(self, judged: int, sentence: str, table: Counterexample, **evidence: Any) -> Finding:
        """As `broken`, of what was found after the run, with a table that is made already."""
        return self._finding(
            Verdict.VIOLATION,
            sentence,
            evidence={"judged": judged, "wrong": table.total, **evidence},
            counterexample=table,
        )

    def unjudged(self, sentence: str, **evidence: Any) -> Finding:
        """The run does not let this be judged."""
        return self._finding(Verdict.INCONCLUSIVE, sentence, evidence={"judged": 0, **evidence})

    def _finding(self, verdict: Verdict, sentence: str, **rest: Any) -> Finding:
        return Finding(
            verdict=verdict,
            check=self.name,
            title=self.anomaly,
            sentence=sentence,
            requirement=self.requirement,
            level="never",
            basis=self.basis,
            **rest,
        )


def spans(offsets: Sequence[int]) -> str:
    """Offsets for a sentence: `7`, `100 to 319`, or `3 … 99` when there are holes between the first and the last."""
    first, last = min(offsets), max(offsets)
    if first == last:
        return f"offset {first}"
    return f"offsets {first} {'to' if last - first + 1 == len(set(offsets)) else '…'} {last}"
