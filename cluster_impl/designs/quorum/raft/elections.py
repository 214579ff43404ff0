"""The requests by which voters elect a leader and learn of it: Vote, BeginQuorumEpoch and EndQuorumEpoch (KIP-595).

Pre-vote (KIP-996) takes the place of leader stickiness: a voter that is cut off never raises its epoch, so its return
deposes no leader, and a real vote is decided as in plain Raft.
"""

from fencepost.cluster_impl.designs.quorum.raft.messages import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    Request,
    VoteRequest,
    VoteResponse,
)
from fencepost.cluster_impl.designs.quorum.raft.roles import RoleMachine
from fencepost.cluster_impl.designs.quorum.raft.state import VoterRole
from fencepost.cluster_impl.wire.errors import Error


class ElectionProtocol(RoleMachine):
    """The answers of a voter to candidates and leaders, and what follows from theirs."""

    def _vote(self, request: VoteRequest, now: float) -> VoteResponse:
        if error := self._refusal(request, request.cluster_id, request.candidate_id):
            return VoteResponse(error, self.epoch, self.leader_id)
        self._learn(request.epoch, None, now)
        granted = self._up_to_date(request) and (
            not self._has_live_leader(now) if request.pre_vote else self._may_vote_for(request.candidate_id)
        )
        if granted and not request.pre_vote:
            # The vote is on disk before the response that grants it: else a restarted voter could vote twice.
            self._become_unattached(self.epoch, now, voted_id=request.candidate_id)
        # A pre-vote response names the leader only if it is alive; otherwise two followers of a dead leader would
        # keep sending each other back to it.
        leader_id = None if request.pre_vote and not self._has_live_leader(now) else self.leader_id
        return VoteResponse(Error.NONE, self.epoch, leader_id, granted)

    def _up_to_date(self, request: VoteRequest) -> bool:
        """Return True if the candidate's log is at least as up to date: a later last epoch, or as long in the same
        one."""
        mine, theirs = self.log.end, request.log_end
        return (theirs.epoch, theirs.end_offset) >= (mine.epoch, mine.end_offset)

    def _may_vote_for(self, candidate_id: int) -> bool:
        return self.leader_id is None and self.state.voted_id in (None, candidate_id)

    def _has_live_leader(self, now: float) -> bool:
        """Return True if an election would be needless. A live leader answers fetches well within half the timeout."""
        if self.role is VoterRole.FOLLOWER:
            return now - self._heard_leader_at < self.settings.fetch_timeout / 2
        return self.role is VoterRole.LEADER

    def _vote_answered(self, peer: int, response: VoteResponse, now: float) -> None:
        (self._granted if response.granted and not response.error else self._refused).add(peer)
        self._count_votes(now)

    def _begin_quorum_epoch(self, request: BeginQuorumEpochRequest, now: float) -> BeginQuorumEpochResponse:
        error = self._refusal(request, request.cluster_id, request.leader_id)
        if not error:
            self._learn(request.epoch, request.leader_id, now)
            if self.leader_id != request.leader_id:
                error = Error.INVALID_REQUEST
        return BeginQuorumEpochResponse(error, self.epoch, self.leader_id)

    def _begin_answered(
        self, peer: int, request: BeginQuorumEpochRequest, response: BeginQuorumEpochResponse, now: float
    ) -> None:
        if response.error or response.epoch != self.epoch or self.leadership is None:
            self._outbox.pause(peer, now)
            return
        follower = self.leadership.followers.get(peer)
        if follower is not None:
            # The round of the request, not the present one: an answer confirms only what was asked before it.
            follower.begun_at, follower.round_accepted = now, request.round

    def _end_quorum_epoch(self, request: EndQuorumEpochRequest, now: float) -> EndQuorumEpochResponse:
        error = self._refusal(request, request.cluster_id, request.leader_id)
        if not error:
            self._learn(request.epoch, request.leader_id, now)
            if self.role is VoterRole.FOLLOWER and self.leader_id == request.leader_id:
                self._become_unattached(self.epoch, now)
                self._timer = now + self._succession_delay(request.successors)
        return EndQuorumEpochResponse(error, self.epoch, self.leader_id)

    def _succession_delay(self, successors: tuple[int, ...]) -> float:
        """Return a delay in the order of the successors, long enough that the others learn of the resignation too."""
        position = successors.index(self.node_id) if self.node_id in successors else len(successors)
        return self.settings.election_timeout * (position + 1 + self._random.random()) / 10

    def _refusal(self, request: Request, cluster_id: str | None, sender: int) -> Error:
        """Check what every request from a voter must meet (KIP-595): this cluster, a current epoch, another node.

        The sender need not be in this node's own set of voters, which may be an old one (KIP-853).
        """
        if cluster_id not in (None, self.settings.cluster_id):
            return Error.INCONSISTENT_CLUSTER_ID
        if request.epoch < self.epoch:
            return Error.FENCED_LEADER_EPOCH
        return Error.INCONSISTENT_VOTER_SET if sender == self.node_id or sender < 0 else Error.NONE
