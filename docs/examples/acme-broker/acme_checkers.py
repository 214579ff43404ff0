"""The checkers of Acme: pure functions from the history of a run to a finding. Every run of the target is judged."""

from __future__ import annotations

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.history import History
from fencepost.results.records.verdict import Basis, Finding

LIMIT_S = 30.0
CHECK = Check("acme-quick-answers", "An answer came late", "ACME-02", Basis.PRESENCE)


def quick_answers(history: History) -> Finding:
    """Judge the time between each send and its answer."""
    answered = [(send, send.completed - send.invoked) for send in history.sends if send.completed is not None]
    late = [(send, seconds) for send, seconds in answered if seconds > LIMIT_S]
    if not late:
        slowest = max((seconds for _, seconds in answered), default=0.0)
        return CHECK.held(len(answered), f"The slowest of {len(answered)} answers came after {slowest:.1f} s.")
    return CHECK.broken(
        len(answered),
        f"{len(late)} answers came after more than {LIMIT_S:g} s.",
        ("record", "seconds"),
        [(send.value, round(seconds, 1)) for send, seconds in late],
        at=min(send.invoked for send, _ in late),
    )
