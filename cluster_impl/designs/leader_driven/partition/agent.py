"""One hosted replica of a partition: stands for election, leads, follows ("State change operations")."""

from __future__ import annotations

import logging
from enum import Enum
from typing import TypeVar

from cluster_impl.coordination.steps import Found, Steps, read
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.partition import becoming_leader, election, isr_change
from cluster_impl.designs.leader_driven.partition.balancing import Balancing
from cluster_impl.designs.leader_driven.partition.commit_loop import CommitLoop, Verdict
from cluster_impl.designs.leader_driven.partition.situation import Situation, read_assigned, read_situation
from cluster_impl.designs.leader_driven.partition.surroundings import Surroundings
from cluster_impl.designs.leader_driven.partition.tenure import (
    EpochOver,
    StorageFailed,
    Tenure,
    Topic,
    following,
    without_leader,
)
from cluster_impl.designs.leader_driven.state_changes.handling import NotReplicaForPartition, NotStarted
from cluster_impl.designs.leader_driven.znodes import InSync, Leader
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.replication.control_plane import (
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    PartitionRemoved,
    ReplicaStopped,
    TopicPartition,
)
from cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

T = TypeVar("T")


class State(Enum):
    STOPPED = "not started in the present session"
    WITHOUT_LEADER = "nobody leads, or nobody that it knows"
    STANDING = "waits PreferredReplicaTime before it stands for election"
    FOLLOWING = "follows"
    CATCHING_UP = "has won, and waits for its followers; clients are not served yet"
    LEADING = "leads"
    FAILED = "its log dir has failed"


