"""The log of a follower: the answers to its fetches extend it, truncate it, or put a snapshot in its place."""

from fencepost.cluster_impl.designs.quorum.raft import effects as fx
from fencepost.cluster_impl.designs.quorum.raft.elections import ElectionProtocol
from fencepost.cluster_impl.designs.quorum.raft.messages import (
    EpochEnd,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
)
from fencepost.cluster_impl.designs.quorum.raft.replicated_log import CommittedRecordsAtRisk
from fencepost.cluster_impl.designs.quorum.raft.roles import SnapshotDownload
from fencepost.cluster_impl.designs.quorum.raft.state import VoterRole
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterSet
from fencepost.cluster_impl.wire.errors import Error


class FollowerProtocol(ElectionProtocol):
    """The log of a follower comes from one leader, by Fetch and FetchSnapshot (KIP-595, KIP-630)."""

    def _fetch_answered(self, peer: int, response: FetchResponse, now: float) -> None:
        if self.role is not VoterRole.FOLLOWER:
            # Asked for the leader, by a node without a vote: the responder knows none.
            self._outbox.pause(peer, now)
        elif response.error is Error.NOT_LEADER_OR_FOLLOWER:
            self._lost_leader(now)
        elif response.error or not self.log.is_continued_by(response.batches, self.epoch):
            self._outbox.pause(peer, now)
        else:
            self._heard_leader(now)
            if response.snapshot is not None:
                self._begin_download(response.snapshot)
            elif response.diverging is None:
                self._take(response, now)
            else:
                # The rest may still differ from the leader's log, so it commits nothing before the next response.
                self._truncate(response.diverging, now)

    def _heard_leader(self, now: float) -> None:
        self._heard_leader_at = now
        self._timer = now + self._leader_timeout()

    def _lost_leader(self, now: float) -> None:
        """Give up a leader that no longer leads this epoch; no other voter ever will."""
        self._become_unattached(self.epoch, now)
        self._timer = now + self._back_off()
        for node_id in self._targets() if not self._is_voter else ():
            self._outbox.pause(node_id, now)

    def _take(self, response: FetchResponse, now: float) -> None:
        self.log.append_fetched(response.batches)
        for batch in response.batches:
            if batch.voters is not None:
                self._adopt(batch.base_offset, batch.voters, now)
        self.log.commit(min(response.high_watermark, self.log.end_offset))

    def _adopt(self, offset: int, voters: VoterSet, now: float) -> None:
        """Count by a set from its append on, committed or not: two sets that differ by one voter share a majority."""
        self.voters.append(offset, voters)
        self._voters_changed(now)

    def _truncate(self, diverging: EpochEnd, now: float) -> None:
        end_offset = self.log.truncate(diverging, self._asking_leader())
        if self.voters.truncate(end_offset):
            self._voters_changed(now)

    def _asking_leader(self) -> str:
        return f"node {self.node_id}: leader {self.leader_id} of epoch {self.epoch}"

    def _begin_download(self, snapshot: EpochEnd) -> None:
        if snapshot.end_offset <= self.log.high_watermark:
            raise CommittedRecordsAtRisk(
                f"{self._asking_leader()} offers a snapshot that ends at {snapshot.end_offset}, not above its high "
                f"watermark {self.log.high_watermark}: committed metadata was lost elsewhere"
            )
        self._download = SnapshotDownload(snapshot)

    def _snapshot_answered(
        self, peer: int, request: FetchSnapshotRequest, response: FetchSnapshotResponse, now: float
    ) -> None:
        download = self._download
        if response.error is Error.NOT_LEADER_OR_FOLLOWER:
            self._lost_leader(now)
        elif download is None or response.error or response.position != download.position or not response.data:
            # The leader may have a newer snapshot by now: ask again which one.
            self._download = None
            self._outbox.pause(peer, now)
        else:
            self._heard_leader(now)
            self._emit(fx.StoreSnapshotPart(request.snapshot, response.position, response.data))
            download.position += len(response.data)
            if download.position >= response.size:
                download.complete = True
                self._emit(fx.InstallSnapshot(request.snapshot))
