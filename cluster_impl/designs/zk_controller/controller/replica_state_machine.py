"""ReplicaStateMachine: the state of every replica, and what its broker is told about it (003, ReplicaStateMachine).

A transition checks the present state against the wanted one, keeps the new one in memory, and gathers requests where
brokers need to know. Only a replica that goes offline changes a znode: it leaves the ISR.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable

from cluster_impl.coordination.steps import Steps
from cluster_impl.designs.zk_controller.controller.context import ControllerContext, PartitionReplica
from cluster_impl.designs.zk_controller.controller.leadership import change_states
from cluster_impl.designs.zk_controller.controller.request_batch import RequestBatch
from cluster_impl.designs.zk_controller.controller.states import REPLICA_ARROWS, ReplicaState
from cluster_impl.designs.zk_controller.znodes import LeaderAndIsr
from cluster_impl.replication.control_plane import NO_LEADER, TopicPartition

log = logging.getLogger(__name__)


class ReplicaStateMachine:
    def __init__(self, context: ControllerContext, batch: RequestBatch) -> None:
        self._context = context
        self._batch = batch

    def startup(self) -> list[PartitionReplica]:
        """003, startup: a replica is online if its broker lives, else it cannot be deleted.

        All brokers that live hear of all their partitions. Returns the replicas that are not online.
        """
        dead = []
        for partition in self._context.partitions():
            for broker_id in self._context.replicas(partition):
                if self._context.is_online(broker_id, partition):
                    self._context.replica_states[partition, broker_id] = ReplicaState.ONLINE
                    self._batch.leader_and_isr((broker_id,), partition)
                else:
                    self._context.replica_states[partition, broker_id] = ReplicaState.DELETION_INELIGIBLE
                    dead.append((partition, broker_id))
        return dead

    def bring_online(self, replicas: Iterable[PartitionReplica]) -> None:
        """Tell brokers to lead or follow."""
        for partition, broker_id in self._enter(replicas, ReplicaState.ONLINE):
            self._batch.leader_and_isr((broker_id,), partition)

    def start_new(self, replicas: Iterable[PartitionReplica]) -> None:
        """Tell brokers to follow with a replica that they did not have."""
        for partition, broker_id in self._enter(replicas, ReplicaState.NEW):
            if partition in self._context.leadership:
                self._batch.leader_and_isr((broker_id,), partition, is_new=True)

    def take_offline(
        self, replicas: Iterable[PartitionReplica], *, renewed: Collection[TopicPartition] | None = None
    ) -> Steps[None]:
        """Stop replicas, and take them out of the ISR and the leadership.

        The last members of an ISR stay in it: they alone have what was acknowledged. `renewed` is given when their
        broker failed. Then every partition of it gets a new version, also where the replica was no member, so that an
        ISR change that was proposed for the process of before is refused when the broker is back; `renewed` are those
        that had one already.
        """
        going: dict[TopicPartition, list[int]] = {}
        for partition, broker_id in self._enter(replicas, ReplicaState.OFFLINE):
            self._batch.stop_replica((partition, broker_id))
            going.setdefault(partition, []).append(broker_id)

        def decide(partition: TopicPartition, known: LeaderAndIsr) -> LeaderAndIsr | None:
            gone = going[partition]
            isr = tuple(each for each in known.isr if each not in gone) or known.isr
            leader = NO_LEADER if known.leader in gone else known.leader
            if (isr, leader) == (known.isr, known.leader) and (renewed is None or partition in renewed):
                return None
            return LeaderAndIsr(leader, known.leader_epoch + 1, isr, self._context.epoch)

        for partition in (yield from change_states(self._context, going, decide)):
            others = [each for each in self._context.online_replicas(partition) if each not in going[partition]]
            self._batch.leader_and_isr(others, partition)
        self._batch.update_metadata(going)

    def put(self, replicas: Iterable[PartitionReplica], target: ReplicaState) -> list[PartitionReplica]:
        """The states of deletion; who is told to delete answers for it. Returns the replicas that changed."""
        entered = self._enter(replicas, target)
        if target is ReplicaState.DELETION_STARTED:
            for replica in entered:
                self._batch.stop_replica(replica, delete=True)
        elif target is ReplicaState.NON_EXISTENT:
            for replica in entered:
                del self._context.replica_states[replica]
        return entered

    def _enter(self, replicas: Iterable[PartitionReplica], target: ReplicaState) -> list[PartitionReplica]:
        sources = REPLICA_ARROWS[target]
        entered = []
        for partition, broker_id in replicas:
            state = self._context.replica_state(partition, broker_id)
            if state in sources:
                self._context.replica_states[partition, broker_id] = target
                entered.append((partition, broker_id))
            else:
                log.error(
                    "the replica of %s on broker %d stays %s: it cannot become %s",
                    partition,
                    broker_id,
                    state.value,
                    target.value,
                )
        return entered
