"""The decisions of Raft: the pull-based protocol of KIP-595, with the pre-vote of KIP-996 and the snapshots of KIP-630.

`RaftCore` takes an input and the time and returns effects. It does no I/O, reads no clock, and takes election jitter
from the random generator that it is given, so one seed determines a whole history. Before each input it handles the
timers that have run out: a leader that was paused for long resigns before it handles the requests that waited in its
sockets.

Pre-vote takes the place of leader stickiness: a voter that is cut off never raises its epoch, so its return deposes no
leader, and a real vote is decided as in plain Raft.
"""

from collections.abc import Sequence

from fencepost.cluster_impl.designs.quorum.raft import effects as fx
from fencepost.cluster_impl.designs.quorum.raft.leadership import Follower, Leadership, ParkedFetch
from fencepost.cluster_impl.designs.quorum.raft.log_shape import LogShape
from fencepost.cluster_impl.designs.quorum.raft.messages import (
    UNKNOWN_EPOCH,
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    EpochEnd,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    RaftBatch,
    Request,
    Response,
    VoteRequest,
    VoteResponse,
)
from fencepost.cluster_impl.designs.quorum.raft.roles import RoleMachine, SnapshotDownload
from fencepost.cluster_impl.designs.quorum.raft.state import VoterRole
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterHistory, VoterSet
from fencepost.cluster_impl.failures import NodeFailure
from fencepost.cluster_impl.wire.errors import Error

SNAPSHOTS_KEPT = 2
"""The log starts at the older one, so that a damaged newer one loses nothing (decision 0053)."""


class NotLeader(Exception):
    """This node does not lead the metadata quorum in the requested epoch."""


class VoterChangeRefused(Exception):
    """The set of voters cannot be changed so now. The message says why."""


class CommittedRecordsAtRisk(NodeFailure):
    """The leader asks this voter to remove records that it knows to be committed (KAFKA-12460). It must stop."""


