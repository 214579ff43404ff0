"""One request at a time to each peer, and a pause that grows while a peer does not answer."""

from cluster_impl.designs.quorum.raft.messages import Request

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 0.5


class Outbox:
    """Which request each peer has yet to answer, and when a peer that failed may be asked again. Times in seconds."""

    def __init__(self) -> None:
        self._correlation = 0
        self._in_flight: dict[int, tuple[int, Request]] = {}
        self._retry_at: dict[int, float] = {}
        self._failures: dict[int, int] = {}

    def idle(self, peer: int) -> bool:
        return peer not in self._in_flight

    def retry_at(self, peer: int) -> float:
        """From when on an idle peer may be asked."""
        return self._retry_at.get(peer, 0.0)

    def sent(self, peer: int, request: Request) -> int:
        """Note a request in flight; gives the correlation that its answer must carry."""
        self._correlation += 1
        self._in_flight[peer] = (self._correlation, request)
        return self._correlation

    def complete(self, peer: int, correlation: int) -> Request | None:
        """The request that was answered; None for an answer that nobody waits for any more."""
        if peer not in self._in_flight or self._in_flight[peer][0] != correlation:
            return None
        return self._in_flight.pop(peer)[1]

    def succeeded(self, peer: int) -> None:
        self._failures.pop(peer, None)
        self._retry_at.pop(peer, None)

    def pause(self, peer: int, now: float) -> None:
        """The peer did not answer, or not in a way that asking again at once could better."""
        failures = self._failures[peer] = self._failures.get(peer, 0) + 1
        self._retry_at[peer] = now + min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(failures - 1, 10))

    def reset(self) -> None:
        """Another role or epoch: whatever is in flight answers a question that is no longer asked."""
        self._in_flight.clear()
        self._retry_at.clear()
