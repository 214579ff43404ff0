"""Deliberately broken cores, each in one place, which the simulation must detect."""

from random import Random

from fencepost.cluster_impl.designs.quorum.raft import effects as fx
from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from fencepost.cluster_impl.designs.quorum.raft.leadership import Leadership
from fencepost.cluster_impl.designs.quorum.raft.log_shape import LogShape
from fencepost.cluster_impl.designs.quorum.raft.messages import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EpochEnd,
    FetchResponse,
    VoteRequest,
)
from fencepost.cluster_impl.designs.quorum.raft.roles import VoterSettings
from fencepost.cluster_impl.designs.quorum.raft.state import QuorumState, VoterRole
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterHistory, VoterSet


class CommitsOlderEpochs(RaftCore):
    """Counts copies of records of an earlier epoch (Raft, 5.4.2, figure 8)."""

    def _become_leader(self, now: float) -> None:
        super()._become_leader(now)
        assert self.leadership is not None
        self.leadership._committable = lambda offset: True  # type: ignore[method-assign]


class ForgetsItsVote(RaftCore):
    """Answers a candidate before the vote is on disk, and after a restart votes again."""

    def _emit(self, effect: fx.Effect) -> None:
        if not isinstance(effect, fx.Persist):
            super()._emit(effect)


class VotesForAnyone(RaftCore):
    """Does not compare logs."""

    def _up_to_date(self, request: VoteRequest) -> bool:
        return True


class NeverTruncates(RaftCore):
    """Keeps records that the leader does not have."""

    def _truncate(self, diverging: EpochEnd, now: float) -> None:
        pass


class TruncatesTooLittle(RaftCore):
    """Trusts the offset alone when the leader's epoch is not in its own log."""

    def _truncate(self, diverging: EpochEnd, now: float) -> None:
        self.log.shape.truncate(diverging.end_offset)
        self.log.durable_end = min(self.log.durable_end, diverging.end_offset)
        self._emit(fx.Truncate(diverging.end_offset))


class CommitsWhatDiverges(RaftCore):
    """Takes the high watermark of a response that asks it to truncate."""

    def _fetch_answered(self, peer: int, response: FetchResponse, now: float) -> None:
        super()._fetch_answered(peer, response, now)
        if response.diverging is not None:
            self.log.commit(min(response.high_watermark, self.log.end_offset))


class NeverResigns(RaftCore):
    """Goes on leading without a majority (KAFKA-15489)."""

    def _resignation_due_at(self) -> float:
        return float("inf")


class CountsBeforeFsync(RaftCore):
    """Counts its own copy as soon as it is written."""

    def _done(self, now: float) -> list[fx.Effect]:
        self.log.durable_end = self.log.end_offset
        return super()._done(now)


class ConfirmsWithoutARound(RaftCore):
    """Confirms its leadership without asking the others."""

    def confirm(self, token: object, now: float) -> list[fx.Effect]:
        return [*super().tick(now), fx.LeadershipConfirmation((token,))]


class ConfirmsByEarlierAnswers(RaftCore):
    """Counts responses to messages that were sent before the confirmation was requested."""

    def _begin_answered(
        self, peer: int, request: BeginQuorumEpochRequest, response: BeginQuorumEpochResponse, now: float
    ) -> None:
        super()._begin_answered(peer, request, response, now)
        if self.leadership is not None and not response.error:
            self.leadership.followers[peer].round_accepted = self.leadership.confirmations.number


class LeadsWithoutAMajority(RaftCore):
    """Counts one other vote as enough, however many voters there are."""

    def _count_votes(self, now: float) -> None:
        if self.role is VoterRole.CANDIDATE and len(self._granted) == 2:
            self._become_leader(now)
        elif self.role is not VoterRole.LEADER:
            super()._count_votes(now)


class ServesWhatIsCut(RaftCore):
    """Never sends a follower to a snapshot."""

    def _become_leader(self, now: float) -> None:
        super()._become_leader(now)
        self.log.needs_snapshot = lambda fetcher_end: False  # type: ignore[method-assign]