class ReplicaAgent:
    """The state machine of one replica on this broker. Times are seconds on a monotonic clock.

    Each method that returns Steps is one input. They run one at a time, to their end or until they are closed since the
    session is over, then `session_lost` follows; only `alter_isr` may run beside them. `next_tick` is asked after each.
    What is decided is handed to the data plane at once, between two steps: a leader has stopped before it deletes
    /leader.

    MalformedZnode never leaves an input but `start`: it is logged, and all is read again after LeaderElectionWaitTime.
    """

    def __init__(self, around: Surroundings, partition: TopicPartition) -> None:
        self.partition = partition
        self.state = State.STOPPED
        self._around = around
        self._topic: Topic | None = None
        self._following: Leader | None = None
        self._loop: CommitLoop | None = None
        self._catching_up_since = 0.0
        self._balancing = Balancing(around.config.election_wait)
        self._is_open = False
        """Whether the data plane has the replica."""
        self._is_barred = False
        """It began empty where there are in-sync replicas: it may have been one, and has lost what it had."""
        self._relook_at: float | None = None
        """When it looks whether it is still named, once after it was started."""
        self._due: float | None = None

    @property
    def leads(self) -> bool:
        """Whether it has an epoch of its own, also while clients are not served yet."""
        return self._loop is not None

    @property
    def knows_reassigned(self) -> bool:
        """Whether it leads a partition that it knows to be in /partitions_reassigned: then it looks again by itself.
        `reassigned_changed` is for what is there and not known, or known and not there."""
        return self._loop is not None and self._loop.knows_reassigned

    @property
    def epoch(self) -> int | None:
        """At which it leads or follows."""
        if self._loop is not None:
            return self._loop.tenure.epoch
        return self._following.epoch if self._following is not None else None

    def next_tick(self) -> float | None:
        """When `tick` is due; None: never, before the next input."""
        if self._relook_at is None or self.state not in (State.WITHOUT_LEADER, State.FOLLOWING):
            return self._due
        return self._relook_at if self._due is None else min(self._due, self._relook_at)

    def start(self, now: float) -> Steps[None]:
        """ "startReplica". Raises NotStarted, NotReplicaForPartition among them, or MalformedZnode."""
        if self.state is State.FAILED:
            raise NotStarted("its log dir has failed")
        found = yield from read_situation(self.partition)
        topic = yield from read(znodes.topic(self.partition.topic))
        if self._me not in found.assigned.members or not isinstance(topic, Found):
            raise NotReplicaForPartition("neither the assignment nor a reassignment names this broker")
        if found.assigned.is_deleted:
            raise NotStarted("the partition is to be deleted")  # AR names it until all have closed
        info = znodes.read_topic(self.partition.topic, topic.data)
        self._open(Topic(znodes.topic_id(self.partition.topic, topic.stat.czxid), info.config), found, now)
        yield from self._guarded(self._decide(found, now), now)

    def close(self, now: float) -> Steps[None]:
        """ "closeReplica". A leader that closes lets the others elect. Raises NotStarted if the log dir has failed."""
        loop, self._loop = self._loop, None
        topic_id = self._topic.topic_id if self._topic is not None else None
        name = self.partition
        removed = PartitionRemoved(topic=name.topic, topic_id=topic_id, partition=name.partition)
        failed = self._around.data_plane.apply([removed])
        self._rest(State.FAILED if self.state is State.FAILED else State.STOPPED)
        self._is_open = self._is_barred = False
        if loop is not None:
            if loop.reassignment is not None:
                yield from self._guarded(loop.reassignment.finish_closed(loop.tenure), now)
            self._due = None
            yield from election.give_up(self.partition)
            if loop.reassignment is not None and loop.reassignment.gives_up_leadership(self._me):
                loop.reassignment.left(loop.tenure)
        if failed:
            raise NotStarted("its log dir has failed")

    def leader_changed(self, now: float) -> Steps[None]:
        """The watch on /leader was told ("onLeaderChange")."""
        if self.state in (State.STOPPED, State.FAILED):
            return
        self._around.monitor.leader_changed(self.partition)
        yield from self._guarded(self._look(now), now)

    def reassigned_changed(self, now: float) -> Steps[None]:
        """/partitions_reassigned has the partition now, or has it no more. Concerns a leader only; a new one reads it
        when it begins to serve."""
        if self.state is State.LEADING:
            yield from self._guarded(self._notice(now), now)

    def tick(self, now: float) -> Steps[None]:
        """Nothing happens before `next_tick`."""
        due = self.next_tick()
        if due is None or now < due:
            return
        match self.state:
            case State.WITHOUT_LEADER | State.FOLLOWING:
                yield from self._guarded(self._look_again(now), now)
            case State.STANDING:
                yield from self._guarded(self._stand(now), now)
            case State.CATCHING_UP:
                yield from self._guarded(self._catch_up(now), now)
            case State.LEADING:
                yield from self._guarded(self._lead(now), now)
            case State.STOPPED | State.FAILED:
                self._due = None

    def log_dir_failed(self, now: float) -> Steps[None]:
        """For good: it leads nothing any more and stands for no election."""
        led = self.leads
        self._loop = None
        self._rest(State.FAILED)
        if led:
            yield from election.give_up(self.partition)

    def session_lost(self) -> None:
        """Whatever it led or followed ends at once; `start` begins anew."""
        if self.state not in (State.STOPPED, State.FAILED):
            self._stop()
            self._rest(State.STOPPED)

    def alter_isr(self, proposal: IsrProposal, now: float) -> Steps[IsrOutcome]:
        """The data plane's wish for another ISR: compare-and-set on /ISR within the epoch."""
        loop = self._loop
        if loop is None or not loop.tenure.allows(proposal):
            return IsrRefused(Error.FENCED_LEADER_EPOCH)
        if loop.tenure.leaves_no_heir(proposal):
            return IsrRefused(Error.INELIGIBLE_REPLICA)  # the version is as it was, so it may be asked again
        wanted = InSync(proposal.isr, proposal.leader_epoch, proposal.version)
        try:
            found = yield from isr_change.write_once(self.partition, wanted)
        except MalformedZnode as error:
            log.error("%s", error)
            found = None
        if found is None or found.epoch != wanted.epoch:
            if self._loop is loop:
                self._due = now
            return IsrRefused(Error.FENCED_LEADER_EPOCH)
        is_written = found.version == wanted.version + 1 and found.isr == wanted.isr
        if self._loop is loop:
            loop.tenure.adopt_isr(found)
            yield from self._guarded(self._tell_data_plane(loop.tenure), now)
        if is_written:
            return IsrAccepted(isr=found.isr, leader_epoch=found.epoch, version=found.version)
        return IsrRefused(Error.INVALID_UPDATE_VERSION)

    @property
    def _me(self) -> int:
        return self._around.broker_id

    def _guarded(self, steps: Steps[None], now: float) -> Steps[None]:
        try:
            yield from steps
        except MalformedZnode as error:
            log.error("%s", error)
            self._due = now + self._around.config.election_wait
        except EpochOver:
            log.warning("%s: broker %d leads no more, the epoch is another one", self.partition, self._me)
            yield from self._make_way(now)
        except StorageFailed:
            yield from self.log_dir_failed(now)

    def _look(self, now: float) -> Steps[None]:
        found = yield from read_situation(self.partition)
        yield from self._decide(found, now)

    def _look_again(self, now: float) -> Steps[None]:
        """Who was started by the last moments of an assignment is asked by nobody to close: it sees to that itself."""
        is_relook = self._relook_at is not None and now >= self._relook_at
        found = yield from read_situation(self.partition)
        if is_relook:
            self._relook_at = None
            if found.assigned.ar is not None and self._me not in found.assigned.members:
                log.info("%s: closed, since it was started for an assignment that is over", self.partition)
                yield from self.close(now)
                return
        yield from self._decide(found, now)

    def _decide(self, found: Situation, now: float) -> Steps[None]:
        leader = found.leader
        if self._me not in found.assigned.members:
            if not (self.leads and found.is_own_leader):  # a leader outside the new replicas sees to the rest first
                self._stop()
                self._rest(State.WITHOUT_LEADER)
        elif leader is None:
            if self.leads:
                self._stop()
            self._await_turn(found, now)
        elif leader.broker_id != self._me:
            if self.leads:
                self._stop()
            self._follow(found, leader, now)
        elif not found.is_own_leader:
            self._wait_for_change(now)  # of an earlier session of this broker, which will take it along
        elif not self.leads:
            yield from election.give_up(self.partition)
            self._wait_for_change(now)

    def _follow(self, found: Situation, leader: Leader, now: float) -> None:
        """ "becomeFollower", in the ISR or not. Where /leader and /ISR differ in epoch a change is about to come."""
        assert self._topic is not None
        if self.state is State.FOLLOWING and self._following == leader:
            self._due = None
        elif not leader.has_epoch or found.in_sync is None or found.in_sync.epoch != leader.epoch:
            self._wait_for_change(now)
        else:
            self._balancing.other_leads()
            self._rest(State.FOLLOWING)
            self._following = leader
            to = following(self.partition, self._topic, found.assigned, leader.broker_id, found.in_sync)
            if self._around.data_plane.apply([to]):
                raise StorageFailed

    def _await_turn(self, found: Situation, now: float) -> None:
        """Stand at once if it is the preferred replica, else after PreferredReplicaTime."""
        if not self._may_stand(found):
            self._wait_for_change(now)
        elif self.state is not State.STANDING:
            is_preferred = found.assigned.preferred == self._me
            self._rest(State.STANDING)
            self._due = now if is_preferred else now + self._around.config.preferred_wait

    def _may_stand(self, found: Situation) -> bool:
        if self._is_barred:
            progress = self._around.data_plane.progress(self.partition)
            self._is_barred = progress is None or progress.began_empty
        return found.is_eligible(self._me) and not (self._is_barred and found.isr)

    def _stand(self, now: float) -> Steps[None]:
        assert self._topic is not None
        outcome = yield from election.stand(self._me, self.partition)
        self._wait_for_change(now)
        if outcome is election.NotWon.OTHER_LEADS:
            yield from self._look(now)
        elif isinstance(outcome, election.Won):
            assert outcome.situation.in_sync is not None
            tenure = Tenure(
                self._around, self.partition, self._topic, outcome.epoch, outcome.situation.in_sync,
                outcome.situation.assigned,
            )  # fmt: skip
            self._rest(State.CATCHING_UP)
            self._loop = CommitLoop(tenure, self._balancing)
            self._catching_up_since = now
            log.info("%s: broker %d leads at epoch %d", self.partition, self._me, outcome.epoch)
            tenure.lead()
            yield from self._catch_up(now)

    def _catch_up(self, now: float) -> Steps[None]:
        """The wait of "becomeLeader", and what follows it."""
        loop = self._leading()
        tenure, config, live = loop.tenure, self._around.config, self._around.live()
        progress = self._around.data_plane.progress(self.partition)
        if progress is None:
            raise StorageFailed
        behind = becoming_leader.behind(self._me, tenure.assigned, live, progress)
        if behind and now < self._catching_up_since + config.keep_in_sync:
            self._due = now + config.tick
            return
        in_sync = becoming_leader.in_sync(self._me, tenure.assigned, live, progress)
        yield from tenure.write_isr(lambda _: in_sync)
        assigned = yield from read_assigned(self.partition)
        tenure.is_open = True
        self.state, self._due = State.LEADING, now
        loop.adopt(assigned)
        tenure.lead()

    def _notice(self, now: float) -> Steps[None]:
        self._leading().adopt((yield from read_assigned(self.partition)))
        self._due = now

    def _lead(self, now: float) -> Steps[None]:
        loop = self._leading()
        progress = self._around.data_plane.progress(self.partition)
        if progress is None:
            raise StorageFailed
        verdict = yield from loop.one_pass(progress, now)
        self._due = now + loop.pause()
        if verdict is Verdict.MAKES_WAY:
            yield from self._make_way(now)
            if loop.reassignment is not None:
                loop.reassignment.left(loop.tenure)

    def _make_way(self, now: float) -> Steps[None]:
        self._stop()
        self._wait_for_change(now)
        yield from election.give_up(self.partition)

    def _tell_data_plane(self, tenure: Tenure) -> Steps[None]:
        tenure.lead()
        yield from ()

    def _leading(self) -> CommitLoop:
        assert self._loop is not None
        return self._loop

    def _open(self, topic: Topic, found: Situation, now: float) -> None:
        if self._topic is not None and self._topic.topic_id != topic.topic_id:
            self._is_open = self._is_barred = False
            self.session_lost()  # of another topic of the name, which ended without a word
        if self.state is not State.STOPPED:
            return
        self._topic = topic
        to = without_leader(self.partition, topic, found.assigned, is_new=self._me not in found.isr)
        if self._around.data_plane.apply([to]):
            self._rest(State.FAILED)
            raise NotStarted("its log dir has failed")
        if not self._is_open:
            progress = self._around.data_plane.progress(self.partition)
            self._is_open = True
            self._is_barred = progress is not None and progress.began_empty and bool(found.isr)
        self._rest(State.WITHOUT_LEADER)
        self._relook_at = now + self._around.config.election_wait

    def _stop(self) -> None:
        self._loop = None
        topic_id = self._topic.topic_id if self._topic is not None else None
        name = self.partition
        self._around.data_plane.apply([ReplicaStopped(topic=name.topic, topic_id=topic_id, partition=name.partition)])

    def _rest(self, state: State) -> None:
        """Nothing is followed, nothing is due."""
        self.state, self._following, self._due = state, None, None

    def _wait_for_change(self, now: float) -> None:
        """Of /leader; and look again if none comes within LeaderElectionWaitTime."""
        if self.state is not State.FOLLOWING:
            self.state = State.WITHOUT_LEADER
        self._due = now + self._around.config.election_wait
