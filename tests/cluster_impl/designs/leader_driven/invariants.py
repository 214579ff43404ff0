"""The invariants of a cluster without a controller, at every moment and whichever process dies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.partition.states import Following, Leading
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import (
    StateChange,
    StateChangeRequest,
    read_request,
)
from fencepost.cluster_impl.designs.leader_driven.znodes import IsrState, Leader
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.replication.progress import ReplicaRole

if TYPE_CHECKING:
    from tests.cluster_impl.designs.leader_driven.memory_broker import MemoryBroker
    from tests.cluster_impl.designs.leader_driven.memory_cluster import MemoryCluster


@dataclass(slots=True)
class _Known:
    czxid: int
    in_sync: IsrState


@dataclass(slots=True)
class Watcher:
    """Checks after each operation; an AssertionError names the violated invariant."""

    cluster: MemoryCluster
    seen: int = 0
    """The last transaction that was checked."""
    isrs: dict[TopicPartition, _Known] = field(default_factory=dict)
    leaders: dict[tuple[int, int], int] = field(default_factory=dict)
    """The leader by the creation of the ISR (one life of a partition) and the epoch."""

    def look(self) -> None:
        if self.cluster.tree.zxid != self.seen:
            self.seen = self.cluster.tree.zxid
            for partition in self.cluster.partitions():
                self._isr(partition)
                self._leader(partition)
        for broker in self.cluster.brokers.values():
            for partition, agent in broker.agents.items():
                if agent.leads and agent.epoch is not None:
                    self._leads(partition, agent.epoch, broker)

    def _isr(self, partition: TopicPartition) -> None:
        node = self.cluster.node(znodes.isr(partition))
        if node is None:
            return
        now = znodes.read_isr(partition, node.data, node.version)
        known = self.isrs.get(partition)
        if known is not None and known.czxid == node.czxid and known.in_sync != now:
            before = known.in_sync
            assert now.version == before.version + 1, f"{partition}: a write of the ISR was not looked at"
            assert now.epoch >= before.epoch, f"{partition}: the epoch went back from {before.epoch} to {now.epoch}"
            assert now.epoch <= before.epoch + 1, f"{partition}: an epoch was left out"
            if now.epoch > before.epoch:
                assert now.isr == before.isr, f"{partition}: the winner of epoch {now.epoch} changed the ISR"
                winner = self.cluster.leader(partition)
                assert winner is not None, f"{partition}: epoch {now.epoch} was taken by a replica that has not won"
                assert not before.isr or winner.broker_id in before.isr, (
                    f"{partition}: {winner.broker_id} was elected outside the ISR {before.isr}"
                )
            else:
                writer = self.leaders.get((node.czxid, now.epoch))
                assert writer in now.isr, f"{partition}: the ISR {now.isr} lacks its leader {writer}"
        self.isrs[partition] = _Known(node.czxid, now)

    def _leader(self, partition: TopicPartition) -> None:
        leader = self.cluster.leader(partition)
        if leader is None or not leader.has_epoch:
            return
        known = self.isrs[partition]
        assert leader.epoch == known.in_sync.epoch, f"{partition}: {leader} leads while {known.in_sync} is written"
        self._count(partition, known.czxid, leader)

    def _count(self, partition: TopicPartition, life: int, leader: Leader) -> None:
        other = self.leaders.setdefault((life, leader.epoch), leader.broker_id)
        assert other == leader.broker_id, f"{partition}: {other} and {leader.broker_id} lead at epoch {leader.epoch}"

    def _leads(self, partition: TopicPartition, epoch: int, broker: MemoryBroker) -> None:
        """Only the holder of /leader leads; a broker that does not know that its session ended may believe longer."""
        if not self.cluster.is_alive(broker.session):
            return
        owner, leader = self.cluster.tree.owner(znodes.leader(partition)), self.cluster.leader(partition)
        assert (owner, leader) == (broker.session, Leader(broker.id, epoch)), (
            f"{broker.id} leads {partition} at epoch {epoch} in session {broker.session}, but {leader} is in {owner}"
        )
        if isinstance(broker.agents[partition].state, Leading):
            isr = self.isrs[partition].in_sync.isr
            assert broker.id in isr, f"{partition}: {broker.id} serves at epoch {epoch} outside the ISR {isr}"

    def drops(self, path: str, session: int) -> None:
        """A request is deleted by its broker, which has carried it out, or by a sender that shrinks a full queue."""
        broker_id, name = int(path.split("/")[3]), path.split("/")[4]
        broker = self.cluster.brokers.get(broker_id)
        if (broker is not None and broker.session == session) or not self.cluster.tree.exists(path):
            return
        requests = {
            each: read_request(path, self.cluster.tree.data(znodes.request(broker_id, each)))
            for each in self.cluster.tree.names(znodes.state(broker_id))
        }
        dropped = requests.pop(name)
        kept = [
            each for each in requests.values() if (each.change, each.partition) == (dropped.change, dropped.partition)
        ]
        assert dropped.change is not StateChange.CLOSE_REPLICA or kept, (
            f"broker {broker_id} will never hear that it is to close {dropped.partition}"
        )

    def takes(self, broker: MemoryBroker, request: StateChangeRequest) -> None:
        """Check the beginning of a request at its broker."""
        if request.change is not StateChange.START_REPLICA or request.is_by_admin:
            return
        known, leader = self.isrs.get(request.partition), self.cluster.node(znodes.leader(request.partition))
        if known is not None and leader is not None and request.epoch < known.in_sync.epoch:
            self.cluster.stale[broker.id, request.partition, request.epoch] = leader.czxid

    def completed(self, broker_id: int, request: StateChangeRequest) -> None:
        leader = self.cluster.node(znodes.leader(request.partition))
        stale = self.cluster.stale.pop((broker_id, request.partition, request.epoch), None)
        is_stale = request.change is StateChange.START_REPLICA and stale is not None
        assert not (is_stale and leader is not None and leader.czxid == stale), (
            f"{broker_id} started {request.partition} for {request.sender}, which led at the old epoch {request.epoch}"
        )

    def at_rest(self) -> None:
        """All brokers live, and no broker has work left."""
        cluster = self.cluster
        for partition in cluster.partitions():
            node = cluster.node(znodes.replicas(partition))
            assert node is not None, f"{partition} has no replicas"
            replicas = znodes.read_replicas(partition, node.data)
            wanted = cluster.wanted.get(partition)
            assert wanted in (None, replicas), f"{partition} is on {replicas}, and was to move to {wanted}"
            assert not cluster.tree.exists(znodes.reassigned(partition)), f"the reassignment of {partition} is not over"
            leader = cluster.leader(partition)
            assert leader is not None, f"{partition} has no leader"
            isr = self.isrs[partition].in_sync.isr
            assert set(isr) == set(replicas), f"{partition} has the ISR {isr} of {replicas}"
            for broker in cluster.brokers.values():
                self._replica_at_rest(partition, broker, replicas, leader)
        for broker in cluster.brokers.values():
            assert not cluster.tree.names(znodes.state(broker.id)), f"the queue of broker {broker.id} is not empty"
            gone = set(broker.disk.logs) - set(cluster.partitions())
            assert not gone, f"broker {broker.id} still has {gone}"
        assert not cluster.tree.exists(znodes.REASSIGNED) or not any(
            cluster.tree.names(f"{znodes.REASSIGNED}/{topic}") for topic in cluster.tree.names(znodes.REASSIGNED)
        )

    def _replica_at_rest(
        self, partition: TopicPartition, broker: MemoryBroker, replicas: tuple[int, ...], leader: Leader
    ) -> None:
        if broker.id not in replicas:
            assert partition not in broker.disk.logs, f"broker {broker.id} still has a replica of {partition}"
            return
        agent, replica = broker.agents.get(partition), broker.data_plane.replicas.get(partition)
        assert agent is not None and replica is not None, f"broker {broker.id} has no replica of {partition}"
        role = ReplicaRole.LEADER if leader.broker_id == broker.id else ReplicaRole.FOLLOWER
        assert (replica.role, replica.leader_epoch) == (role, leader.epoch), f"{partition} on broker {broker.id}"
        state = Leading if leader.broker_id == broker.id else Following
        assert isinstance(agent.state, state), f"{partition} on broker {broker.id}"
        assert agent.epoch == leader.epoch, f"{partition} on broker {broker.id}"
        if role is ReplicaRole.LEADER:
            known = self.isrs[partition].in_sync
            assert replica.isr.committed == set(known.isr) and replica.isr.version == known.version
            assert replica.serves_clients
