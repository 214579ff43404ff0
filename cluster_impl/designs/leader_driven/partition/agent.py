"""One hosted replica of a partition: it stands for election, leads and follows (Replication V2, State change
operations)."""

from __future__ import annotations

import logging

from fencepost.cluster_impl.coordination.steps import Found, Steps, read
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.partition import election, isr_change
from fencepost.cluster_impl.designs.leader_driven.partition.balancing import Balancing
from fencepost.cluster_impl.designs.leader_driven.partition.commit_loop import CommitLoop, PassResult
from fencepost.cluster_impl.designs.leader_driven.partition.hosted_topic import HostedTopic
from fencepost.cluster_impl.designs.leader_driven.partition.leader_term import EpochOver, LeaderTerm, StorageFailed
from fencepost.cluster_impl.designs.leader_driven.partition.replica_context import ReplicaContext
from fencepost.cluster_impl.designs.leader_driven.partition.situation import Situation, read_assigned, read_situation
from fencepost.cluster_impl.designs.leader_driven.partition.states import (
    AgentState,
    CatchingUp,
    Elected,
    Failed,
    Following,
    Leading,
    OpenReplica,
    Standing,
    Started,
    Stopped,
    Watching,
    WithoutLeader,
)
from fencepost.cluster_impl.designs.leader_driven.state_changes.handling import NotReplicaForPartition, NotStarted
from fencepost.cluster_impl.designs.leader_driven.znodes import IsrState, Leader
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.replication.control_plane import (
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    PartitionRemoved,
    TopicPartition,
)
from fencepost.cluster_impl.replication.progress import Progress
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)


