"""Commands on a tree of znodes in memory, with model brokers that obey the leader-driven design at once.

The brokers are a model, not the real ones: they hold no records, so every replica is always caught up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from fencepost.cluster_impl.coordination.steps import Absent, Create, Present, Stat
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.lock import locked
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import Await, Command, Pause, Procedure
from fencepost.cluster_impl.designs.leader_driven.admin.reading import read_topic
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import (
    StateChange,
    StateChangeRequest,
    read_request,
    write_request,
)
from fencepost.cluster_impl.designs.leader_driven.znodes import IsrState, Leader, QueueZnode
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.cluster_impl.designs.znode_tree import TermOver, ZnodeTree

T = TypeVar("T")

BROKERS = (4, 5, 6)
ADMIN_BROKER = 9
STEP = 0.01


class ProcessDeath(Exception):
    """The command's process was killed."""


@dataclass(slots=True)
class ModelBroker:
    """A broker that does its work in single calls of `act`."""

    broker_id: int
    is_up: bool = True
    takes_requests: bool = True
    """True if it empties its queue; a broker that does not is slow."""
    notices: bool = True
    """True if it reads /partitions_reassigned as a leader."""
    stands: bool = True
    """True if it stands for election."""
    hosted: set[TopicPartition] = field(default_factory=set)
    closing: set[TopicPartition] = field(default_factory=set)
    """Partitions that it led when it asked all replicas to close."""

    @property
    def session(self) -> int:
        return 100 + self.broker_id


