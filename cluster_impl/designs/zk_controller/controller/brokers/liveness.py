"""Failures and startups of brokers (Kafka Internals (2017), onBrokerStartup and onBrokerFailure).

A broker is live if it is registered, and sends no heartbeats, or is active or stopping (KIP-343). After each change of
that, by a znode, a heartbeat or the lack of one, `reconcile` compares the live brokers with the earlier ones. A broker
with a new epoch is another process: a failure, and then a startup.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable

from fencepost.cluster_impl.coordination.steps import Found, Get, Steps, names, run
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.broker_state import BrokerState
from fencepost.cluster_impl.designs.zk_controller.controller.brokers.broker_states import BrokerStates
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import PartitionReplica, RegisteredBroker
from fencepost.cluster_impl.designs.zk_controller.controller.state.leadership import change_states
from fencepost.cluster_impl.designs.zk_controller.controller.state.machines import StateMachines
from fencepost.cluster_impl.designs.zk_controller.controller.state.transitions import PartitionState
from fencepost.cluster_impl.designs.zk_controller.controller.topics.deletion import TopicDeletion
from fencepost.cluster_impl.designs.zk_controller.znodes import LeaderAndIsr
from fencepost.cluster_impl.replication.control_plane import TopicPartition

log = logging.getLogger(__name__)


log = logging.getLogger(__name__)


def read_registrations() -> Steps[dict[int, RegisteredBroker]]:
    """Read all registered brokers, with a watch on the list.

    A registration never changes: a broker that returns creates a new znode, which fires the watch. A znode that
    disappears meanwhile, or cannot be read, is left out, so the broker counts as not registered.
    """
    listed = yield from names(znodes.BROKER_IDS, watch=True)
    ids = sorted(int(name) for name in listed if name.isdecimal())
    outcomes = yield from run([Get(znodes.broker(broker_id)) for broker_id in ids])
    registrations = {}
    for broker_id, outcome in zip(ids, outcomes, strict=True):
        if not isinstance(outcome, Found):
            continue
        try:
            info = znodes.read_broker(broker_id, outcome.data)
        except MalformedZnode as problem:
            log.error("broker %d is treated as not registered: %s", broker_id, problem)
            continue
        registrations[broker_id] = RegisteredBroker(broker_id, outcome.stat.czxid, info)
    return registrations


class BrokerLiveness:
    """Tracks the live brokers, and carries out their failures and startups."""

    def __init__(self, machines: StateMachines, states: BrokerStates, deletion: TopicDeletion) -> None:
        self._machines = machines
        self._context = machines.context
        self._states = states
        self._deletion = deletion
        self._failed: set[int] = set()
        """Brokers whose failure this controller has handled."""

    def read(self) -> Steps[None]:
        """Read the registered brokers, with a watch. `reconcile` carries out the changes."""
        registrations = yield from read_registrations()
        for broker_id in self._context.registered.keys() - registrations.keys():
            self._states.gone(broker_id)
        for registration in registrations.values():
            self._states.registered(registration)
        self._context.registered = registrations

    def elected(self, now: float, *, brand_new: bool) -> Steps[None]:
        """Set the live brokers of a new controller, without failures and startups."""
        self._context.registered = yield from read_registrations()
        self._states.elected(self._context.registered.values(), now, brand_new=brand_new)
        self._context.live = self._live_now()
        self._context.stopping = self._stopping_now()

    def reconcile(self) -> Steps[None]:
        """Carry out the failures and startups since the last call."""
        before, after = self._context.live, self._live_now()
        failed = [broker_id for broker_id, epoch in before.items() if after.get(broker_id) != epoch]
        started = [broker_id for broker_id, epoch in after.items() if before.get(broker_id) != epoch]
        self._context.stopping -= set(failed)
        if failed:
            self._context.live = {broker_id: epoch for broker_id, epoch in before.items() if broker_id not in failed}
            yield from self._on_broker_failure(failed)
        if started:
            self._context.live = after
            yield from self._on_broker_startup(started)

    def replicas_offline(self, replicas: Collection[PartitionReplica], *, brokers_failed: bool = False) -> Steps[None]:
        """Take replicas offline: elect new leaders, and remove the replicas from the ISRs."""
        begun = self._context.deletion_begun
        ordinary = [replica for replica in replicas if replica[0].topic not in begun]
        led = [partition for partition, broker_id in ordinary if self._context.leader(partition) == broker_id]
        self._machines.partitions.put(led, PartitionState.OFFLINE)
        renewed = yield from self._machines.partitions.trigger_online()
        yield from self._machines.replicas.take_offline(ordinary, renewed=set(renewed) if brokers_failed else None)
        self._deletion.fail(replica for replica in replicas if replica[0].topic in begun)
        self._machines.batch.update_metadata()

    def renew(self, partitions: Iterable[TopicPartition]) -> Steps[None]:
        """Give partitions a new version, so that earlier proposals are refused."""

        def touch(partition: TopicPartition, known: LeaderAndIsr) -> LeaderAndIsr:
            return LeaderAndIsr(known.leader, known.leader_epoch + 1, known.isr, self._context.epoch)

        for partition in (yield from change_states(self._context, partitions, touch)):
            self._machines.batch.leader_and_isr(self._context.online_replicas(partition), partition)

    def _on_broker_failure(self, broker_ids: Collection[int]) -> Steps[None]:
        log.info("brokers failed: %s", sorted(broker_ids))
        self._failed.update(broker_ids)
        replicas = [
            (partition, broker_id) for broker_id in broker_ids for partition in self._context.on_broker(broker_id)
        ]
        yield from self.replicas_offline(replicas, brokers_failed=True)

    def _on_broker_startup(self, broker_ids: Collection[int]) -> Steps[None]:
        """Handle brokers that have become live (Kafka Internals (2017), onBrokerStartup).

        A broker that was away when this controller was elected may have failed and returned unnoticed.
        """
        log.info("brokers are live: %s", sorted(broker_ids))
        self._machines.batch.update_metadata()
        self._machines.batch.introduce(broker_ids)
        begun = self._context.deletion_begun
        held = {
            id: [partition for partition in self._context.on_broker(id) if partition.topic not in begun]
            for id in broker_ids
        }
        for broker_id, of_broker in held.items():
            self._machines.replicas.bring_online((partition, broker_id) for partition in of_broker)
        renewed = set((yield from self._machines.partitions.trigger_online()))
        unseen = dict.fromkeys(
            partition for id, of_broker in held.items() if id not in self._failed for partition in of_broker
        )
        yield from self.renew(partition for partition in unseen if partition not in renewed)
        yield from self._deletion.resume(returned=broker_ids)

    def _live_now(self) -> dict[int, int]:
        """Return the live brokers.

        One with a later incarnation than its znode is not live until its new znode is read.
        """
        return {
            broker_id: registration.epoch
            for broker_id, registration in self._context.registered.items()
            if self._is_live(registration)
        }

    def _is_live(self, registration: RegisteredBroker) -> bool:
        known = self._states.incarnation(registration.broker_id)
        return known == registration.epoch and self._states.is_live(registration.broker_id)

    def _stopping_now(self) -> set[int]:
        return {broker_id for broker_id in self._context.live if self._states.state(broker_id) is BrokerState.STOPPING}
