"""Expectations of steps, and the deviations that a target's listed differences allow."""

from __future__ import annotations

from typing import Final, Literal

from fencepost.harness.checkers.owed import broken_by_loss
from fencepost.harness.plan.base import Expect, ExpectOutcome, Level
from fencepost.harness.plan.model import Deviation
from fencepost.suites.target_facts import TargetFacts

ACKNOWLEDGED_LOSS, LOG_DIVERGENCE = "LF-01", "LF-02"
"""Differences of a target whose followers truncate to their own high watermark, to which KIP-101 put an end."""

TRUNCATION: Final = "cut-to-high-watermark"
"""The mechanism of both. No scenario excuses a record that it cannot have taken."""


def must(requirement: str, *also: str) -> Expect:
    """Expect that the awaited condition comes true in time. `also` names further requirements that this proves."""
    return Expect(level=Level.MUST, requirement=requirement, also=also)


def never(requirement: str, *also: str) -> Expect:
    """Expect that the awaited condition does not come true while the step waits."""
    return Expect(level=Level.NEVER, requirement=requirement, also=also)


def answers(requirement: str, outcome: str, *also: str) -> ExpectOutcome:
    """Expect this outcome of every request."""
    return ExpectOutcome(level=Level.MUST, requirement=requirement, outcome=outcome, also=also)


def serves(requirement: str, *also: str) -> ExpectOutcome:
    """Expect that every request is served."""
    return answers(requirement, "served", *also)


def may_answer(requirement: str, outcome: str, *also: str) -> ExpectOutcome:
    """Allow this outcome and any other; the run records which one came."""
    return ExpectOutcome(level=Level.MAY, requirement=requirement, outcome=outcome, also=also)


def never_answers(requirement: str, outcome: str, *also: str) -> ExpectOutcome:
    """Expect any outcome but this one, or none."""
    return ExpectOutcome(level=Level.NEVER, requirement=requirement, outcome=outcome, also=also)


def never_serves(requirement: str, *also: str) -> ExpectOutcome:
    """Expect that requests are refused, closed or unanswered: anything but served."""
    return never_answers(requirement, "served", *also)


def expected_losses(target: TargetFacts, level: Literal["must", "may"]) -> list[Deviation]:
    """Return the deviations of a target that lists the loss of acknowledged records, with what follows from a loss.

    The judge accepts only what the mechanism of the difference (cut-to-high-watermark) explains.
    """
    if not target.differs(ACKNOWLEDGED_LOSS):
        return []
    return [
        Deviation(difference=ACKNOWLEDGED_LOSS, requirement="ACK-01", level=level, mechanism=TRUNCATION),
        *(
            Deviation(difference=ACKNOWLEDGED_LOSS, requirement=each, level="may", mechanism=TRUNCATION)
            for each in broken_by_loss()
        ),
    ]
