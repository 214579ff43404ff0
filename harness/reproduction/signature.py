"""What makes two failures the same failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from results.records.verdict import Finding, RunVerdict, Verdict


@dataclass(frozen=True)
class Signature:
    """The verdict, and the rules (or, where no rule is named, the checks) that made it what it is.

    A listed difference that no longer shows is not the same as the rule's being broken, so it is told apart.
    """

    verdict: Verdict
    broken: frozenset[str]

    @classmethod
    def of(cls, verdict: RunVerdict) -> Signature:
        if verdict.verdict is Verdict.PASS:
            return cls(Verdict.PASS, frozenset())
        return cls(verdict.verdict, frozenset(map(_name, verdict.of(verdict.verdict))))

    @property
    def fails(self) -> bool:
        return self.verdict is not Verdict.PASS

    def shows_in(self, other: Signature) -> bool:
        """The same verdict, and at least one of the same rules: how many break with it is a matter of timing."""
        if self.verdict is not other.verdict:
            return False
        return bool(self.broken & other.broken) or not self.broken

    def only(self, rules: frozenset[str]) -> Signature:
        """The same failure, of these rules alone."""
        return Signature(self.verdict, self.broken & rules)

    def __str__(self) -> str:
        return " ".join([self.verdict.value, *sorted(self.broken)])

    def to_json(self) -> dict[str, Any]:
        return {"verdict": self.verdict.value, "broken": sorted(self.broken)}


def _name(finding: Finding) -> str:
    if finding.requirement is None or finding.check == "deviation":
        return ":".join(filter(None, [finding.check, finding.requirement]))
    return finding.requirement
