"""The condition that all voters of the metadata quorum follow the active controller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fencepost.harness.clients.raw import NoAnswer
from fencepost.harness.engine.context import Clients
from fencepost.harness.engine.references import References
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.requests.describe_quorum import request_quorum

ANSWER_SECONDS = 1.0


@dataclass
class VoterProgress:
    """Each voter fetched since the first answer of the present leader, and has all that this one had then.

    The leader's clock may be moved, so that the times of fetches are only compared with each other. `seen`: the first
    voter that is missing.
    """

    references: References
    clients: Clients
    seen: str = "the active controller was not asked"
    _first: Any = None

    def __call__(self) -> bool:
        leader = self.references.active_controller()
        try:
            with self.clients.connect(leader, Listener.CONTROLLER, ANSWER_SECONDS) as line:
                answer = request_quorum(line, self.references.dialect)
        except NoAnswer as error:
            self.seen = str(error)
            return False
        if not answer.topics or answer.topics[0].partitions[0].error_code:
            self.seen = f"{leader} does not describe the quorum"
            return False
        now = answer.topics[0].partitions[0]
        if self._first is None or self._first.leader_epoch != now.leader_epoch:
            self._first = now
        self.seen = missing(self._first, now)
        return not self.seen


def missing(first: Any, now: Any) -> str:
    """Return which voter of `now` did not fetch since `first`, or lacks what the leader had then; empty: none."""
    before = {voter.replica_id: voter for voter in first.current_voters}
    end = before[now.leader_id].log_end_offset if now.leader_id in before else first.high_watermark
    for voter in now.current_voters:
        known = before.get(voter.replica_id)
        if voter.replica_id == now.leader_id:
            continue
        if known is None or voter.last_fetch_timestamp == known.last_fetch_timestamp:
            return f"controller {voter.replica_id} did not fetch"
        if voter.log_end_offset < end:
            return f"controller {voter.replica_id} has {voter.log_end_offset} of {end} records"
    return ""
