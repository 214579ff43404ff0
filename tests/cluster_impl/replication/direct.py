"""Replicas of one partition that talk by calls: every exchange is one step, and may lose its answer.

The replicas are the real ones, their logs are lists in memory that outlive the process. The caller decides
on the leader and the ISR, as a control plane would; a replica that is not in sync never leads.
"""

from __future__ import annotations

from fencepost.cluster_impl.replication.control_plane import IsrAccepted, PartitionAssignment
from fencepost.cluster_impl.replication.fetcher import Following
from fencepost.cluster_impl.replication.follower import FollowerFetch
from fencepost.cluster_impl.replication.partition import RoleTransition
from fencepost.cluster_impl.replication.progress import ReplicaRole
from fencepost.cluster_impl.replication.replica import LogEpochEnd, Read
from fencepost.cluster_impl.replication.rules import Rules
from fencepost.cluster_impl.replication.validation import PartitionError
from fencepost.cluster_impl.storage.epochs import UNDEFINED_EPOCH
from fencepost.cluster_impl.wire.batches import build, parse, split
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.replication.parts import CONFIG, TOPIC_ID, Node

NO_LEADER = -1


class Replicas:
    """`disks` and `checkpoints` outlive a process; `committed` is what a leader that served clients has shown them."""

    def __init__(self, rules: Rules, ids: tuple[int, ...] = (1, 2)) -> None:
        self.rules = rules
        self.ids = ids
        self.disks: dict[int, list[bytes]] = {node_id: [] for node_id in ids}
        self.checkpoints = dict.fromkeys(ids, 0)
        self.nodes: dict[int, Node] = {}
        self.committed: list[bytes] = []
        self.leader, self.isr, self.epoch, self.version = NO_LEADER, ids, -1, 0
        self.serves_clients = True
        self.now = 0.0
        self._broker_epoch = 0
        for node_id in ids:
            self.start(node_id)

    @property
    def leading(self) -> Node:
        return self.nodes[self.leader]

    def values(self, node_id: int) -> list[str]:
        """Return the values in a replica's log, also of a dead process."""
        batches = [batch for entry in self.disks[node_id] for batch in split(entry)]
        return [(record.value or b"").decode() for batch in batches for record in parse(batch)]

    # What is decided

    def elect(self, node_id: int, *, serves_clients: bool = True) -> None:
        assert node_id in self.isr and node_id in self.nodes
        self.leader, self.serves_clients = node_id, serves_clients
        self.epoch, self.version = self.epoch + 1, self.version + 1
        self._tell_all()

    def serve(self, isr: tuple[int, ...]) -> None:
        """The wait of a new leader is over."""
        self.isr, self.version, self.serves_clients = isr, self.version + 1, True
        self._tell_all()

    def settle_isr(self) -> None:
        """Do what the leader proposes now."""
        proposal = self.leading.core.next_isr(self._registered, self.now)
        if proposal is not None:
            self.isr, self.version = proposal.isr, self.version + 1
            accepted = IsrAccepted(isr=self.isr, leader_epoch=self.epoch, version=self.version)
            self.leading.replica.isr_answered(proposal, accepted, self.now)
            self._tell_all()

    def _registered(self, node_id: int) -> int | None:
        node = self.nodes.get(node_id)
        return None if node is None else node.broker_epoch

    def _tell_all(self) -> None:
        for node in self.nodes.values():
            self._tell(node)
        self._note()

    def _tell(self, node: Node) -> None:
        to = PartitionAssignment(
            topic="t", topic_id=TOPIC_ID, partition=0, replicas=self.ids, isr=self.isr, leader=self.leader,
            leader_epoch=self.epoch, leader_term_epoch=self.epoch, version=self.version,
            serves_clients=self.serves_clients,
        )  # fmt: skip
        if node.replica.assign(to, self.now) is RoleTransition.FOLLOWS:
            node.following = Following(node.replica)

    # What happens to processes

    def start(self, node_id: int) -> None:
        self._broker_epoch += 1
        known = self.checkpoints[node_id]
        node = Node(node_id, self._broker_epoch, self.disks[node_id], known, self.rules)
        self.nodes[node_id] = node
        if self.epoch >= 0:
            self._tell(node)

    def checkpoint(self, node_id: int) -> None:
        core = self.nodes[node_id].core
        if not core.keeps_checkpoint:
            self.checkpoints[node_id] = core.high_watermark

    def kill(self, node_id: int) -> None:
        del self.nodes[node_id]
        self._without_leader(node_id)

    def depose(self) -> None:
        """The leader loses its leadership and lives on."""
        self.leading.replica.stop()
        self._without_leader(self.leader)

    def _without_leader(self, node_id: int) -> None:
        if self.leader == node_id:
            self.leader, self.version = NO_LEADER, self.version + 1
            self._tell_all()

    # What replicas do

    def produce(self, value: str) -> None:
        """PartitionError unless the leader serves clients. Acknowledged is what is in `committed` then, or later."""
        try:
            self.leading.replica.append_as_leader(build([(None, value.encode(), 1)]), -1, self.now)
        except PartitionError as refused:
            assert refused.error is Error.NOT_LEADER_OR_FOLLOWER and not self.serves_clients
        self._note()

    def fetch(self, node_id: int, *, answered: bool = True) -> None:
        """One question to the leader and its answer, unless that is lost."""
        node, leader = self.nodes[node_id], self.nodes.get(self.leader)
        if node.core.role is not ReplicaRole.FOLLOWER or leader is None:
            return
        last_epoch = node.replica.latest_epoch()
        if not node.following.truncated and last_epoch != UNDEFINED_EPOCH:
            end = leader.replica.epoch_end(last_epoch)
            if answered and end.epoch != UNDEFINED_EPOCH:
                node.following.truncated = node.replica.truncate(end)
            return
        offset = node.memory.log_end_offset
        fetch = FollowerFetch(node_id, node.broker_epoch, self.epoch, offset)
        try:
            leader.replica.credit(fetch, node.broker_epoch, last_epoch, self.now)
            read = leader.replica.read(offset, self.epoch, last_epoch, CONFIG.fetch_max_bytes, committed=False)
        except PartitionError as refused:
            assert refused.error is Error.OFFSET_OUT_OF_RANGE
            if answered:
                self._out_of_range(node, leader)
            return
        self._note()
        if answered:
            self._append(node, read)

    def _out_of_range(self, node: Node, leader: Node) -> None:
        if node.replica.asks_leader:
            node.following.truncated = False
        else:
            node.replica.cut_to_high_watermark(leader.core.high_watermark)

    def _append(self, node: Node, read: Read) -> None:
        if read.diverging is not None:
            node.following.truncated = node.replica.truncate(
                LogEpochEnd(read.diverging.epoch, read.diverging.end_offset)
            )
        else:
            node.replica.append_as_follower(read.records, read.high_watermark)

    def copy(self, node_id: int) -> None:
        """Fetch until the follower has all, and its leader and itself know it."""
        for _ in range(6):
            self.fetch(node_id)

    # What is seen of it

    def _note(self) -> None:
        leader = self.nodes.get(self.leader)
        if leader is None or leader.core.role is not ReplicaRole.LEADER or not self.serves_clients:
            return
        shown = leader.core.high_watermark
        if shown > len(self.committed):
            self.committed += leader.memory.entries[len(self.committed) : shown]

    def lost(self, node_id: int) -> bool:
        """Return True if a replica lacks a record that a client saw or wrote, or has another in its place."""
        return self.disks[node_id][: len(self.committed)] != self.committed

    def differ(self) -> list[int]:
        """The offsets at which replicas have different records."""
        shortest = min(len(entries) for entries in self.disks.values())
        return [offset for offset in range(shortest) if len({entries[offset] for entries in self.disks.values()}) > 1]
