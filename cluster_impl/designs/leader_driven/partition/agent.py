"""One hosted replica of a partition: it stands for election, leads and follows (Replication V2, State change
operations)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from enum import Enum
from typing import TypeVar

from fencepost.cluster_impl.coordination.steps import Found, Steps, read
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.partition import becoming_leader, election, isr_change
from fencepost.cluster_impl.designs.leader_driven.partition.balancing import Balancing
from fencepost.cluster_impl.designs.leader_driven.partition.commit_loop import CommitLoop, PassResult
from fencepost.cluster_impl.designs.leader_driven.partition.leader_term import (
    EpochOver,
    HostedTopic,
    LeaderTerm,
    StorageFailed,
    following,
    without_leader,
)
from fencepost.cluster_impl.designs.leader_driven.partition.replica_context import ReplicaContext
from fencepost.cluster_impl.designs.leader_driven.partition.situation import Situation, read_assigned, read_situation
from fencepost.cluster_impl.designs.leader_driven.state_changes.handling import NotReplicaForPartition, NotStarted
from fencepost.cluster_impl.designs.leader_driven.znodes import IsrState, Leader
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.shared.topic_settings import problem_with, usable
from fencepost.cluster_impl.replication.control_plane import (
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    PartitionRemoved,
    ReplicaStopped,
    SettingsChanged,
    TopicPartition,
)
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

T = TypeVar("T")


class AgentState(Enum):
    """The state of a replica on this broker; each value says what the replica does."""

    STOPPED = "not started in the present session"
    WITHOUT_LEADER = "no leader is known"
    STANDING = "waits for PreferredReplicaTime before it stands for election"
    FOLLOWING = "follows"
    CATCHING_UP = "has won and waits for its followers; does not serve clients yet"
    LEADING = "leads"
    FAILED = "its log dir has failed"


class ReplicaAgent:
    """The state machine of one replica on this broker. Times are seconds on a monotonic clock.

    Each method that returns Steps handles one input. Inputs run one at a time, either to their end or until the session
    is over and they are closed; then `session_lost` follows. Only `alter_isr` may run beside another input. The caller
    reads `next_tick` after each input. The agent hands each decision to the data plane at once, between two steps, so a
    leader has stopped before it deletes /leader.

    Only `start` raises MalformedZnode. The other inputs log it and read everything again after LeaderElectionWaitTime.
    """

    def __init__(self, context: ReplicaContext, partition: TopicPartition) -> None:
        self.partition = partition
        self.state = AgentState.STOPPED
        self._context = context
        self._topic: HostedTopic | None = None
        self._following: Leader | None = None
        self._loop: CommitLoop | None = None
        self._catching_up_since = 0.0
        self._balancing = Balancing(context.config.election_wait)
        self._is_open = False
        """True if the data plane has the replica."""
        self._is_barred = False
        """True if the replica began empty although the partition has in-sync replicas: it may have been one of them and
        have lost its records, so it must not stand for election."""
        self._relook_at: float | None = None
        """When to check, once after a start, that the replica is still assigned to this broker."""
        self._due: float | None = None

    @property
    def leads(self) -> bool:
        """True if the replica has a leader epoch of its own, also before it serves clients."""
        return self._loop is not None

    @property
    def knows_reassigned(self) -> bool:
        """True if the replica leads a partition that it knows to be in /partitions_reassigned.

        Such a leader reads the znode on its own tick. `reassigned_changed` is for the two other cases: a znode that the
        leader does not know of, or one that is gone.
        """
        return self._loop is not None and self._loop.knows_reassigned

    @property
    def epoch(self) -> int | None:
        """The leader epoch at which the replica leads or follows, or None."""
        if self._loop is not None:
            return self._loop.leader_term.epoch
        return self._following.epoch if self._following is not None else None

    def next_tick(self) -> float | None:
        """Return when `tick` is due, or None if it is not due before the next input."""
        if self._relook_at is None or self.state not in (AgentState.WITHOUT_LEADER, AgentState.FOLLOWING):
            return self._due
        return self._relook_at if self._due is None else min(self._due, self._relook_at)

    def start(self, now: float) -> Steps[None]:
        """Start the replica if the broker is assigned it ("startReplica").

        Raises NotStarted (NotReplicaForPartition if neither AR nor RAR names this broker) or MalformedZnode.
        """
        if self.state is AgentState.FAILED:
            raise NotStarted("its log dir has failed")
        found = yield from read_situation(self.partition)
        topic = yield from read(znodes.topic(self.partition.topic))
        if self._me not in found.assigned.members or not isinstance(topic, Found):
            raise NotReplicaForPartition("neither the assignment nor a reassignment names this broker")
        if found.assigned.is_deleted:
            raise NotStarted("the partition is being deleted")  # AR names this broker until every replica is closed
        own = self._settings(topic)
        topic_id = znodes.topic_id(self.partition.topic, topic.stat.czxid)
        self._open(HostedTopic(topic_id, own, self._context.below_topics), found, now)
        yield from self._guarded(self._decide(found, now), now)

    def topic_changed(self, now: float) -> Steps[None]:
        """Take over the settings of the topic, which may have changed."""
        found = yield from read(znodes.topic(self.partition.topic))
        if self._topic is None or not isinstance(found, Found):
            return
        if znodes.topic_id(self.partition.topic, found.stat.czxid) != self._topic.topic_id:
            return
        try:
            own = self._settings(found)
        except MalformedZnode as error:
            log.error("%s keeps its settings: %s", self.partition, error)
            return
        if own != self._topic.own:
            self._topic.own = own
            self._configure(self._topic)

    def settings_changed(self, now: float) -> Steps[None]:
        """Take over the settings of brokers, which have changed."""
        if self._topic is not None:
            self._configure(self._topic)
        yield from ()

    def close(self, now: float) -> Steps[None]:
        """Stop the replica and delete its log ("closeReplica"). A leader that closes gives up /leader.

        Raises NotStarted if the log directory has failed.
        """
        loop, self._loop = self._loop, None
        topic_id = self._topic.topic_id if self._topic is not None else None
        name = self.partition
        removed = PartitionRemoved(topic=name.topic, topic_id=topic_id, partition=name.partition)
        failed = self._context.data_plane.apply([removed])
        self._enter(AgentState.FAILED if self.state is AgentState.FAILED else AgentState.STOPPED)
        self._is_open = self._is_barred = False
        if loop is not None:
            if loop.reassignment is not None:
                yield from self._guarded(loop.reassignment.finish_closed(loop.leader_term), now)
            self._due = None
            yield from election.give_up(self.partition)
            if loop.reassignment is not None and loop.reassignment.gives_up_leadership(self._me):
                loop.reassignment.left(loop.leader_term)
        if failed:
            raise NotStarted("its log dir has failed")

    def prefer(self, now: float) -> None:
        """Give way to the preferred replica soon, if it can lead.

        Raises NotStarted if this replica does not lead; then another one does, or soon will.
        """
        if self._loop is None:
            raise NotStarted("it does not lead")
        self._loop.prefer_until = now + self._context.config.keep_in_sync
        if self.state is AgentState.LEADING:
            self._due = now

    def leader_changed(self, now: float) -> Steps[None]:
        """Handle a fired watch on /leader ("onLeaderChange")."""
        if self.state in (AgentState.STOPPED, AgentState.FAILED):
            return
        self._context.monitor.leader_changed(self.partition)
        yield from self._guarded(self._look(now), now)

    def reassigned_changed(self, now: float) -> Steps[None]:
        """Handle that the partition was added to, or removed from, /partitions_reassigned.

        Only a serving leader reacts; a new leader reads the znode when it begins to serve.
        """
        if self.state is AgentState.LEADING:
            yield from self._guarded(self._notice(now), now)

    def tick(self, now: float) -> Steps[None]:
        """Do what is due at `now`. Nothing happens before `next_tick`."""
        due = self.next_tick()
        if due is None or now < due:
            return
        match self.state:
            case AgentState.WITHOUT_LEADER | AgentState.FOLLOWING:
                yield from self._guarded(self._look_again(now), now)
            case AgentState.STANDING:
                yield from self._guarded(self._stand(now), now)
            case AgentState.CATCHING_UP:
                yield from self._guarded(self._catch_up(now), now)
            case AgentState.LEADING:
                yield from self._guarded(self._lead(now), now)
            case AgentState.STOPPED | AgentState.FAILED:
                self._due = None

    def log_dir_failed(self, now: float) -> Steps[None]:
        """Stop leading and following for good, because the log directory has failed."""
        led = self.leads
        self._loop = None
        self._enter(AgentState.FAILED)
        if led:
            yield from election.give_up(self.partition)

    def session_lost(self) -> None:
        """Stop leading and following at once, because the session is over. `start` begins anew."""
        if self.state not in (AgentState.STOPPED, AgentState.FAILED):
            self._stop()
            self._enter(AgentState.STOPPED)

    def alter_isr(self, proposal: IsrProposal, now: float) -> Steps[IsrOutcome]:
        """Write the ISR that the data plane requests: a compare-and-set on /ISR within the leader epoch.

        Returns IsrAccepted with the written state. Returns IsrRefused with FENCED_LEADER_EPOCH if another epoch is
        written or this replica does not lead, INELIGIBLE_REPLICA if no possible successor would be left, and
        INVALID_UPDATE_VERSION if the version has moved.
        """
        loop = self._loop
        if loop is None or not loop.leader_term.allows(proposal):
            return IsrRefused(Error.FENCED_LEADER_EPOCH)
        if loop.leader_term.leaves_no_successor(proposal):
            return IsrRefused(Error.INELIGIBLE_REPLICA)  # the version is unchanged, so the request can be repeated
        wanted = IsrState(proposal.isr, proposal.leader_epoch, proposal.version)
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
            loop.leader_term.adopt_isr(found)
            yield from self._guarded(self._notify_data_plane(loop.leader_term), now)
        if is_written:
            return IsrAccepted(isr=found.isr, leader_epoch=found.epoch, version=found.version)
        return IsrRefused(Error.INVALID_UPDATE_VERSION)

    @property
    def _me(self) -> int:
        return self._context.broker_id

    def _guarded(self, steps: Steps[None], now: float) -> Steps[None]:
        try:
            yield from steps
        except MalformedZnode as error:
            log.error("%s", error)
            self._due = now + self._context.config.election_wait
        except EpochOver:
            log.warning("%s: broker %d no longer leads, because /ISR has another epoch", self.partition, self._me)
            yield from self._step_down(now)
        except StorageFailed:
            yield from self.log_dir_failed(now)

    def _look(self, now: float) -> Steps[None]:
        found = yield from read_situation(self.partition)
        yield from self._decide(found, now)

    def _look_again(self, now: float) -> Steps[None]:
        """Read the partition again. A replica started just before its assignment ended gets no close request; it closes
        itself."""
        is_relook = self._relook_at is not None and now >= self._relook_at
        found = yield from read_situation(self.partition)
        if is_relook:
            self._relook_at = None
            if found.assigned.ar is not None and self._me not in found.assigned.members:
                log.info("%s: closed, because the assignment that it was started for is over", self.partition)
                yield from self.close(now)
                return
        yield from self._decide(found, now)

    def _decide(self, found: Situation, now: float) -> Steps[None]:
        leader = found.leader
        if self._me not in found.assigned.members:
            if not (
                self.leads and found.is_own_leader
            ):  # a leader outside the new replicas completes the reassignment first
                self._stop()
                self._enter(AgentState.WITHOUT_LEADER)
        elif leader is None:
            if self.leads:
                self._stop()
            self._await_turn(found, now)
        elif leader.broker_id != self._me:
            if self.leads:
                self._stop()
            self._follow(found, leader, now)
        elif not found.is_own_leader:
            self._wait_for_change(now)  # /leader is of an earlier session of this broker and goes with it
        elif not self.leads:
            yield from election.give_up(self.partition)
            self._wait_for_change(now)

    def _follow(self, found: Situation, leader: Leader, now: float) -> None:
        """Become a follower, in the ISR or outside it ("becomeFollower").

        If /leader and /ISR differ in epoch, the leader is about to write the other one: wait for that change.
        """
        assert self._topic is not None
        if self.state is AgentState.FOLLOWING and self._following == leader:
            self._due = None
        elif not leader.has_epoch or found.in_sync is None or found.in_sync.epoch != leader.epoch:
            self._wait_for_change(now)
        else:
            self._balancing.other_leads()
            self._enter(AgentState.FOLLOWING)
            self._following = leader
            to = following(self.partition, self._topic, found.assigned, leader.broker_id, found.in_sync)
            if self._context.data_plane.apply([to]):
                raise StorageFailed

    def _await_turn(self, found: Situation, now: float) -> None:
        """Stand for election at once if this is the preferred replica, else after PreferredReplicaTime."""
        if not self._may_stand(found):
            self._wait_for_change(now)
        elif self.state is not AgentState.STANDING:
            is_preferred = found.assigned.preferred == self._me
            self._enter(AgentState.STANDING)
            self._due = now if is_preferred else now + self._context.config.preferred_wait

    def _may_stand(self, found: Situation) -> bool:
        if self._is_barred:
            progress = self._context.data_plane.progress(self.partition)
            self._is_barred = progress is None or progress.began_empty
        return found.is_eligible(self._me) and not (self._is_barred and found.isr)

    def _stand(self, now: float) -> Steps[None]:
        assert self._topic is not None
        outcome = yield from election.stand(self._me, self.partition)
        self._wait_for_change(now)
        if outcome is election.ElectionLoss.OTHER_LEADS:
            yield from self._look(now)
        elif isinstance(outcome, election.ElectionWin):
            assert outcome.situation.in_sync is not None
            leader_term = LeaderTerm(
                self._context, self.partition, self._topic, outcome.epoch, outcome.situation.in_sync,
                outcome.situation.assigned,
            )  # fmt: skip
            self._enter(AgentState.CATCHING_UP)
            self._loop = CommitLoop(leader_term, self._balancing)
            self._catching_up_since = now
            log.info("%s: broker %d leads at epoch %d", self.partition, self._me, outcome.epoch)
            leader_term.lead()
            yield from self._catch_up(now)

    def _catch_up(self, now: float) -> Steps[None]:
        """Wait for followers as "becomeLeader" asks, then write the ISR and begin to serve clients."""
        loop = self._leading()
        leader_term, config, live = loop.leader_term, self._context.config, self._context.live()
        progress = self._context.data_plane.progress(self.partition)
        if progress is None:
            raise StorageFailed
        behind = becoming_leader.behind(self._me, leader_term.assigned, live, progress)
        if behind and now < self._catching_up_since + config.keep_in_sync:
            self._due = now + config.tick
            return
        in_sync = becoming_leader.in_sync(self._me, leader_term.assigned, live, progress)
        yield from leader_term.write_isr(lambda _: in_sync)
        assigned = yield from read_assigned(self.partition)
        leader_term.is_open = True
        self.state, self._due = AgentState.LEADING, now
        loop.adopt(assigned)
        leader_term.lead()

    def _notice(self, now: float) -> Steps[None]:
        self._leading().adopt((yield from read_assigned(self.partition)))
        self._due = now

    def _lead(self, now: float) -> Steps[None]:
        loop = self._leading()
        progress = self._context.data_plane.progress(self.partition)
        if progress is None:
            raise StorageFailed
        verdict = yield from loop.one_pass(progress, now)
        self._due = now + loop.pause()
        if verdict is PassResult.STEPS_DOWN:
            yield from self._step_down(now)
            if loop.reassignment is not None:
                loop.reassignment.left(loop.leader_term)

    def _step_down(self, now: float) -> Steps[None]:
        self._stop()
        self._wait_for_change(now)
        yield from election.give_up(self.partition)

    def _notify_data_plane(self, leader_term: LeaderTerm) -> Steps[None]:
        leader_term.lead()
        yield from ()

    def _leading(self) -> CommitLoop:
        assert self._loop is not None
        return self._loop

    def _settings(self, topic: Found) -> Mapping[str, str]:
        """Return the topic's own settings. Raises MalformedZnode."""
        name = self.partition.topic
        return usable(f"topic {name}", znodes.read_topic(name, topic.data).config, problem_with)

    def _configure(self, topic: HostedTopic) -> None:
        name = self.partition
        changed = SettingsChanged(
            topic=name.topic, topic_id=topic.topic_id, partition=name.partition, config=topic.config
        )
        self._context.data_plane.apply([changed])

    def _open(self, topic: HostedTopic, found: Situation, now: float) -> None:
        if self._topic is not None and self._topic.topic_id != topic.topic_id:
            self._is_open = self._is_barred = False
            self.session_lost()  # the replica is of an earlier topic of this name, which was deleted unseen
        if self.state is not AgentState.STOPPED:
            return
        self._topic = topic
        # A broker outside the ISR may have had the replica before, in a log dir that is offline now.
        to = without_leader(self.partition, topic, found.assigned, is_new=not found.isr)
        if self._context.data_plane.apply([to]):
            self._enter(AgentState.FAILED)
            raise NotStarted("its log dir has failed")
        if not self._is_open:
            progress = self._context.data_plane.progress(self.partition)
            self._is_open = True
            self._is_barred = progress is not None and progress.began_empty and bool(found.isr)
        self._enter(AgentState.WITHOUT_LEADER)
        self._relook_at = now + self._context.config.election_wait

    def _stop(self) -> None:
        self._loop = None
        topic_id = self._topic.topic_id if self._topic is not None else None
        name = self.partition
        self._context.data_plane.apply([ReplicaStopped(topic=name.topic, topic_id=topic_id, partition=name.partition)])

    def _enter(self, state: AgentState) -> None:
        """Enter a state in which nothing is followed and no tick is due."""
        self.state, self._following, self._due = state, None, None

    def _wait_for_change(self, now: float) -> None:
        """Wait for a change of /leader, and read the partition again after LeaderElectionWaitTime without one."""
        if self.state is not AgentState.FOLLOWING:
            self.state = AgentState.WITHOUT_LEADER
        self._due = now + self._context.config.election_wait
