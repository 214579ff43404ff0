"""The decisions of Raft: the pull-based protocol of KIP-595, with the pre-vote of KIP-996 and the snapshots of KIP-630.

`RaftCore` takes an input and the time and returns effects. It does no I/O, reads no clock, and takes election jitter
from the random generator that it is given, so one seed determines a whole history. Before each input it handles the
timers that have run out: a leader that was paused for long resigns before it handles the requests that waited in its
sockets.

The decisions stand where their names are: roles and terms in `roles`, votes in `elections`, the log that is fetched in
`following`, commits and the answers to fetches in `leadership`. This module takes the inputs and sends the requests.
"""

from collections.abc import Sequence

from fencepost.cluster_impl.designs.quorum.raft import effects as fx
from fencepost.cluster_impl.designs.quorum.raft.following import FollowerProtocol
from fencepost.cluster_impl.designs.quorum.raft.leadership import Leadership
from fencepost.cluster_impl.designs.quorum.raft.messages import (
    UNKNOWN_EPOCH,
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EpochEnd,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    Request,
    Response,
    VoteRequest,
    VoteResponse,
)
from fencepost.cluster_impl.designs.quorum.raft.state import VoterRole
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterHistory, VoterSet
from fencepost.cluster_impl.wire.errors import Error


class NotLeader(Exception):
    """This node does not lead the metadata quorum in the requested epoch."""


class VoterChangeRefused(Exception):
    """The set of voters cannot be changed so now. The message says why."""


