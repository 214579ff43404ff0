"""Doubts: reasons for which violations of a run are not held against its target. The judge says which there are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps.produce import Produce
from fencepost.results.records.events import CLIENT_ENDED, CONVERGE
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Basis, Finding, Verdict


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason to withdraw the violations of these bases that showed at `since` or later.

    `spared` are steps with evidence of their own. `client` is a burst that the reason ended: its records without an
    answer prove nothing.
    """

    reason: str
    bases: frozenset[Basis]
    since: float = -inf
    spared: frozenset[str] = frozenset()
    client: str | None = None

    def covers(self, finding: Finding) -> bool:
        """Return whether the finding is a violation that this reason withdraws."""
        if finding.verdict is not Verdict.VIOLATION or finding.basis not in self.bases:
            return False
        step = finding.evidence.get("step")
        if step is not None and step == self.client:
            return bool(finding.evidence.get("only_late"))
        return step not in self.spared and (finding.at is None or finding.at >= self.since)


def find_doubts(plan: Plan, journal: Journal, failures: Sequence[Finding]) -> Iterator[Doubt]:
    """Yield the doubts of a run. `failures` are its findings with the verdict infrastructure."""
    yield from doubts_so_far(plan, journal, failures)
    yield from _interrupted_faults(journal)


def doubts_so_far(plan: Plan, journal: Journal, failures: Sequence[Finding]) -> Iterator[Doubt]:
    """Yield the doubts of a run that may go on: it was not interrupted while faults are active."""
    for failure in failures:
        lost_lines = failure.check == "journal"
        bases = {Basis.FAULT, Basis.ABSENCE} if lost_lines else {Basis.FAULT}
        since = failure.at if failure.check in ("nodes", "overrun", "hangs") else None
        yield Doubt(failure.message, frozenset(bases), since=-inf if since is None else since)
    begun = {"unproven": "intent", "unhealed": "recovering"}
    for event in journal.of("fault", *begun):
        starts = [
            each.t for each in journal.of("fault", begun[event.phase]) if each.id == event.id and each.t <= event.t
        ]
        state = "working" if event.phase == "unproven" else "healed"
        reason = f"the fault {event.id} was not proven {state}."
        yield Doubt(reason, frozenset({Basis.FAULT}), since=max(starts, default=event.t))
    own_requests = {plan.step_name(at) for at, step in enumerate(plan.steps) if isinstance(step, ProbeStep | Produce)}
    for event in journal.of("note"):
        if event.data.get("what") == CLIENT_ENDED:
            client = event.data["client"]
            reason = f"the client {client} was ended at {event.t:.2f} s by {event.data['error']}."
            yield Doubt(reason, frozenset({Basis.FAULT}), event.t, frozenset(own_requests), client)


def _interrupted_faults(journal: Journal) -> Iterator[Doubt]:
    """Yield a doubt for each fault that was active at the end of an interrupted run.

    A run that is not interrupted heals all faults before it converges.
    """
    if any(event.id == CONVERGE for event in journal.of("step", "begin")):
        return
    begun: dict[str, float] = {}
    for event in journal.of("fault"):
        if event.phase in ("healed", "unhealed"):
            begun.pop(event.id, None)
        else:
            begun.setdefault(event.id, event.t)
    for name, since in begun.items():
        reason = f"the run was interrupted while the fault {name} was active."
        yield Doubt(reason, frozenset({Basis.FAULT, Basis.ABSENCE}), since)


def withdrawn(finding: Finding, doubts: Sequence[Doubt]) -> Finding:
    """Return the finding, as inconclusive if a doubt covers it."""
    for doubt in doubts:
        if doubt.covers(finding):
            return finding.withdrawn(doubt.reason)
    return finding