class SnapshotsUncommitted(RaftCore):
    """Makes a snapshot of its whole log."""

    def snapshot_point(self) -> EpochEnd:
        return self.log.end


class KeepsItsLogAfterASnapshot(RaftCore):
    """Goes on behind its old log when it has fetched a snapshot."""

    def snapshot_installed(self, snapshot: EpochEnd, now: float, voters: VoterSet | None = None) -> list[fx.Effect]:
        self._download = None
        return self._done(now)


class ForgetsWhatASnapshotCommits(RaftCore):
    """Does not cut an old log that ends in an epoch the snapshot does not know."""

    def snapshot_installed(self, snapshot: EpochEnd, now: float, voters: VoterSet | None = None) -> list[fx.Effect]:
        effects = super().snapshot_installed(snapshot, now, voters)
        self.log.shape = LogShape((), snapshot.end_offset, EpochEnd(0, snapshot.end_offset))
        return effects


class CountsTheOldVoters(RaftCore):
    """Counts by the set with which its leadership began, though it appended another one."""

    def _voters_changed(self, now: float) -> None:
        if self.leadership is None:
            super()._voters_changed(now)


class ChangesTwoAtOnce(RaftCore):
    """Appends a set of voters while the one before it is not committed."""

    def _change_in_flight(self) -> bool:
        return False


class ChangesBeforeItsOwnEpoch(RaftCore):
    """Changes the voters before it has committed a record of its own epoch."""

    def _committed_its_epoch(self, leadership: Leadership) -> bool:
        return True


class KeepsTruncatedVoters(RaftCore):
    """Goes on with a set of voters whose record was truncated."""

    def _truncate(self, diverging: EpochEnd, now: float) -> None:
        before, self.voters = self.voters, VoterHistory(self.voters.latest)
        super()._truncate(diverging, now)
        self.voters = before


class CountsItselfWhenRemoved(RaftCore):
    """Counts its own copy for the commit of its own removal."""

    def _voters_changed(self, now: float) -> None:
        super()._voters_changed(now)
        if self.leadership is not None:
            self.leadership.is_voter = True


class StandsWithoutAVote(RaftCore):
    """Asks for votes though it is no voter."""

    def _count_by(self, voters: VoterSet) -> None:
        super()._count_by(voters)
        self._is_voter = True


class ForgetsTheVotersOfItsLog(RaftCore):
    """Begins with the configured voters at each start."""

    def __init__(
        self,
        settings: VoterSettings,
        state: QuorumState,
        log: LogShape,
        random: Random,
        now: float,
        snapshots: tuple[EpochEnd, ...] = (),
        voters: VoterHistory | None = None,
    ) -> None:
        super().__init__(settings, state, log, random, now, snapshots)


SEEN_WHILE_VOTERS_CHANGE: tuple[type[RaftCore], ...] = (
    CountsTheOldVoters,
    ChangesTwoAtOnce,
    ChangesBeforeItsOwnEpoch,
    KeepsTruncatedVoters,
    CountsItselfWhenRemoved,
    StandsWithoutAVote,
    ForgetsTheVotersOfItsLog,
)

SEEN_IN_STORMS: tuple[type[RaftCore], ...] = (
    CommitsOlderEpochs,
    ForgetsItsVote,
    VotesForAnyone,
    NeverTruncates,
    TruncatesTooLittle,
    CommitsWhatDiverges,
    CountsBeforeFsync,
    ConfirmsWithoutARound,
    LeadsWithoutAMajority,
    ServesWhatIsCut,
    SnapshotsUncommitted,
    KeepsItsLogAfterASnapshot,
    ForgetsWhatASnapshotCommits,
)
"""The other two have tests of their own: one only waits too long, one needs a very rare history."""

RARE: dict[type[RaftCore], int] = {CommitsOlderEpochs: 106, CommitsWhatDiverges: 224, LeadsWithoutAMajority: 24}
"""The first seed to try per broken core: it showed the defect when this was written, which saves time."""