class RaftCore(FollowerProtocol):
    """One voter. Every public method is an input and returns the effects that follow from it, in order."""

    # Inputs

    def tick(self, now: float) -> list[fx.Effect]:
        """Handle the passing of time. Due at `deadline()`, harmless at any other time."""
        return self._done(now)

    def receive(self, request: Request, token: object, now: float) -> list[fx.Effect]:
        """Handle a request. Its reply, at once or later, carries `token`."""
        self._expire(now)
        match request:
            case VoteRequest():
                reply: Response | None = self._vote(request, now)
            case BeginQuorumEpochRequest():
                reply = self._begin_quorum_epoch(request, now)
            case EndQuorumEpochRequest():
                reply = self._end_quorum_epoch(request, now)
            case FetchRequest():
                reply = self._fetch(request, token, now)
            case FetchSnapshotRequest():
                reply = self._fetch_snapshot(request, token, now)
        if reply is not None:
            self._emit(fx.Reply(token, reply))
        return self._done(now)

    def answered(self, peer: int, correlation: int, response: Response, now: float) -> list[fx.Effect]:
        """Handle a peer's response to the request sent under `correlation`."""
        self._expire(now)
        request = self._outbox.complete(peer, correlation)
        if request is None:
            return self._done(now)
        self._outbox.succeeded(peer)
        if not self._learn(response.epoch, response.leader_id, now):
            match request, response:
                case VoteRequest(), VoteResponse():
                    self._vote_answered(peer, response, now)
                case BeginQuorumEpochRequest(), BeginQuorumEpochResponse():
                    self._begin_answered(peer, request, response, now)
                case FetchRequest(), FetchResponse():
                    self._fetch_answered(peer, response, now)
                case FetchSnapshotRequest(), FetchSnapshotResponse():
                    self._snapshot_answered(peer, request, response, now)
                case _:
                    self._outbox.pause(peer, now)
        return self._done(now)

    def failed(self, peer: int, correlation: int, now: float) -> list[fx.Effect]:
        """Handle that the request sent under `correlation` gets no response: refused, cut, or timed out."""
        self._expire(now)
        if self._outbox.complete(peer, correlation) is not None:
            self._outbox.pause(peer, now)
        return self._done(now)

    def append(self, records: Sequence[bytes], now: float) -> list[fx.Effect]:
        """Append the leader's records as one batch, committed whole or not at all. They end at `log.end_offset`.

        Raises NotLeader. Call `tick` first, so that a leader whose time is up does not append.
        """
        if self.role is not VoterRole.LEADER:
            raise NotLeader(f"node {self.node_id} is {self.role.value} in epoch {self.epoch}: it appends nothing")
        self.log.append_records(self.epoch, records)
        return self._done(now)

    def change_voters(self, voters: VoterSet, now: float) -> list[fx.Effect]:
        """Append a set of voters, which holds at once. It is committed when the high watermark passes it.

        Raises NotLeader, and VoterChangeRefused unless the set differs by one voter from a committed one. Call `tick`
        first, as before `append`.
        """
        if self.leadership is None:
            raise NotLeader(f"node {self.node_id} is {self.role.value} in epoch {self.epoch}: it changes no voters")
        if not self._committed_its_epoch(self.leadership):
            # Else a change of an earlier leader could be in flight elsewhere (a defect of Raft that was found in 2015).
            raise VoterChangeRefused("this leader has not committed a record of its own epoch yet")
        if self._change_in_flight():
            raise VoterChangeRefused("an earlier change of the voters is not committed yet")
        if len(self.voters.latest.ids ^ voters.ids) > 1 or not voters.ids:
            raise VoterChangeRefused("voters are added and removed one at a time, and one stays")
        offset = self.log.end_offset
        self.log.append_voters(self.epoch, voters)
        self._adopt(offset, voters, now)
        return self._done(now)

    def _committed_its_epoch(self, leadership: Leadership) -> bool:
        return leadership.elected

    def _change_in_flight(self) -> bool:
        return self.voters.last_offset >= self.log.high_watermark

    def caught_up(self, node_id: int, end_offset: int, now: float) -> bool:
        """Return whether a controller without a vote has all records below `end_offset`, and fetched lately."""
        progress = None if self.leadership is None else self.leadership.observers.get(node_id)
        return (
            progress is not None
            and progress.end_offset >= end_offset
            and now - progress.heard_at <= self.settings.fetch_timeout
        )

    def flushed(self, end_offset: int, now: float) -> list[fx.Effect]:
        """Handle that the log is durable up to `end_offset`, as a `Flush` requested."""
        self.log.flushed(end_offset)
        self._expire(now)
        self.log.cut()
        return self._done(now)

    def snapshot_point(self) -> EpochEnd:
        """Return where a snapshot of the committed records ends now."""
        return self.log.shape.end_at(self.log.high_watermark)

    def snapshot_written(self, snapshot: EpochEnd, now: float) -> list[fx.Effect]:
        """Handle that a snapshot that this node made is durable; the log is cut behind the one before it."""
        self._expire(now)
        self.log.add_snapshot(snapshot)
        self.log.cut()
        return self._done(now)

    def snapshot_installed(self, snapshot: EpochEnd, now: float, voters: VoterSet | None = None) -> list[fx.Effect]:
        """Handle that a fetched snapshot has taken the place of the log. `voters` is the set in it, None for none."""
        self._download = None
        self.voters = VoterHistory(self.voters.first if voters is None else voters)
        self._voters_changed(now)
        self.log.begin_anew(snapshot)
        return self._done(now)

    def snapshot_refused(self, now: float) -> list[fx.Effect]:
        """Handle that a fetched snapshot is damaged: fetch again."""
        self._download = None
        if self.leader_id is not None:
            self._outbox.pause(self.leader_id, now)
        return self._done(now)

    def confirm(self, token: object, now: float) -> list[fx.Effect]:
        """Begin a round in which a majority confirms this epoch.

        A `LeadershipConfirmation` with the token follows, or a `LeaderResignation`. Raises NotLeader. Call `tick`
        first, as before `append`.
        """
        if self.leadership is None:
            raise NotLeader(f"node {self.node_id} is {self.role.value} in epoch {self.epoch}: nothing to confirm")
        self.leadership.confirmations.waiting.append(token)
        return self._done(now)

    def resign(self, now: float) -> list[fx.Effect]:
        """Give up leadership in good order (KIP-595, EndQuorumEpoch). A node does this before it stops."""
        self._expire(now)
        if self.role is VoterRole.LEADER:
            self._end_leadership(now)
        return self._done(now)

    def deadline(self) -> float:
        """Return the time at which `tick` is due at the latest."""
        due = [self._resignation_due_at() if self.leadership else self._timer]
        due += [self._send_due_at(peer) for peer in self._targets() if self._outbox.idle(peer)]
        if self.leadership:
            due += [parked.deadline for parked in self.leadership.parked]
        return min(due)

    # Fetches of others

    def _fetch(self, request: FetchRequest, token: object, now: float) -> FetchResponse | None:
        if error := self._fetch_refusal(request):
            return FetchResponse(error, self.epoch, self.leader_id)
        assert self.leadership is not None
        return self.leadership.fetch(request, token, now, self.settings.fetch_max_wait)

    def _fetch_snapshot(self, request: FetchSnapshotRequest, token: object, now: float) -> FetchSnapshotResponse | None:
        if error := self._fetch_refusal(request):
            return FetchSnapshotResponse(error, self.epoch, self.leader_id, request.snapshot)
        assert self.leadership is not None
        return self.leadership.fetch_snapshot(request, token, now)

    def _fetch_refusal(self, request: FetchRequest | FetchSnapshotRequest) -> Error:
        if request.cluster_id not in (None, self.settings.cluster_id):
            return Error.INCONSISTENT_CLUSTER_ID
        may_not_know = request.epoch == UNKNOWN_EPOCH and request.replica_id not in self._peers
        if request.epoch != self.epoch and not may_not_know:
            return Error.FENCED_LEADER_EPOCH if request.epoch < self.epoch else Error.UNKNOWN_LEADER_EPOCH
        return Error.NONE if self.role is VoterRole.LEADER else Error.NOT_LEADER_OR_FOLLOWER

    # After every input

    def _done(self, now: float) -> list[fx.Effect]:
        self._expire(now)
        self.log.flush()
        if self.leadership is not None:
            self.leadership.advance(now)
            if not self.leadership.is_voter and not self._change_in_flight():
                # Its own removal is committed. Until then it leads, or no voter could commit the removal.
                self._end_leadership(now)
        for peer in self._targets():
            if self._outbox.idle(peer) and self._send_due_at(peer) <= now:
                request = self._request_for(peer)
                self._emit(fx.Send(peer, self._outbox.sent(peer, request), request))
        effects, self._effects = self._effects, []
        return effects

    def _send_due_at(self, peer: int) -> float:
        return max(self._request_due_at(peer), self._outbox.retry_at(peer))

    def _request_due_at(self, peer: int) -> float:
        """Return when to send a request to a peer: now (0), never (infinity), or from a time on."""
        match self.role:
            case VoterRole.PROSPECTIVE | VoterRole.CANDIDATE:
                due = peer not in self._granted and peer not in self._refused
            case VoterRole.FOLLOWER:
                # A fetch offset also states that all records below it are durable here.
                due = peer == self.leader_id and self.log.durable_end == self.log.end_offset
                if self._download is not None and self._download.complete:
                    due = False
            case VoterRole.LEADER:
                assert self.leadership is not None
                return self.leadership.begin_due_at(peer, self.settings.fetch_timeout / 2)
            case VoterRole.UNATTACHED:
                due = not self._is_voter
        return 0.0 if due else float("inf")

    def _request_for(self, peer: int) -> Request:
        cluster_id, epoch, node_id = self.settings.cluster_id, self.epoch, self.node_id
        if self.leadership is not None:
            return BeginQuorumEpochRequest(cluster_id, epoch, node_id, self.leadership.confirmations.number)
        if self.role in (VoterRole.FOLLOWER, VoterRole.UNATTACHED):
            if self._download is not None:
                download = self._download
                return FetchSnapshotRequest(cluster_id, epoch, node_id, download.snapshot, download.position)
            return FetchRequest(cluster_id, epoch, node_id, self.log.end, self.settings.fetch_max_wait)
        return VoteRequest(cluster_id, epoch, node_id, self.log.end, pre_vote=self.role is VoterRole.PROSPECTIVE)
