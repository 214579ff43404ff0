"""Protocol timeouts far shorter than those of production, so that a scenario takes seconds."""

from __future__ import annotations

from fencepost.harness.plan.model import Timing

PREFERRED_MS = 1000
"""How long a leader-driven target waits for the preferred replica: enough on a busy machine, so the first leads."""
ELECTION_MS = 1500
"""How long a leader-driven replica waits without a leader before it looks again."""
FENCE_MARGIN_MS = 1000
"""How much later than the controller's lease a broker fences itself, in ZooKeeper mode."""


def scaled_timing(
    factor: int,
    *,
    leader_driven: bool,
    lease_ms: int = Timing().lease_ms,
    lag_ms: int = Timing().lag_ms,
    fetch_ms: int = Timing().fetch_ms,
    request_ms: int = Timing().request_ms,
    session_ms: int | None = None,
    fence_ms: int | None = None,
) -> Timing:
    """Return these timeouts, multiplied by `factor`, the timeout factor of a target.

    The session timeout is that of the lease unless it is given. A broker waits `FENCE_MARGIN_MS` longer than the
    controller before it fences itself.
    """
    times = Timing(
        lease_ms=lease_ms,
        lag_ms=lag_ms,
        fetch_ms=fetch_ms,
        request_ms=request_ms,
        session_ms=lease_ms if session_ms is None else session_ms,
        fence_ms=lease_ms + FENCE_MARGIN_MS if fence_ms is None else fence_ms,
        preferred_ms=PREFERRED_MS if leader_driven else Timing().preferred_ms,
        election_ms=ELECTION_MS if leader_driven else Timing().election_ms,
    )
    scaled = {name: factor * value for name, value in times.model_dump().items() if name != "heartbeat_ms"}
    return times.model_copy(update=scaled)
