"""The state of every replica, and the requests to its broker (Kafka Internals (2017), ReplicaStateMachine).

A transition is checked, stored in memory, and added to the request batch. Only a replica that goes offline changes a
znode: it leaves the ISR.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable

from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import ControllerContext, PartitionReplica
from fencepost.cluster_impl.designs.zk_controller.controller.state.leadership import change_states
from fencepost.cluster_impl.designs.zk_controller.controller.state.request_batch import RequestBatch
from fencepost.cluster_impl.designs.zk_controller.controller.state.transitions import REPLICA_TRANSITIONS, ReplicaState
from fencepost.cluster_impl.designs.zk_controller.znodes import LeaderAndIsr
from fencepost.cluster_impl.replication.control_plane import NO_LEADER, TopicPartition

log = logging.getLogger(__name__)


class ReplicaStateMachine:
    """Changes the states of replicas."""

    def __init__(self, context: ControllerContext, batch: RequestBatch) -> None:
        self._context = context
        self._batch = batch

    def startup(self) -> list[PartitionReplica]:
        """Set the initial states: a replica is online if its broker is live, else ineligible for deletion.

        All live brokers get all their partitions (Kafka Internals (2017), startup). Return the replicas that are
        not online.
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
        """Set replicas online; their brokers lead or follow."""
        for partition, broker_id in self._enter(replicas, ReplicaState.ONLINE):
            self._batch.leader_and_isr((broker_id,), partition)

    def start_new(self, replicas: Iterable[PartitionReplica]) -> None:
        """Start replicas that are new on their brokers; they follow."""
        for partition, broker_id in self._enter(replicas, ReplicaState.NEW):
            if partition in self._context.leadership:
                self._batch.leader_and_isr((broker_id,), partition, is_new=True)

    def take_offline(
        self, replicas: Iterable[PartitionReplica], *, renewed: Collection[TopicPartition] | None = None
    ) -> Steps[None]:
        """Stop replicas, and remove them from the ISR and the leadership.

        The last members of an ISR stay in it, as only they have all acknowledged records. `renewed` is given if the
        brokers failed. Then all their partitions get a new version, also where the replica was not in the ISR, so that
        an ISR change that was proposed for the earlier process is refused when the broker is back; `renewed` are the
        partitions that already have a new version.
        """
        going: dict[TopicPartition, list[int]] = {}
        for partition, broker_id in self._enter(replicas, ReplicaState.OFFLINE):
            self._batch.stop_replica((partition, broker_id))
            going.setdefault(partition, []).append(broker_id)

        def decide(partition: TopicPartition, known: LeaderAndIsr) -> LeaderAndIsr | None:
            gone = going[partition]
            isr = tuple(replica for replica in known.isr if replica not in gone) or known.isr
            leader = NO_LEADER if known.leader in gone else known.leader
            if (isr, leader) == (known.isr, known.leader) and (renewed is None or partition in renewed):
                return None
            return LeaderAndIsr(leader, known.leader_epoch + 1, isr, self._context.epoch)

        for partition in (yield from change_states(self._context, going, decide)):
            others = [
                replica for replica in self._context.online_replicas(partition) if replica not in going[partition]
            ]
            self._batch.leader_and_isr(others, partition)
        self._batch.update_metadata(going)

    def put(self, replicas: Iterable[PartitionReplica], target: ReplicaState) -> list[PartitionReplica]:
        """Enter a state of deletion and return the replicas that did. In DELETION_STARTED their brokers delete them."""
        entered = self._enter(replicas, target)
        if target is ReplicaState.DELETION_STARTED:
            for replica in entered:
                self._batch.stop_replica(replica, delete=True)
        elif target is ReplicaState.NON_EXISTENT:
            for replica in entered:
                del self._context.replica_states[replica]
        return entered

    def _enter(self, replicas: Iterable[PartitionReplica], target: ReplicaState) -> list[PartitionReplica]:
        sources = REPLICA_TRANSITIONS[target]
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
