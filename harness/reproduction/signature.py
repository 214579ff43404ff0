"""The signature of a failure: two failures with the same signature count as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fencepost.results.records.verdict import Finding, RunVerdict, Verdict


@dataclass(frozen=True)
class FailureSignature:
    """The verdict, and the rules (or the checks, if they name no rule) that led to it.

    A listed difference that no longer shows is another failure than a broken rule, so it has a name of its own.
    """

    verdict: Verdict
    broken: frozenset[str]

    @classmethod
    def of(cls, verdict: RunVerdict) -> FailureSignature:
        if verdict.verdict is Verdict.PASS:
            return cls(Verdict.PASS, frozenset())
        return cls(verdict.verdict, frozenset(map(_name, verdict.of(verdict.verdict))))

    @property
    def fails(self) -> bool:
        return self.verdict is not Verdict.PASS

    def shows_in(self, other: FailureSignature) -> bool:
        """Return whether the other has the same verdict and at least one of the same rules; timing decides how many."""
        if self.verdict is not other.verdict:
            return False
        return bool(self.broken & other.broken) or not self.broken

    def only(self, rules: frozenset[str]) -> FailureSignature:
        """Return the signature with only these rules."""
        return FailureSignature(self.verdict, self.broken & rules)

    def __str__(self) -> str:
        return " ".join([self.verdict.value, *sorted(self.broken)])

    def to_json(self) -> dict[str, Any]:
        return {"verdict": self.verdict.value, "broken": sorted(self.broken)}


def _name(finding: Finding) -> str:
    if finding.requirement is None or finding.check == "deviation":
        return ":".join(filter(None, [finding.check, finding.requirement]))
    return finding.requirement
