"""One partition with three replicas in a world without sockets: every message may be late, lost, or out of order.

The replicas are the real ones; their logs are lists in memory. A model of a control plane changes leader and ISR by
compare-and-set, and each replica learns of its decisions in order but at its own pace. One random generator makes all
choices, so a seed names a world. Disks fail and are mended, and replicas are stopped and assigned again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from random import Random

from fencepost.cluster_impl.replication.control_plane import (
    NO_EPOCH,
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    IsrUnknown,
    PartitionAssignment,
)
from fencepost.cluster_impl.replication.fetcher import Following
from fencepost.cluster_impl.replication.follower import FollowerFetch
from fencepost.cluster_impl.replication.partition import RoleTransition
from fencepost.cluster_impl.replication.progress import ReplicaRole
from fencepost.cluster_impl.replication.replica import LogEpochEnd, Read
from fencepost.cluster_impl.replication.validation import PartitionError
from fencepost.cluster_impl.storage.epochs import UNDEFINED_EPOCH
from fencepost.cluster_impl.wire.batches import build
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.replication.parts import TOPIC_ID, Decision, Node

IDS = (1, 2, 3)
ROOM = 250
"""Bytes of one fetch: about three batches."""
TIMEOUT_S = 2.0
"""Seconds after which a leader stops to wait for an answer about an ISR."""


class Broken(AssertionError):
    """A guarantee does not hold."""


class World:
    """Runs steps, and checks after each that nothing that anybody was shown is missing where it may be elected."""

    def __init__(self, seed: int, min_isr: int = 2, *, disks_fail: bool = False, replicas_stop: bool = False) -> None:
        self.disks_fail = disks_fail
        self.replicas_stop = replicas_stop
        self.random = Random(seed)
        self.now = 0.0
        self.min_isr = str(min_isr)
        self.nodes: dict[int, Node | None] = dict.fromkeys(IDS)
        self.disks: dict[int, list[bytes]] = {node_id: [] for node_id in IDS}
        self.broken: set[int] = set()
        self.checkpoints = dict.fromkeys(IDS, 0)
        self.messages: list[Callable[[], None]] = []
        self.committed: list[bytes] = []
        """Every record below a high watermark that any leader has had."""
        self.acknowledged = 0
        self._epoch = 0
        self._values = 0
        start = PartitionAssignment(
            topic="t", topic_id=TOPIC_ID, partition=0, replicas=IDS, isr=IDS, leader=1, leader_epoch=0,
            leader_term_epoch=0, version=0, config={"min.insync.replicas": self.min_isr},
        )  # fmt: skip
        self.decisions = [Decision(start, {})]
        for node_id in IDS:
            self.start(node_id)

    @property
    def state(self) -> Decision:
        return self.decisions[-1]

    def run(self, steps: int) -> None:
        actions: list[tuple[Callable[[], None], int]] = [
            (self.produce, 15), (self.follow, 40), (self.deliver, 90), (self.learn, 60), (self.watch_isr, 15),
            (self.wait, 10), (self.lose, 3), (self.restart, 1), (self.fence, 1), (self.move_leader, 1),
            (self.impersonate, 2), (self.break_disk, self.disks_fail), (self.report, 5 * self.disks_fail),
            (self.stop_replica, 8 * self.replicas_stop),
        ]  # fmt: skip
        choices, weights = zip(*actions, strict=True)
        for action in self.random.choices(choices, weights, k=steps):
            action()
            self.check()

    def clear_faults(self) -> None:
        """Nothing fails any more: every broker is registered, every message arrives, and all catch up."""
        for node_id in IDS:
            node = self.nodes[node_id]
            if node_id not in self.state.registered or node is None or node.failed or node_id in self.broken:
                self.broken.discard(node_id)
                self.start(node_id)
        for _ in range(600):
            for action in (self.learn, self.follow, self.deliver, self.deliver, self.deliver, self.watch_isr):
                action()
                self.check()
            self.now += 0.1
            if self.has_healed():
                break

    def has_healed(self) -> bool:
        """All have the same log, and all are in sync."""
        logs = [node.memory.entries for node in self.alive()]
        return logs == [logs[0]] * len(IDS) and set(self.state.partition.isr) == set(IDS)

    def alive(self) -> list[Node]:
        return [node for node in self.nodes.values() if node is not None]

    def pick(self) -> Node:
        return self.random.choice(self.alive())

    # What replicas do

    def produce(self) -> None:
        """A client writes to one that says it leads, or used to."""
        node = self.random.choice(
            [node for node in self.alive() if node.core.role is ReplicaRole.LEADER] or self.alive()
        )
        self._values += 1
        before = list(node.memory.entries)
        try:
            appended = node.replica.append_as_leader(build([(None, b"%06d" % self._values, 1)]), -1, self.now)
        except PartitionError:
            if node.memory.entries != before:
                raise Broken(f"{node.node_id} refused a record and has it") from None
            return
        node.replica.purgatory.acknowledgements.wait(appended.next_offset, node.core.led_since, self._acknowledged)

    def _acknowledged(self, error: Error) -> None:
        self.acknowledged += error is Error.NONE

    def follow(self) -> None:
        """A follower asks its leader; whether that one is a leader by then is another question."""
        node = self.pick()
        if node.core.role is not ReplicaRole.FOLLOWER:
            return
        node.following.note_request()
        fetch = FollowerFetch(node.node_id, node.broker_epoch, node.core.leader_epoch, node.following.offset)
        last_epoch, leader_id = node.replica.latest_epoch(), node.core.leader
        if node.following.truncated or last_epoch == UNDEFINED_EPOCH:
            self.messages.append(lambda: self._fetch(leader_id, fetch, last_epoch))
        else:
            self.messages.append(lambda: self._epoch_end(leader_id, fetch, last_epoch))

    def _fetch(self, leader_id: int, fetch: FollowerFetch, last_epoch: int) -> None:
        leader = self.nodes[leader_id]
        if leader is None:
            return
        try:
            leader.replica.credit(fetch, leader.registered.get(fetch.replica_id), last_epoch, self.now)
            read = leader.replica.read(fetch.offset, fetch.leader_epoch, last_epoch, ROOM, committed=False)
        except PartitionError as refused:
            if refused.error is Error.OFFSET_OUT_OF_RANGE:
                self.messages.append(lambda: self._out_of_range(fetch))
            return
        self.messages.append(lambda: self._fetched(fetch, read))

    def _epoch_end(self, leader_id: int, fetch: FollowerFetch, last_epoch: int) -> None:
        leader = self.nodes[leader_id]
        if leader is not None and leader.core.check_leader(fetch.leader_epoch) is Error.NONE:
            end = leader.replica.epoch_end(last_epoch)
            self.messages.append(lambda: self._truncate(fetch, end))

    def _asker(self, fetch: FollowerFetch) -> Node | None:
        """The process that asked, if it still waits for this answer."""
        node = self.nodes[fetch.replica_id]
        if node is None or node.failed or node.broker_epoch != fetch.broker_epoch or not node.following.is_current:
            return None
        return node if node.following.leader_epoch == fetch.leader_epoch else None

    def _fetched(self, fetch: FollowerFetch, read: Read) -> None:
        node = self._asker(fetch)
        if node is None or node.following.offset != fetch.offset:
            return
        with suppress(PartitionError):
            if read.diverging is not None:
                node.following.truncated = node.replica.truncate(read.diverging)
            else:
                node.replica.append_as_follower(read.records, read.high_watermark)

    def _truncate(self, fetch: FollowerFetch, end: LogEpochEnd) -> None:
        node = self._asker(fetch)
        if node is not None and not node.following.truncated and end.epoch != UNDEFINED_EPOCH:
            with suppress(PartitionError):
                node.following.truncated = node.replica.truncate(end)

    def _out_of_range(self, fetch: FollowerFetch) -> None:
        node = self._asker(fetch)
        if node is not None:
            node.following.truncated = False

    def watch_isr(self) -> None:
        """Ask for another ISR, or give up waiting for the answer to the last question, which may still come."""
        node = self.pick()
        waiting = node.core.isr._in_flight
        if waiting is not None and self.now - node.asked_at > TIMEOUT_S:
            self._answer(node, waiting, IsrUnknown("no answer in time"))
        proposal = node.core.next_isr(node.registered.get, self.now)
        if proposal is not None:
            node.asked_at = self.now
            self.messages.append(lambda: self._alter_isr(node, proposal))

    def _answer(self, node: Node, proposal: IsrProposal, outcome: IsrOutcome) -> None:
        if self.nodes[node.node_id] is node:
            node.replica.isr_answered(proposal, outcome, self.now)

    # What happens to them

    def deliver(self) -> None:
        """Mostly the message that waits longest."""
        if self.messages:
            self.messages.pop(0 if self.random.random() < 0.8 else self.random.randrange(len(self.messages)))()

    def lose(self) -> None:
        if self.messages:
            self.messages.pop(self.random.randrange(len(self.messages)))

    def wait(self) -> None:
        self.now += self.random.random()

    def learn(self) -> None:
        """A process hears of the next decision. One that was just started hears of all up to its registration."""
        node = self.pick()
        if node.known + 1 < len(self.decisions):
            node.known += 1
        elif not node.stopped:
            return
        decision = self.decisions[node.known]
        node.registered = decision.registered
        if node.broker_epoch not in decision.registered.values() or node.failed:
            return
        if node.node_id in self.broken and not node.memory.broken:
            node.memory.broken = node.failed = True  # The disk was broken already when this process began.
            return
        node.stopped = False
        with suppress(PartitionError):
            if node.replica.assign(decision.partition, self.now) is RoleTransition.FOLLOWS:
                node.following = Following(node.replica)

    def break_disk(self) -> None:
        """From now on every operation fails. If it is noticed depends on whether there is one."""
        node = self.pick()
        node.memory.broken = True
        self.broken.add(node.node_id)

    def report(self) -> None:
        """A process whose disk has failed says so; the message may be late, or never arrive."""
        for node in self.alive():
            if node.failed:
                self.messages.append(partial(self._went_offline, node.node_id, node.broker_epoch))

    def stop_replica(self) -> None:
        """Stop a replica, and assign it again later, perhaps at the same version."""
        node = self.pick()
        if not node.failed:
            node.replica.stop()
            node.stopped = True

    def restart(self) -> None:
        """kill -9, and perhaps a new process."""
        node_id = self.random.choice(IDS)
        self._end(node_id)
        if self.random.random() < 0.7:
            self.start(node_id)

    def impersonate(self) -> None:
        """A process that was refused its id fetches in the name of a follower; it has all that the leader has."""
        leader = self.pick()
        others = [node_id for node_id in IDS if node_id != leader.node_id]
        end, epoch = len(leader.memory.entries), leader.core.leader_epoch
        fetch = FollowerFetch(self.random.choice(others), NO_EPOCH, epoch, end)
        self._fetch(leader.node_id, fetch, UNDEFINED_EPOCH)

    def _end(self, node_id: int) -> None:
        node = self.nodes[node_id]
        others = [other for other in self.alive() if other is not node]
        if node is not None and others:
            if self.random.random() < 0.5 and not node.failed:
                self.checkpoints[node_id] = node.core.high_watermark
            self.nodes[node_id] = None

    def start(self, node_id: int) -> None:
        """A process registers, which ends its predecessor. It may have a new disk, unless it was the last in sync."""
        self._unregister(node_id)
        if node_id not in self.state.partition.isr and self.random.random() < 0.3:
            self.disks[node_id], self.checkpoints[node_id] = [], 0
        if self.random.random() < 0.7:
            self.broken.discard(node_id)
        self._epoch += 1
        self.nodes[node_id] = Node(node_id, self._epoch, self.disks[node_id], self.checkpoints[node_id])
        offline = self.state.offline - {node_id}
        self._decide(registered={**self.state.registered, node_id: self._epoch}, offline=offline)
        if self.state.partition.leader == -1 and node_id in self.state.able:
            self._decide(leader=node_id)

    # What the control plane does

    def fence(self) -> None:
        """A broker that may live on, unaware, loses its registration."""
        if len(self.state.registered) > 1:
            self._unregister(self.random.choice(sorted(self.state.registered)))

    def _unregister(self, node_id: int) -> None:
        state = self.state
        if node_id not in state.registered:
            return
        # There is a new version even if the broker was not in the ISR: its leader may just have asked to let it join.
        registered = {other: epoch for other, epoch in state.registered.items() if other != node_id}
        isr = tuple(member for member in state.partition.isr if member != node_id) or state.partition.isr
        leader = state.partition.leader
        if leader == node_id:
            leader = next((member for member in isr if member in registered and member not in state.offline), -1)
        self._decide(registered=registered, isr=isr, leader=leader, new_version=True)

    def _went_offline(self, node_id: int, broker_epoch: int) -> None:
        """A replica is reported offline. What an earlier process says of its disk is of no interest."""
        state = self.state
        if state.registered.get(node_id) != broker_epoch or node_id in state.offline:
            return
        self._decide(offline=state.offline | {node_id})
        isr = tuple(member for member in state.partition.isr if member != node_id) or state.partition.isr
        leader = state.partition.leader if state.partition.leader != node_id else next(iter(self.state.able), -1)
        self._decide(isr=isr, leader=leader, new_version=True)

    def move_leader(self) -> None:
        if self.state.able:
            self._decide(leader=self.random.choice(self.state.able))

    def _alter_isr(self, node: Node, proposal: IsrProposal) -> None:
        state = self.state
        if state.registered.get(node.node_id) != node.broker_epoch or state.partition.leader != node.node_id:
            outcome: IsrOutcome = IsrRefused(Error.STALE_BROKER_EPOCH)
        elif proposal.version != state.partition.version:
            outcome = IsrRefused(Error.FENCED_LEADER_EPOCH)
        elif not set(proposal.isr) <= state.registered.keys() - state.offline:
            outcome = IsrRefused(Error.INELIGIBLE_REPLICA)
        else:
            self._decide(isr=proposal.isr)
            now = self.state.partition
            outcome = IsrAccepted(isr=now.isr, leader_epoch=now.leader_epoch, version=now.version)
        self.messages.append(lambda: self._answer(node, proposal, outcome))

    def _decide(
        self,
        *,
        registered: dict[int, int] | None = None,
        offline: frozenset[int] | None = None,
        isr: tuple[int, ...] | None = None,
        leader: int | None = None,
        new_version: bool = False,
    ) -> None:
        old = self.state
        partition = old.partition
        isr = partition.isr if isr is None else isr
        leader = partition.leader if leader is None else leader
        if new_version or (isr, leader) != (partition.isr, partition.leader):
            epoch = partition.leader_epoch + 1
            leader_term = partition.leader_term_epoch if leader == partition.leader else epoch
            partition = replace(
                partition, isr=isr, leader=leader, leader_epoch=epoch, leader_term_epoch=leader_term, version=epoch
            )
        self.decisions.append(
            Decision(
                partition,
                old.registered if registered is None else registered,
                old.offline if offline is None else offline,
            )
        )

    # What must hold

    def check(self) -> None:
        for node in self.alive():
            entries, shown = node.memory.entries, node.core.high_watermark
            if shown > len(entries):
                raise Broken(f"{node.node_id} shows {shown} records and has {len(entries)}")
            if node.core.role is ReplicaRole.LEADER and shown > len(self.committed):
                self.committed = entries[:shown]
            if not node.failed and entries[:shown] != self.committed[:shown]:
                raise Broken(f"{node.node_id} shows other records than what was committed")
        for member in self.state.partition.isr:
            if self.disks[member][: len(self.committed)] != self.committed:
                raise Broken(f"{member} may be elected, and lacks records that were committed")
