"""The core's single decisions. Histories of many nodes are in test_simulation."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

import pytest

from fencepost.cluster_impl.designs.quorum.raft import effects as fx
from fencepost.cluster_impl.designs.quorum.raft.core import NotLeader, RaftCore
from fencepost.cluster_impl.designs.quorum.raft.log_shape import LogShape
from fencepost.cluster_impl.designs.quorum.raft.messages import (
    OBSERVER,
    UNKNOWN_EPOCH,
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EpochEnd,
    FetchRequest,
    FetchResponse,
    RaftBatch,
    Request,
    Response,
    VoteRequest,
    VoteResponse,
)
from fencepost.cluster_impl.designs.quorum.raft.replicated_log import CommittedRecordsAtRisk
from fencepost.cluster_impl.designs.quorum.raft.roles import VoterSettings
from fencepost.cluster_impl.designs.quorum.raft.state import QuorumState, VoterRole
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.raft import mutants

CLUSTER = "cluster"
FETCH_TIMEOUT = 2.0
ELECTION_TIMEOUT = 1.0
EMPTY = EpochEnd(0, 0)

Kind = TypeVar("Kind")


def of_kind(effects: Sequence[fx.Effect], kind: type[Kind]) -> list[Kind]:
    return [effect for effect in effects if isinstance(effect, kind)]


def the(effects: Sequence[fx.Effect], kind: type[Kind]) -> Kind:
    """Return the only effect of a type."""
    (effect,) = of_kind(effects, kind)
    return effect


class Voter:
    """Node 1 of 1, 2 and 3; the test passes the time and the responses of its peers."""

    def __init__(
        self,
        state: QuorumState | None = None,
        epochs: Sequence[tuple[int, int]] = (),
        end: int = 0,
        core: type[RaftCore] = RaftCore,
    ) -> None:
        settings = VoterSettings(1, frozenset({1, 2, 3}), CLUSTER, ELECTION_TIMEOUT, FETCH_TIMEOUT)
        self.now = 0.0
        self.core = core(settings, state or QuorumState(), LogShape(epochs, end), Random(1), self.now)
        self.sent: dict[int, fx.Send] = {}

    def note(self, effects: list[fx.Effect]) -> list[fx.Effect]:
        self.sent |= {send.peer: send for send in of_kind(effects, fx.Send)}
        return effects

    def tick(self, after: float = 0.0) -> list[fx.Effect]:
        self.now += after
        return self.note(self.core.tick(self.now))

    def receive(self, request: Request) -> list[fx.Effect]:
        return self.note(self.core.receive(request, "token", self.now))

    def reply(self, request: Request) -> Response:
        return the(self.receive(request), fx.Reply).response

    def answer(self, peer: int, response: Response) -> list[fx.Effect]:
        """Answer the last request to the peer."""
        return self.note(self.core.answered(peer, self.sent[peer].correlation, response, self.now))

    def flush(self) -> list[fx.Effect]:
        return self.note(self.core.flushed(self.core.log.end_offset, self.now))

    def lead(self) -> list[fx.Effect]:
        """Win an election by the vote of 2, and make the opening batch durable."""
        self.tick(ELECTION_TIMEOUT)
        self.answer(2, VoteResponse(Error.NONE, self.core.epoch, None, granted=True))
        effects = self.answer(2, VoteResponse(Error.NONE, self.core.epoch, None, granted=True))
        return effects + self.flush()

    def fetch(self, replica: int, log_end: EpochEnd, epoch: int | None = None) -> list[fx.Effect]:
        return self.receive(FetchRequest(CLUSTER, self.core.epoch if epoch is None else epoch, replica, log_end, 0.5))

    def follow(self, leader: int, epoch: int) -> list[fx.Effect]:
        return self.receive(BeginQuorumEpochRequest(CLUSTER, epoch, leader))


def vote(epoch: int, candidate: int = 2, log_end: EpochEnd = EMPTY, pre_vote: bool = False) -> VoteRequest:
    return VoteRequest(CLUSTER, epoch, candidate, log_end, pre_vote)


def granted(response: Response) -> bool:
    assert isinstance(response, VoteResponse)
    return response.granted


# Votes


def test_a_vote_is_on_disk_before_it_is_given() -> None:
    effects = Voter().receive(vote(epoch=1))
    kinds = [type(effect) for effect in effects]
    assert kinds.index(fx.Persist) < kinds.index(fx.Reply)
    assert of_kind(effects, fx.Persist)[-1].state == QuorumState(1, voted_id=2)


def test_a_candidate_has_its_own_vote_on_disk_before_it_asks() -> None:
    voter = Voter()
    voter.tick(ELECTION_TIMEOUT)
    effects = voter.answer(2, VoteResponse(Error.NONE, 0, None, granted=True))
    kinds = [type(effect) for effect in effects]
    assert the(effects, fx.Persist).state == QuorumState(1, voted_id=1)
    assert kinds.index(fx.Persist) < kinds.index(fx.Send)


def test_one_vote_an_epoch_also_after_a_restart() -> None:
    voter = Voter()
    assert granted(voter.reply(vote(1, candidate=2)))
    assert not granted(voter.reply(vote(1, candidate=3)))
    assert granted(voter.reply(vote(1, candidate=2)))
    restarted = Voter(voter.core.state)
    assert not granted(restarted.reply(vote(1, candidate=3)))


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [
        (EpochEnd(2, 5), True),
        (EpochEnd(2, 6), True),
        (EpochEnd(3, 1), True),
        (EpochEnd(2, 4), False),
        (EpochEnd(1, 9), False),
    ],
)
def test_a_vote_goes_only_to_a_log_at_least_as_up_to_date(theirs: EpochEnd, expected: bool) -> None:
    voter = Voter(QuorumState(3), epochs=[(1, 0), (2, 3)], end=5)
    assert granted(voter.reply(vote(4, log_end=theirs))) is expected
    assert voter.core.epoch == 4


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (VoteRequest("another", 9, 2, EMPTY, False), Error.INCONSISTENT_CLUSTER_ID),
        (VoteRequest("another", 1, 9, EMPTY, False), Error.INCONSISTENT_CLUSTER_ID),
        (VoteRequest(CLUSTER, 1, 9, EMPTY, False), Error.FENCED_LEADER_EPOCH),
        (VoteRequest(CLUSTER, 9, 1, EMPTY, False), Error.INCONSISTENT_VOTER_SET),
        (BeginQuorumEpochRequest(CLUSTER, 1, 2), Error.FENCED_LEADER_EPOCH),
        (EndQuorumEpochRequest(CLUSTER, 1, 2, ()), Error.FENCED_LEADER_EPOCH),
    ],
)
def test_what_is_refused_changes_nothing(request_: Request, error: Error) -> None:
    voter = Voter(QuorumState(5, leader_id=3))
    effects = voter.receive(request_)
    assert the(effects, fx.Reply).response.error is error
    assert not of_kind(effects, fx.Persist)
    assert (voter.core.role, voter.core.epoch, voter.core.leader_id) == (VoterRole.FOLLOWER, 5, 3)


def test_a_follower_that_hears_its_leader_gives_no_pre_vote_and_names_it() -> None:
    voter = Voter()
    voter.follow(leader=3, epoch=1)
    voter.answer(3, FetchResponse(Error.NONE, 1, 3, 0))
    asked = vote(1, pre_vote=True)
    assert voter.reply(asked) == VoteResponse(Error.NONE, 1, 3, granted=False)
    voter.now += FETCH_TIMEOUT / 2
    assert voter.reply(asked) == VoteResponse(Error.NONE, 1, None, granted=True)


def test_a_pre_vote_binds_no_voter() -> None:
    voter = Voter()
    effects = voter.receive(vote(0, candidate=2, pre_vote=True))
    assert granted(the(effects, fx.Reply).response)
    assert not of_kind(effects, fx.Persist)
    assert granted(voter.reply(vote(1, candidate=3)))


def test_an_epoch_grows_only_when_a_majority_would_vote() -> None:
    voter = Voter()
    for _ in range(20):
        voter.tick(2 * ELECTION_TIMEOUT)
        for peer in (2, 3):
            voter.core.failed(peer, voter.sent[peer].correlation, voter.now)
    assert voter.core.role is VoterRole.PROSPECTIVE
    assert voter.core.epoch == 0


# Leading


@pytest.mark.parametrize(("core", "commits"), [(RaftCore, False), (mutants.CommitsOlderEpochs, True)])
def test_copies_of_older_epochs_commit_nothing_before_one_of_the_leaders_own(
    core: type[RaftCore], commits: bool
) -> None:
    leader = Voter(QuorumState(2), epochs=[(1, 0)], end=4, core=core)
    leader.lead()
    effects = leader.fetch(2, EpochEnd(1, 4))
    assert bool(of_kind(effects, fx.HighWatermarkAdvance)) is commits
    leader.fetch(2, EpochEnd(3, 5))
    assert leader.core.log.high_watermark == 5


def test_a_leader_does_not_count_its_own_copy_before_it_is_durable() -> None:
    leader = Voter()
    leader.lead()
    leader.fetch(2, EpochEnd(1, 1))
    appended = leader.core.append([b"a"], leader.now)
    assert the(appended, fx.Flush).end_offset == 2
    assert not of_kind(leader.fetch(2, EpochEnd(1, 2)), fx.HighWatermarkAdvance)
    assert the(leader.flush(), fx.HighWatermarkAdvance).high_watermark == 2


def test_what_is_appended_during_a_flush_shares_the_next() -> None:
    leader = Voter()
    leader.lead()
    assert of_kind(leader.core.append([b"a"], leader.now), fx.Flush)
    for _ in range(5):
        assert not of_kind(leader.core.append([b"b", b"c"], leader.now), fx.Flush)
    assert the(leader.core.flushed(2, leader.now), fx.Flush).end_offset == 12


def test_a_leader_tells_of_its_election_after_its_first_commit() -> None:
    leader = Voter()
    assert not of_kind(leader.lead(), fx.LeaderElection)
    effects = leader.fetch(3, EpochEnd(1, 1))
    kinds = [type(effect) for effect in effects]
    assert kinds.index(fx.HighWatermarkAdvance) < kinds.index(fx.LeaderElection)


def test_a_newer_epoch_deposes_a_leader_and_answers_the_requests_that_wait() -> None:
    leader = Voter()
    leader.lead()
    assert not of_kind(leader.fetch(OBSERVER, EMPTY), fx.Reply)
    effects = leader.receive(vote(7, candidate=3, log_end=EpochEnd(6, 9)))
    assert the(effects, fx.LeaderResignation).epoch == 1
    parked, voted = (reply.response for reply in of_kind(effects, fx.Reply))
    assert parked.error is Error.NOT_LEADER_OR_FOLLOWER
    assert granted(voted)
    with pytest.raises(NotLeader):
        leader.core.append([b"a"], leader.now)


def test_a_leader_that_slept_too_long_resigns_before_it_handles_what_waited_for_it() -> None:
    leader = Voter()
    leader.lead()
    leader.now += FETCH_TIMEOUT
    effects = leader.fetch(2, EpochEnd(1, 1))
    assert the(effects, fx.LeaderResignation)
    assert the(effects, fx.Reply).response.error is Error.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize(("core", "confirmed"), [(RaftCore, False), (mutants.ConfirmsByEarlierAnswers, True)])
def test_a_confirmation_counts_only_answers_to_what_was_sent_after_the_question(
    core: type[RaftCore], confirmed: bool
) -> None:
    leader = Voter(core=core)
    leader.lead()
    accepts = BeginQuorumEpochResponse(Error.NONE, 1, 1)
    # 2 and 3 have yet to answer the announcement of the epoch.
    assert not of_kind(leader.note(leader.core.confirm("question", leader.now)), fx.LeadershipConfirmation)
    effects = leader.answer(2, accepts)
    assert bool(of_kind(effects, fx.LeadershipConfirmation)) is confirmed
    if not confirmed:
        assert the(leader.answer(2, accepts), fx.LeadershipConfirmation).tokens == ("question",)


def test_questions_that_come_during_a_round_share_the_next() -> None:
    leader = Voter()
    leader.lead()
    accepts = BeginQuorumEpochResponse(Error.NONE, 1, 1)
    leader.answer(2, accepts)
    for token in ("a", "b", "c"):
        leader.note(leader.core.confirm(token, leader.now))
    assert the(leader.answer(2, accepts), fx.LeadershipConfirmation).tokens == ("a",)
    assert the(leader.answer(2, accepts), fx.LeadershipConfirmation).tokens == ("b", "c")


def test_a_leader_that_resigns_says_so_with_the_longest_log_first() -> None:
    leader = Voter()
    leader.lead()
    leader.fetch(3, EpochEnd(1, 1))
    notices = of_kind(leader.core.resign(leader.now), fx.Notify)
    assert [end_epoch.peer for end_epoch in notices] == [2, 3]
    assert {end_epoch.request for end_epoch in notices} == {EndQuorumEpochRequest(CLUSTER, 1, 1, (3, 2))}


def test_successors_stand_for_election_in_order() -> None:
    waits = []
    for successors in ((1, 2), (2, 1)):
        voter = Voter()
        voter.follow(leader=3, epoch=1)
        voter.receive(EndQuorumEpochRequest(CLUSTER, 1, 3, successors))
        assert voter.core.leader_id is None
        waits.append(voter.core.deadline() - voter.now)
    assert waits[0] < waits[1] < ELECTION_TIMEOUT


# Fetches


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (FetchRequest("another", 0, 2, EMPTY, 0.5), Error.INCONSISTENT_CLUSTER_ID),
        (FetchRequest(CLUSTER, 4, 2, EMPTY, 0.5), Error.FENCED_LEADER_EPOCH),
        (FetchRequest(CLUSTER, 6, 2, EMPTY, 0.5), Error.UNKNOWN_LEADER_EPOCH),
        (FetchRequest(CLUSTER, 5, 2, EMPTY, 0.5), Error.NOT_LEADER_OR_FOLLOWER),
        (FetchRequest(CLUSTER, UNKNOWN_EPOCH, OBSERVER, EMPTY, 0.5), Error.NOT_LEADER_OR_FOLLOWER),
    ],
)
def test_a_fetch_is_refused_in_the_order_of_its_guards(request_: FetchRequest, error: Error) -> None:
    voter = Voter(QuorumState(5, leader_id=3))
    response = voter.reply(request_)
    assert (response.error, response.epoch, response.leader_id) == (error, 5, 3)


def test_observers_are_served_what_is_committed_and_voters_all() -> None:
    leader = Voter()
    leader.lead()
    assert not of_kind(leader.fetch(OBSERVER, EMPTY), fx.ReplyWithRecords)
    assert the(leader.fetch(2, EMPTY), fx.ReplyWithRecords).limit == 1
    effects = leader.fetch(2, EpochEnd(1, 1))
    assert [reply.limit for reply in of_kind(effects, fx.ReplyWithRecords)] == [1], "the observer that waited"
    assert the(effects, fx.Reply).response == FetchResponse(Error.NONE, 1, 1, 1), "the voter hears of the commit"


def test_a_fetch_from_no_voter_or_in_no_epoch_moves_nothing() -> None:
    leader = Voter()
    leader.lead()
    for replica in (OBSERVER, 1, 9):
        leader.fetch(replica, EpochEnd(1, 1))
    refused = leader.fetch(2, EpochEnd(1, 1), epoch=UNKNOWN_EPOCH)
    assert the(refused, fx.Reply).response.error is Error.FENCED_LEADER_EPOCH
    assert leader.core.log.high_watermark == 0
    leader.tick(FETCH_TIMEOUT)
    assert leader.core.role is not VoterRole.LEADER


def test_a_log_that_diverges_learns_where_and_is_not_counted() -> None:
    leader = Voter(QuorumState(3), epochs=[(1, 0), (3, 4)], end=6)
    leader.lead()
    effects = leader.fetch(2, EpochEnd(2, 7))
    assert the(effects, fx.Reply).response == FetchResponse(Error.NONE, 4, 1, 0, diverging=EpochEnd(1, 4))
    assert leader.core.log.high_watermark == 0


@pytest.mark.parametrize(("core", "commits"), [(RaftCore, False), (mutants.CommitsWhatDiverges, True)])
def test_an_answer_that_truncates_commits_nothing(core: type[RaftCore], commits: bool) -> None:
    follower = Voter(epochs=[(1, 0), (2, 3), (4, 5)], end=8, core=core)
    follower.follow(leader=2, epoch=5)
    effects = follower.answer(2, FetchResponse(Error.NONE, 5, 2, 7, diverging=EpochEnd(3, 7)))
    assert the(effects, fx.Truncate).end_offset == 5
    assert bool(of_kind(effects, fx.HighWatermarkAdvance)) is commits


def test_a_follower_never_truncates_what_is_committed() -> None:
    follower = Voter(epochs=[(1, 0)], end=8)
    follower.follow(leader=2, epoch=2)
    follower.answer(2, FetchResponse(Error.NONE, 2, 2, high_watermark=6))
    with pytest.raises(CommittedRecordsAtRisk, match="to 5, below its high watermark 6"):
        follower.answer(2, FetchResponse(Error.NONE, 2, 2, diverging=EpochEnd(1, 5)))


def test_a_follower_fetches_on_only_when_what_it_has_is_durable() -> None:
    follower = Voter()
    follower.follow(leader=2, epoch=1)
    effects = follower.answer(2, FetchResponse(Error.NONE, 1, 2, 0, batches=(RaftBatch(0, 3, 1, b""),)))
    assert the(effects, fx.Flush).end_offset == 3
    assert not of_kind(effects, fx.Send)
    request = the(follower.flush(), fx.Send).request
    assert isinstance(request, FetchRequest)
    assert request.log_end == EpochEnd(1, 3)


def test_batches_that_leave_a_hole_are_not_appended() -> None:
    follower = Voter()
    follower.follow(leader=2, epoch=1)
    effects = follower.answer(2, FetchResponse(Error.NONE, 1, 2, 9, batches=(RaftBatch(1, 3, 1, b""),)))
    assert not of_kind(effects, fx.Append)
    assert follower.core.log.high_watermark == 0
    assert not of_kind(effects, fx.Send), "asked again after a pause"


def test_an_answer_that_is_no_longer_awaited_changes_nothing() -> None:
    follower = Voter(epochs=[(1, 0)], end=8)
    follower.follow(leader=2, epoch=2)
    stale = follower.sent[2]
    follower.follow(leader=3, epoch=3)
    late = FetchResponse(Error.NONE, 3, 3, diverging=EpochEnd(1, 2))
    assert not follower.core.answered(2, stale.correlation, late, follower.now)
    assert follower.core.log.end_offset == 8


def test_a_follower_of_a_leader_that_says_it_leads_no_more_stands_soon() -> None:
    follower = Voter()
    follower.follow(leader=2, epoch=1)
    follower.answer(2, FetchResponse(Error.NOT_LEADER_OR_FOLLOWER, 1, None))
    assert follower.core.leader_id is None
    assert follower.core.deadline() - follower.now <= ELECTION_TIMEOUT
