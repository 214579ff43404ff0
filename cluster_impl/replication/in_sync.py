"""The in-sync replicas of a partition as its leader knows them: the committed set, and proposals in doubt.

A leader never knows for sure that an unanswered proposal did not happen, nor that it never will: its bytes may still be
in a socket. So until the committed version has moved on, every replica that was proposed since counts as a member where
that is the safe assumption (the high watermark), and as none where that is (the minimum of in-sync replicas). KIP-497
calls the former the maximal ISR.
"""

from __future__ import annotations

from uuid import UUID

from fencepost.cluster_impl.replication.control_plane import (
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    TopicPartition,
)
from fencepost.cluster_impl.wire.errors import Error

AWAIT_METADATA = frozenset({Error.INVALID_UPDATE_VERSION, Error.FENCED_LEADER_EPOCH})
"""Errors which say that the committed state has already moved on: another request at the old version is useless."""

ISR_PAUSE = 0.25
"""Seconds between an ISR change without success and the next one."""


class InSyncReplicas:
    """Committed ISR and version, and at most one proposal in flight. Times are seconds on a monotonic clock."""

    def __init__(self) -> None:
        self.committed: frozenset[int] = frozenset()
        self.leader_epoch = -1
        self.version = -1
        self._forget()

    def _forget(self) -> None:
        self._proposed: frozenset[int] = frozenset()
        self._in_flight: IsrProposal | None = None
        self._repeat: IsrProposal | None = None
        self._in_doubt = False
        self._awaits_metadata = False
        self._not_before = float("-inf")

    @property
    def maximal(self) -> frozenset[int]:
        """All replicas that may be in the ISR: the committed members and those that were proposed since."""
        return self.committed | self._proposed

    def adopt(self, isr: frozenset[int], leader_epoch: int, version: int) -> None:
        """Take over a newer committed state. It settles every proposal: each was compared with an older version."""
        self.committed, self.leader_epoch, self.version = isr, leader_epoch, version
        self._forget()

    def propose(
        self, topic_partition: TopicPartition, topic_id: UUID, target: frozenset[int], now: float
    ) -> IsrProposal | None:
        """Return the proposal to send now, if any: after no answer the same again, otherwise `target` if it is new.

        After a refusal of a repeated proposal the first one is still in doubt. Then the target is proposed even if it
        equals the committed set, since only a new version ends the doubt.
        """
        if self._in_flight or self._awaits_metadata or now < self._not_before:
            return None
        if self._repeat is None and target == self.committed and not self._in_doubt:
            return None
        proposal = self._repeat or IsrProposal(
            topic=topic_partition.topic,
            topic_id=topic_id,
            partition=topic_partition.partition,
            leader_epoch=self.leader_epoch,
            isr=tuple(sorted(target)),
            version=self.version,
        )
        self._in_flight, self._repeat = proposal, None
        self._proposed |= frozenset(proposal.isr)
        return proposal

    def settle(self, proposal: IsrProposal, outcome: IsrOutcome, now: float) -> None:
        """Adopt the outcome of the proposal in flight; an outcome that newer state has overtaken changes nothing."""
        if proposal is not self._in_flight:
            return
        self._in_flight = None
        if isinstance(outcome, IsrAccepted):
            self.adopt(frozenset(outcome.isr), outcome.leader_epoch, outcome.version)
            return
        self._not_before = now + ISR_PAUSE
        if isinstance(outcome, IsrRefused):
            self._awaits_metadata = outcome.error in AWAIT_METADATA
            if not self._in_doubt and not self._awaits_metadata:
                self._proposed = frozenset()
        else:
            self._repeat, self._in_doubt = proposal, True