class ModelCluster:
    def __init__(self, brokers: Iterable[int] = BROKERS, *, timeout_s: float = 1.0, side_by_side: int = 3) -> None:
        self.tree = ZnodeTree()
        self.now = 0.0
        self.brokers = {broker_id: ModelBroker(broker_id) for broker_id in brokers}
        self.monitor = StateChangeMonitor(ADMIN_BROKER)
        self.command = Command(self.monitor, lambda: self.now, timeout_s, 100, side_by_side)
        self.longest_backlog = 0
        self._sessions = 1000
        for path in znodes.ROOTS[1:]:
            self.tree.create(path)
        for each in self.brokers.values():
            self.tree.create(znodes.state(each.broker_id), znodes.write_queue(QueueZnode()))
            self._register(each)

    # Commands

    def carry_out(self, procedure: Procedure[T], *, writes: int | None = None) -> T:
        """Run a procedure to its end; with `writes`, kill it after so many writes and raise ProcessDeath."""
        self._sessions += 1
        session = self._sessions
        left = writes
        try:
            request = next(procedure)
            while True:
                if isinstance(request, Await):
                    self._wait(request)
                    batch = [Absent() if not self.tree.exists(path) else Present(_STAT) for path in request.paths]
                    request = procedure.send(batch)
                    continue
                if isinstance(request, Pause):
                    self.act()
                    self.now = request.until
                    request = procedure.send(())
                    continue
                self.tree.writes_left = left
                try:
                    outcomes = self.tree.execute(request, session)
                finally:
                    left, self.tree.writes_left = self.tree.writes_left, None
                request = procedure.send(outcomes)
        except StopIteration as end:
            result: T = end.value
            return result
        except TermOver:
            raise ProcessDeath from None
        finally:
            procedure.close()
            self.tree.end_session(session)

    def alone(self, topic: str, procedure: Procedure[T], *, writes: int | None = None) -> T:
        return self.carry_out(locked(self.command, topic, procedure), writes=writes)

    def _wait(self, request: Await) -> None:
        while any(self.tree.exists(path) for path in request.paths) and self.now < request.until:
            if not self.act():
                self.now = request.until
            self.now += STEP

    # Brokers

    def act(self) -> bool:
        """Let every broker do its pending work; return whether there was any."""
        acted = False
        for each in self.brokers.values():
            if each.is_up:
                acted |= each.takes_requests and self._take_requests(each)
                acted |= self._lead(each)
        return acted

    def settle(self) -> None:
        while self.act():
            pass

    def stop(self, broker_id: int) -> None:
        broker = self.brokers[broker_id]
        broker.is_up = False
        self.tree.end_session(broker.session)

    def start(self, broker_id: int) -> None:
        """Start a broker: first its queue, then close replicas that are no longer assigned, then start the others."""
        broker = self.brokers[broker_id]
        broker.is_up = True
        self._take_requests(broker)
        broker.hosted = {each for each in broker.hosted if broker_id in self._named(each)}
        for topic in self.tree.names(znodes.TOPICS):
            of_topic = self.tree.run(read_topic(topic))
            broker.hosted |= {
                TopicPartition(topic, at) for at, each in of_topic.live.items() if broker_id in each.named
            }
        self._register(broker)

    def leader(self, of: TopicPartition) -> int | None:
        path = znodes.leader(of)
        return znodes.read_leader(of, self.tree.data(path)).broker_id if self.tree.exists(path) else None

    def _register(self, broker: ModelBroker) -> None:
        self.tree.execute([Create(znodes.broker(broker.broker_id), b"{}", ephemeral=True)], broker.session)

    def _take_requests(self, broker: ModelBroker) -> bool:
        queue = znodes.state(broker.broker_id)
        names = self.tree.names(queue) if self.tree.exists(queue) else []
        for name in names:
            path = znodes.request(broker.broker_id, name)
            request = read_request(path, self.tree.data(path))
            if request.change is StateChange.CLOSE_REPLICA:
                self._close(broker, request.partition)
            elif broker.broker_id in self._named(request.partition):
                broker.hosted.add(request.partition)
                self._stand(broker, request.partition)
            self.tree.delete(path)
        return bool(names)

    def _close(self, broker: ModelBroker, partition: TopicPartition) -> None:
        if self.leader(partition) == broker.broker_id:
            self.tree.delete(znodes.leader(partition))
        broker.hosted.discard(partition)
        broker.closing.discard(partition)

    def _stand(self, broker: ModelBroker, partition: TopicPartition) -> bool:
        can_lead = self.tree.exists(znodes.partition(partition)) and self.leader(partition) is None
        if not can_lead or not broker.stands or broker.broker_id not in self._named(partition):
            return False
        epoch = 0
        if self.tree.exists(znodes.isr(partition)):
            known = znodes.read_isr(partition, self.tree.data(znodes.isr(partition)), 0)
            if known.isr and broker.broker_id not in known.isr:
                return False
            epoch = known.epoch + 1
            self.tree.delete(znodes.isr(partition))
        self.tree.create(
            znodes.isr(partition), znodes.write_isr(IsrState(tuple(sorted(self._named(partition))), epoch))
        )
        won = Create(znodes.leader(partition), znodes.write_leader(Leader(broker.broker_id, epoch)), ephemeral=True)
        self.tree.execute([won], broker.session)
        return True

    def _lead(self, broker: ModelBroker) -> bool:
        acted = False
        for partition in sorted(broker.hosted, key=str):
            if self.leader(partition) != broker.broker_id:
                acted |= self._stand(broker, partition)
            elif broker.notices and partition not in broker.closing:
                acted |= self._reassign(broker, partition)
        return acted

    def _reassign(self, broker: ModelBroker, partition: TopicPartition) -> bool:
        """Carry out a whole reassignment at once."""
        path = znodes.reassigned(partition)
        if not self.tree.exists(path) or not self.tree.exists(znodes.replicas(partition)):
            return False
        wanted = znodes.read_reassigned(partition, self.tree.data(path))
        assigned = znodes.read_replicas(partition, self.tree.data(znodes.replicas(partition)))
        if not wanted:
            for each in assigned:
                self._ask(StateChange.CLOSE_REPLICA, partition, each, broker.broker_id)
            self.tree.overwrite(path, znodes.write_replicas(()))
            broker.closing.add(partition)
            return True
        for each in set(wanted) - set(assigned):
            self._ask(StateChange.START_REPLICA, partition, each, broker.broker_id)
        for each in set(assigned) - set(wanted):
            self._ask(StateChange.CLOSE_REPLICA, partition, each, broker.broker_id)
        self.tree.overwrite(znodes.isr(partition), znodes.write_isr(IsrState(tuple(sorted(wanted)), 7)))
        self.tree.overwrite(znodes.replicas(partition), znodes.write_replicas(wanted))
        self.tree.delete(path)
        if broker.broker_id != wanted[0]:
            self.tree.delete(znodes.leader(partition))
        return True

    def _ask(self, change: StateChange, partition: TopicPartition, to: int, sender: int) -> None:
        request = write_request(StateChangeRequest(change, partition, 0, sender))
        self.tree.execute([Create(znodes.request_prefix(to), request, sequence=True)])

    def _named(self, partition: TopicPartition) -> frozenset[int]:
        """Return the brokers that may have a replica."""
        named: set[int] = set()
        for path in (znodes.replicas(partition), znodes.reassigned(partition)):
            if self.tree.exists(path):
                named.update(znodes.read_reassigned(partition, self.tree.data(path)))
        return frozenset(named)


_STAT = Stat(0, 0, 0, 0, 0)