class ReplicaAgent:
    """The state machine of one replica on this broker. Times are seconds on a monotonic clock.

    Each method that returns Steps handles one input. Inputs run one at a time, either to their end or until the session
    is over and they are closed; then `session_lost` follows. Only `alter_isr` and `settings_changed` may run beside
    another input. The caller reads `next_tick` after each input. The agent hands each decision to the data plane at
    once, between two steps, so a leader has stopped before it deletes /leader.

    Only `start` raises MalformedZnode. The other inputs log it and read everything again after LeaderElectionWaitTime.
    """

    def __init__(self, context: ReplicaContext, partition: TopicPartition) -> None:
        self.partition = partition
        self.state: AgentState = Stopped()
        self._context = context
        self._balancing = Balancing(context.config.election_wait)

    @property
    def is_stopped(self) -> bool:
        """True if the replica is not started in the present session."""
        return isinstance(self.state, Stopped)

    @property
    def leads(self) -> bool:
        """True if the replica has a leader epoch of its own, also before it serves clients."""
        return isinstance(self.state, Elected)

    @property
    def knows_reassigned(self) -> bool:
        """True if the replica leads a partition that it knows to be in /partitions_reassigned.

        Such a leader reads the znode on its own tick. `reassigned_changed` is for the two other cases: a znode that the
        leader does not know of, or one that is gone.
        """
        return isinstance(self.state, Elected) and self.state.loop.knows_reassigned

    @property
    def epoch(self) -> int | None:
        """The leader epoch at which the replica leads or follows, or None."""
        match self.state:
            case Elected(loop=loop):
                return loop.leader_term.epoch
            case Following(leader=leader):
                return leader.epoch
            case _:
                return None

    def next_tick(self) -> float | None:
        """Return when `tick` is due, or None if it is not due before the next input."""
        return self.state.next_tick() if isinstance(self.state, Started) else None

    def start(self, now: float) -> Steps[None]:
        """Start the replica if the broker is assigned it ("startReplica").

        Raises NotStarted (NotReplicaForPartition if neither AR nor RAR names this broker) or MalformedZnode.
        """
        if isinstance(self.state, Failed):
            raise NotStarted("its log dir has failed")
        situation = yield from read_situation(self.partition)
        znode = yield from read(znodes.topic(self.partition.topic))
        if self._me not in situation.assigned.members or not isinstance(znode, Found):
            raise NotReplicaForPartition("neither the assignment nor a reassignment names this broker")
        if situation.assigned.is_deleted:
            raise NotStarted("the partition is being deleted")  # AR names this broker until every replica is closed
        self._open(HostedTopic.of(self.partition, znode, self._context.below_topics), situation, now)
        yield from self._guarded(self._decide(situation, now), now)

    def topic_changed(self) -> Steps[None]:
        """Take over the settings of the topic, which may have changed."""
        znode = yield from read(znodes.topic(self.partition.topic))
        replica = self.state.replica
        if replica is not None and isinstance(znode, Found) and replica.topic.renew(znode):
            self.settings_changed()

    def settings_changed(self) -> None:
        """Hand the settings to the data plane: those of the topic or of brokers have changed."""
        if self.state.replica is not None:
            self._context.data_plane.apply([self.state.replica.topic.settings_changed()])

    def close(self, now: float) -> Steps[None]:
        """Stop the replica and delete its log ("closeReplica"). A leader that closes gives up /leader.

        Raises NotStarted if the log directory has failed.
        """
        state, name = self.state, self.partition
        topic_id = state.replica.topic.topic_id if state.replica is not None else None
        self.state = Failed(None) if isinstance(state, Failed) else Stopped()
        removed = PartitionRemoved(topic=name.topic, topic_id=topic_id, partition=name.partition)
        failed = self._context.data_plane.apply([removed])
        if isinstance(state, Elected):
            reassignment, leader_term = state.loop.reassignment, state.loop.leader_term
            if reassignment is not None:
                yield from self._guarded(reassignment.finish_closed(leader_term), now)
            yield from election.give_up(name)
            if reassignment is not None and reassignment.gives_up_leadership(self._me):
                reassignment.left(leader_term)
        if failed:
            raise NotStarted("its log dir has failed")

    def prefer(self, now: float) -> None:
        """Give way to the preferred replica soon, if it can lead.

        Raises NotStarted if this replica does not lead; then another one does, or soon will.
        """
        state = self.state
        if not isinstance(state, Elected):
            raise NotStarted("it does not lead")
        state.loop.prefer_until = now + self._context.config.keep_in_sync
        if isinstance(state, Leading):
            state.due = now

    def leader_changed(self, now: float) -> Steps[None]:
        """Handle a fired watch on /leader ("onLeaderChange")."""
        if isinstance(self.state, Started):
            self._context.monitor.leader_changed(self.partition)
            yield from self._guarded(self._look(now), now)

    def reassigned_changed(self, now: float) -> Steps[None]:
        """Handle that the partition was added to, or removed from, /partitions_reassigned.

        Only a serving leader reacts; a new leader reads the znode when it begins to serve.
        """
        if isinstance(self.state, Leading):
            yield from self._guarded(self._notice(self.state, now), now)

    def tick(self, now: float) -> Steps[None]:
        """Do what is due at `now`. Nothing happens before `next_tick`."""
        due = self.next_tick()
        if due is None or now < due:
            return
        match self.state:
            case Watching() as state:
                yield from self._guarded(self._look_again(state, now), now)
            case Standing() as state:
                yield from self._guarded(self._stand(state, now), now)
            case CatchingUp() as state:
                yield from self._guarded(self._catch_up(state, now), now)
            case Leading() as state:
                yield from self._guarded(self._lead(state, now), now)

    def log_dir_failed(self) -> Steps[None]:
        """Stop leading and following for good, because the log directory has failed."""
        led = self.leads
        self.state = Failed(self.state.replica)
        if led:
            yield from election.give_up(self.partition)

    def session_lost(self) -> None:
        """Stop leading and following at once, because the session is over. `start` begins anew."""
        state = self.state
        if isinstance(state, Started):
            self.state = Stopped(state.replica)
            self._stop(state.replica)

    def alter_isr(self, proposal: IsrProposal, now: float) -> Steps[IsrOutcome]:
        """Write the ISR that the data plane requests: a compare-and-set on /ISR within the leader epoch.

        Returns IsrAccepted with the written state. Returns IsrRefused with FENCED_LEADER_EPOCH if another epoch is
        written or this replica does not lead, INELIGIBLE_REPLICA if no possible successor would be left, and
        INVALID_UPDATE_VERSION if the version has moved.
        """
        state = self.state
        if not isinstance(state, Leading) or not state.loop.leader_term.allows(proposal):
            return IsrRefused(Error.FENCED_LEADER_EPOCH)
        leader_term = state.loop.leader_term
        if leader_term.leaves_no_successor(proposal):
            return IsrRefused(Error.INELIGIBLE_REPLICA)  # the version is unchanged, so the request can be repeated
        asked = IsrState(proposal.isr, proposal.leader_epoch, proposal.version)
        try:
            written = yield from isr_change.write_once(self.partition, asked)
        except MalformedZnode as error:
            log.error("%s", error)
            written = None
        if written is None or written.epoch != asked.epoch:
            state.due = now
            return IsrRefused(Error.FENCED_LEADER_EPOCH)
        if self.state is state:
            leader_term.adopt_isr(written)
            try:
                leader_term.lead()
            except StorageFailed:
                yield from self.log_dir_failed()
        if written.version == asked.version + 1 and written.isr == asked.isr:
            return IsrAccepted(isr=written.isr, leader_epoch=written.epoch, version=written.version)
        return IsrRefused(Error.INVALID_UPDATE_VERSION)

    @property
    def _me(self) -> int:
        return self._context.broker_id

    def _guarded(self, steps: Steps[None], now: float) -> Steps[None]:
        try:
            yield from steps
        except MalformedZnode as error:
            log.error("%s", error)
            if isinstance(self.state, Started):
                self.state.due = now + self._context.config.election_wait
        except EpochOver:
            log.warning("%s: broker %d no longer leads, because /ISR has another epoch", self.partition, self._me)
            yield from self._step_down(now)
        except StorageFailed:
            yield from self.log_dir_failed()

    def _look(self, now: float) -> Steps[None]:
        situation = yield from read_situation(self.partition)
        yield from self._decide(situation, now)

    def _look_again(self, state: Watching, now: float) -> Steps[None]:
        """Read the partition again. A replica started just before its assignment ended gets no close request; it closes
        itself."""
        is_relook = state.replica.relook_at is not None and now >= state.replica.relook_at
        situation = yield from read_situation(self.partition)
        if is_relook:
            state.replica.relook_at = None
            if situation.assigned.ar is not None and self._me not in situation.assigned.members:
                log.info("%s: closed, because the assignment that it was started for is over", self.partition)
                yield from self.close(now)
                return
        yield from self._decide(situation, now)

    def _decide(self, situation: Situation, now: float) -> Steps[None]:
        state, leader = self.state, situation.leader
        if not isinstance(state, Started):
            return  # the log dir failed under a change of the ISR beside this input
        is_elected = isinstance(state, Elected)
        if self._me not in situation.assigned.members:
            # A leader outside the new replicas completes the reassignment first.
            if not (is_elected and situation.is_own_leader):
                self.state = WithoutLeader(state.replica)
                self._stop(state.replica)
        elif situation.is_own_leader:
            if not is_elected:
                yield from election.give_up(self.partition)
                self._wait_for_change(state, now)
        else:
            if is_elected:
                self._stop(state.replica)
            if leader is None:
                self._await_turn(state, situation, now)
            elif leader.broker_id != self._me:
                self._follow(state, situation, leader, now)
            else:
                self._wait_for_change(state, now)  # /leader is of an earlier session of this broker and goes with it

    def _follow(self, state: Started, situation: Situation, leader: Leader, now: float) -> None:
        """Become a follower, in the ISR or outside it ("becomeFollower").

        If /leader and /ISR differ in epoch, the leader is about to write the other one: wait for that change.
        """
        in_sync = situation.in_sync
        if isinstance(state, Following) and state.leader == leader:
            state.due = None
        elif not leader.has_epoch or in_sync is None or in_sync.epoch != leader.epoch:
            self._wait_for_change(state, now)
        else:
            self._balancing.other_leads()
            self.state = Following(state.replica, leader)
            assignment = state.replica.topic.following(situation.assigned, leader.broker_id, in_sync)
            if self._context.data_plane.apply([assignment]):
                raise StorageFailed

    def _await_turn(self, state: Started, situation: Situation, now: float) -> None:
        """Stand for election at once if this is the preferred replica, else after PreferredReplicaTime."""
        if not self._may_stand(state.replica, situation):
            self._wait_for_change(state, now)
        elif not isinstance(state, Standing):
            is_preferred = situation.assigned.preferred == self._me
            due = now if is_preferred else now + self._context.config.preferred_wait
            self.state = Standing(state.replica, due=due)

    def _may_stand(self, replica: OpenReplica, situation: Situation) -> bool:
        if replica.is_barred:
            progress = self._context.data_plane.progress(self.partition)
            replica.is_barred = progress is None or progress.began_empty
        return situation.is_eligible(self._me) and not (replica.is_barred and situation.isr)

    def _stand(self, state: Standing, now: float) -> Steps[None]:
        outcome = yield from election.stand(self._me, self.partition)
        if not isinstance(outcome, election.ElectionWin):
            self._wait_for_change(state, now)
            if outcome is election.ElectionLoss.OTHER_LEADS:
                yield from self._look(now)
            return
        leader_term = LeaderTerm(self._context, state.replica.topic, outcome.epoch, outcome.in_sync, outcome.assigned)
        elected = CatchingUp(state.replica, CommitLoop(leader_term, self._balancing), since=now)
        self.state = elected
        log.info("%s: broker %d leads at epoch %d", self.partition, self._me, leader_term.epoch)
        leader_term.lead()
        yield from self._catch_up(elected, now)

    def _catch_up(self, state: CatchingUp, now: float) -> Steps[None]:
        """Wait for followers as "becomeLeader" asks, then write the ISR and begin to serve clients."""
        leader_term, config = state.loop.leader_term, self._context.config
        progress = self._progress()
        if leader_term.lagging(progress) and now < state.since + config.keep_in_sync:
            state.due = now + config.tick
            return
        first_isr = leader_term.first_isr(progress)
        yield from leader_term.write_isr(lambda _: first_isr)
        assigned = yield from read_assigned(self.partition)
        leader_term.is_open = True
        self.state = Leading(state.replica, state.loop, due=now)
        state.loop.adopt(assigned)
        leader_term.lead()

    def _notice(self, state: Leading, now: float) -> Steps[None]:
        state.loop.adopt((yield from read_assigned(self.partition)))
        state.due = now

    def _lead(self, state: Leading, now: float) -> Steps[None]:
        loop = state.loop
        result = yield from loop.one_pass(self._progress(), now)
        state.due = now + loop.pause()
        if result is PassResult.STEPS_DOWN:
            yield from self._step_down(now)
            if loop.reassignment is not None:
                loop.reassignment.left(loop.leader_term)

    def _progress(self) -> Progress:
        """Raises StorageFailed."""
        progress = self._context.data_plane.progress(self.partition)
        if progress is None:
            raise StorageFailed
        return progress

    def _step_down(self, now: float) -> Steps[None]:
        state = self.state
        if isinstance(state, Started):
            self._stop(state.replica)
            self._wait_for_change(state, now)
        yield from election.give_up(self.partition)

    def _open(self, topic: HostedTopic, situation: Situation, now: float) -> None:
        earlier = self.state.replica
        if earlier is not None and earlier.topic.topic_id != topic.topic_id:
            earlier = None
            self.session_lost()  # the replica is of an earlier topic of this name, which was deleted unseen
        if isinstance(self.state, Started):
            return
        replica = OpenReplica(topic, is_barred=False, relook_at=now + self._context.config.election_wait)
        # A broker outside the ISR may have had the replica before, in a log dir that is offline now.
        if self._context.data_plane.apply([topic.without_leader(situation.assigned, is_new=not situation.isr)]):
            self.state = Failed(replica)
            raise NotStarted("its log dir has failed")
        if earlier is not None:
            replica.is_barred = earlier.is_barred
        else:
            progress = self._context.data_plane.progress(self.partition)
            replica.is_barred = progress is not None and progress.began_empty and bool(situation.isr)
        self.state = WithoutLeader(replica)

    def _stop(self, replica: OpenReplica) -> None:
        self._context.data_plane.apply([replica.topic.stopped()])

    def _wait_for_change(self, state: Started, now: float) -> None:
        """Wait for a change of /leader, and read the partition again after LeaderElectionWaitTime without one."""
        due = now + self._context.config.election_wait
        if isinstance(state, Following):
            state.due = due
        else:
            self.state = WithoutLeader(state.replica, due=due)