class RaftCore(RoleMachine):
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
        self._emit(fx.AppendRecords(self.log.end_offset, self.epoch, records))
        self.log.append(self.epoch, self.log.end_offset + len(records))
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
        self._emit(fx.AppendVoters(offset, self.epoch, voters))
        self.log.append(self.epoch, offset + 1)
        self._adopt(offset, voters, now)
        return self._done(now)

    def _committed_its_epoch(self, leadership: Leadership) -> bool:
        return leadership.elected

    def _change_in_flight(self) -> bool:
        return self.voters.last_offset >= self.high_watermark

    def _adopt(self, offset: int, voters: VoterSet, now: float) -> None:
        self.voters.append(offset, voters)
        self._voters_changed(now)

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
        assert end_offset <= self.log.end_offset, "nothing is truncated while a flush runs"
        self._flushing = False
        self.durable_end = end_offset
        self._expire(now)
        self._cut_log()
        return self._done(now)

    def snapshot_point(self) -> EpochEnd:
        """Return where a snapshot of the committed records ends now."""
        return self.log.end_at(self.high_watermark)

    def snapshot_written(self, snapshot: EpochEnd, now: float) -> list[fx.Effect]:
        """Handle that a snapshot that this node made is durable; the log is cut behind the one before it."""
        self._expire(now)
        if not self.snapshots or snapshot.end_offset > self.snapshots[-1].end_offset:
            self.snapshots = (*self.snapshots, snapshot)[-SNAPSHOTS_KEPT:]
        self._cut_log()
        return self._done(now)

    def snapshot_installed(self, snapshot: EpochEnd, now: float, voters: VoterSet | None = None) -> list[fx.Effect]:
        """Handle that a fetched snapshot has taken the place of the log. `voters` is the set in it, None for none."""
        self._download = None
        self.voters = VoterHistory(self.voters.first if voters is None else voters)
        self._voters_changed(now)
        self.snapshots = (snapshot,)
        self.log = LogShape((), snapshot.end_offset, snapshot)
        self.durable_end = snapshot.end_offset
        self._commit(snapshot.end_offset)
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

    # Requests

    def _vote(self, request: VoteRequest, now: float) -> VoteResponse:
        if error := self._refusal(request, request.cluster_id, request.candidate_id):
            return VoteResponse(error, self.epoch, self.leader_id)
        self._learn(request.epoch, None, now)
        granted = self._up_to_date(request) and (
            not self._has_live_leader(now) if request.pre_vote else self._may_vote_for(request.candidate_id)
        )
        if granted and not request.pre_vote:
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

    def _begin_quorum_epoch(self, request: BeginQuorumEpochRequest, now: float) -> BeginQuorumEpochResponse:
        error = self._refusal(request, request.cluster_id, request.leader_id)
        if not error:
            self._learn(request.epoch, request.leader_id, now)
            if self.leader_id != request.leader_id:
                error = Error.INVALID_REQUEST
        return BeginQuorumEpochResponse(error, self.epoch, self.leader_id)

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

    def _fetch(self, request: FetchRequest, token: object, now: float) -> FetchResponse | None:
        if error := self._fetch_refusal(request):
            return FetchResponse(error, self.epoch, self.leader_id)
        assert self.leadership is not None
        follower = self.leadership.followers.get(request.replica_id)
        fetcher = follower or self._observer(request, now)
        if fetcher is not None:
            fetcher.heard_at = now
        if follower is None and request.log_end.epoch == UNKNOWN_EPOCH:
            # A plain consumer sends only an offset.
            diverging = None
            if not self.log.start.end_offset <= request.log_end.end_offset <= self.log.end_offset:
                return FetchResponse(Error.OFFSET_OUT_OF_RANGE, self.epoch, self.leader_id)
        elif self._needs_snapshot(request.log_end):
            return self._fetch_response(snapshot=self.snapshots[-1])
        else:
            diverging = self.log.divergence(request.log_end)
        if diverging is not None:
            return self._fetch_response(diverging)
        if fetcher is not None:
            # Within one epoch a matching log is never truncated, so a late fetch must not lower a voter's offset.
            least = 0 if follower is None else follower.end_offset
            fetcher.fetched(max(least, request.log_end.end_offset), self.log.end_offset, now)
        deadline = now + min(request.max_wait, self.settings.fetch_max_wait)
        self.leadership.parked.append(ParkedFetch(token, request, deadline))
        return None

    def _observer(self, request: FetchRequest, now: float) -> Follower | None:
        """Return the progress of a fetcher without a vote, None if it has no name."""
        assert self.leadership is not None
        if request.broker_id is not None:
            return self.leadership.brokers.setdefault(request.broker_id, Follower(now))
        if request.replica_id >= 0:
            return self.leadership.observers.setdefault(request.replica_id, Follower(now))
        return None

    def _needs_snapshot(self, log_end: EpochEnd) -> bool:
        return not self.log.reaches(log_end)

    def _fetch_snapshot(self, request: FetchSnapshotRequest, token: object, now: float) -> FetchSnapshotResponse | None:
        error = self._fetch_refusal(request)
        if not error:
            assert self.leadership is not None
            if request.replica_id in self.leadership.followers:
                # Also a sign of life: a follower may fetch a large snapshot for longer than the fetch timeout.
                self.leadership.followers[request.replica_id].heard_at = now
            if request.snapshot not in self.snapshots:
                error = Error.SNAPSHOT_NOT_FOUND
        response = FetchSnapshotResponse(error, self.epoch, self.leader_id, request.snapshot)
        if error:
            return response
        self._emit(fx.ReplyWithSnapshot(token, request, response))
        return None

    def _fetch_refusal(self, request: FetchRequest | FetchSnapshotRequest) -> Error:
        if request.cluster_id not in (None, self.settings.cluster_id):
            return Error.INCONSISTENT_CLUSTER_ID
        may_not_know = request.epoch == UNKNOWN_EPOCH and request.replica_id not in self._peers
        if request.epoch != self.epoch and not may_not_know:
            return Error.FENCED_LEADER_EPOCH if request.epoch < self.epoch else Error.UNKNOWN_LEADER_EPOCH
        return Error.NONE if self.role is VoterRole.LEADER else Error.NOT_LEADER_OR_FOLLOWER

    def _fetch_response(self, diverging: EpochEnd | None = None, snapshot: EpochEnd | None = None) -> FetchResponse:
        return FetchResponse(
            Error.NONE,
            self.epoch,
            self.leader_id,
            self.high_watermark,
            diverging,
            snapshot=snapshot,
            log_start=self.log.start.end_offset,
        )

    def _refusal(self, request: Request, cluster_id: str | None, sender: int) -> Error:
        """Check what every request from a voter must meet (KIP-595): this cluster, a current epoch, another node.

        The sender need not be in this node's own set of voters, which may be an old one (KIP-853).
        """
        if cluster_id not in (None, self.settings.cluster_id):
            return Error.INCONSISTENT_CLUSTER_ID
        if request.epoch < self.epoch:
            return Error.FENCED_LEADER_EPOCH
        return Error.INCONSISTENT_VOTER_SET if sender == self.node_id or sender < 0 else Error.NONE

    # Answers

    def _vote_answered(self, peer: int, response: VoteResponse, now: float) -> None:
        (self._granted if response.granted and not response.error else self._refused).add(peer)
        self._count_votes(now)

    def _begin_answered(
        self, peer: int, request: BeginQuorumEpochRequest, response: BeginQuorumEpochResponse, now: float
    ) -> None:
        if response.error or response.epoch != self.epoch or self.leadership is None:
            self._outbox.pause(peer, now)
            return
        follower = self.leadership.followers.get(peer)
        if follower is not None:
            follower.begun_at, follower.round_accepted = now, request.round

    def _fetch_answered(self, peer: int, response: FetchResponse, now: float) -> None:
        if self.role is not VoterRole.FOLLOWER:
            # Asked for the leader, by a node without a vote: the responder knows none.
            self._outbox.pause(peer, now)
        elif response.error is Error.NOT_LEADER_OR_FOLLOWER:
            self._lost_leader(now)
        elif response.error or not self._continues_log(response.batches):
            self._outbox.pause(peer, now)
        else:
            self._heard_leader_at = now
            self._timer = now + self._leader_timeout()
            if response.snapshot is not None:
                self._begin_download(response.snapshot)
            elif response.diverging is None:
                self._take(response, now)
            else:
                # The rest may still differ from the leader's log, so it commits nothing before the next response.
                self._truncate(response.diverging, now)

    def _lost_leader(self, now: float) -> None:
        """Give up a leader that no longer leads this epoch; no other voter ever will."""
        self._become_unattached(self.epoch, now)
        self._timer = now + self._back_off()
        for node_id in self._targets() if not self._is_voter else ():
            self._outbox.pause(node_id, now)

    def _take(self, response: FetchResponse, now: float) -> None:
        for batch in response.batches:
            self.log.append(batch.epoch, batch.next_offset)
        if response.batches:
            self._emit(fx.Append(response.batches))
        for batch in response.batches:
            if batch.voters is not None:
                self._adopt(batch.base_offset, batch.voters, now)
        self._commit(min(response.high_watermark, self.log.end_offset))

    def _continues_log(self, batches: Sequence[RaftBatch]) -> bool:
        last = self.log.end
        for batch in batches:
            if batch.base_offset != last.end_offset or not last.epoch <= batch.epoch <= self.epoch:
                return False
            last = EpochEnd(batch.epoch, batch.next_offset)
        return True

    def _truncate(self, diverging: EpochEnd, now: float) -> None:
        end_offset = self.log.truncation_point(diverging)
        if end_offset < self.high_watermark:
            raise CommittedRecordsAtRisk(
                f"node {self.node_id}: leader {self.leader_id} of epoch {self.epoch} asks to truncate to "
                f"{end_offset}, below its high watermark {self.high_watermark}: committed metadata was lost elsewhere"
            )
        self.log.truncate(end_offset)
        self.durable_end = min(self.durable_end, end_offset)
        self._emit(fx.Truncate(end_offset))
        if self.voters.truncate(end_offset):
            self._voters_changed(now)

    def _begin_download(self, snapshot: EpochEnd) -> None:
        if snapshot.end_offset <= self.high_watermark:
            raise CommittedRecordsAtRisk(
                f"node {self.node_id}: leader {self.leader_id} of epoch {self.epoch} offers a snapshot that ends at "
                f"{snapshot.end_offset}, not above its high watermark {self.high_watermark}: committed metadata was "
                "lost elsewhere"
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
            self._heard_leader_at = now
            self._timer = now + self._leader_timeout()
            self._emit(fx.StoreSnapshotPart(request.snapshot, response.position, response.data))
            download.position += len(response.data)
            if download.position >= response.size:
                download.complete = True
                self._emit(fx.InstallSnapshot(request.snapshot))

    def _cut_log(self) -> None:
        """Cut the log behind the older of two snapshots.

        Called before this input is handled: every parked fetch then waits for records behind the high watermark.
        """
        full = len(self.snapshots) == SNAPSHOTS_KEPT
        if full and not self._flushing and self.log.start.end_offset < self.snapshots[0].end_offset:
            self.log.cut(self.snapshots[0])
            self._emit(fx.CutLog(self.snapshots))

    # After every input

    def _done(self, now: float) -> list[fx.Effect]:
        self._expire(now)
        if self.durable_end < self.log.end_offset and not self._flushing:
            self._flushing = True
            self._emit(fx.Flush(self.log.end_offset))
        if self.leadership is not None:
            self._lead(self.leadership, now)
        for peer in self._targets():
            if self._outbox.idle(peer) and self._send_due_at(peer) <= now:
                request = self._request_for(peer)
                self._emit(fx.Send(peer, self._outbox.sent(peer, request), request))
        effects, self._effects = self._effects, []
        return effects

    def _lead(self, leadership: Leadership, now: float) -> None:
        replicated = leadership.replicated(self.durable_end)
        if self._committable(leadership, replicated):
            self._commit(replicated)
        if not leadership.elected and self.high_watermark > leadership.start_offset:
            leadership.elected = True
            self._emit(fx.LeaderElection(self.epoch))
        self._confirm_rounds(leadership)
        leadership.parked = [parked for parked in leadership.parked if not self._answer_fetch(leadership, parked, now)]
        if not leadership.is_voter and not self._change_in_flight():
            # Its own removal is committed.
            self._end_leadership(now)

    def _committable(self, leadership: Leadership, offset: int) -> bool:
        """Only a record of the leader's own epoch commits the records before it (Raft, 5.4.2)."""
        return offset > leadership.start_offset

    def _commit(self, offset: int) -> None:
        if offset > self.high_watermark:
            self.high_watermark = offset
            self._emit(fx.HighWatermarkAdvance(offset))

    def _confirm_rounds(self, leadership: Leadership) -> None:
        rounds = leadership.confirmations
        while True:
            if leadership.round_confirmed():
                self._emit(fx.LeadershipConfirmation(rounds.finish()))
            if not rounds.start_next():
                return

    def _answer_fetch(self, leadership: Leadership, parked: ParkedFetch, now: float) -> bool:
        """Answer a parked fetch if there is something to send; return whether it is answered.

        Voters get all records, observers only committed ones. A voter also learns of a new high watermark at once.
        """
        start = parked.request.log_end
        follower = leadership.followers.get(parked.request.replica_id)
        limit = self.high_watermark if follower is None else self.log.end_offset
        if limit > start.end_offset:
            self._emit(fx.ReplyWithRecords(parked.token, self._fetch_response(), start, limit))
        elif now >= parked.deadline or (follower and follower.high_watermark_sent < self.high_watermark):
            self._emit(fx.Reply(parked.token, self._fetch_response()))
        else:
            return False
        if follower is not None:
            follower.high_watermark_sent = self.high_watermark
        return True

    def _send_due_at(self, peer: int) -> float:
        return max(self._request_due_at(peer), self._outbox.retry_at(peer))

    def _request_due_at(self, peer: int) -> float:
        """Return when to send a request to a peer: now (0), never (infinity), or from a time on."""
        match self.role:
            case VoterRole.PROSPECTIVE | VoterRole.CANDIDATE:
                due = peer not in self._granted and peer not in self._refused
            case VoterRole.FOLLOWER:
                # A fetch offset also states that all records below it are durable here.
                due = peer == self.leader_id and self.durable_end == self.log.end_offset
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
