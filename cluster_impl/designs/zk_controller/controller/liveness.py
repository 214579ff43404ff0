"""Brokers that come and go: onBrokerStartup and onBrokerFailure (003).

A broker is live if it is registered, and legacy, active or stopping (KIP-343). Whatever changes that, a znode, a
heartbeat or the lack of one, ends in `reconcile`, which compares who is live with who was. A broker whose epoch changed
is another process: a failure, and then a startup.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable

from cluster_impl.coordination.steps import Steps
from cluster_impl.designs.zk_controller.controller.brokers import Registration, read_registrations
from cluster_impl.designs.zk_controller.controller.context import PartitionReplica
from cluster_impl.designs.zk_controller.controller.core import Core
from cluster_impl.designs.zk_controller.controller.deletion import TopicDeletion
from cluster_impl.designs.zk_controller.controller.heartbeats import BrokerStates
from cluster_impl.designs.zk_controller.controller.leadership import change_states
from cluster_impl.designs.zk_controller.controller.states import PartitionState
from cluster_impl.designs.zk_controller.states import BrokerState
from cluster_impl.designs.zk_controller.znodes import LeaderAndIsr
from cluster_impl.replication.control_plane import TopicPartition

log = logging.getLogger(__name__)


class Liveness:
    def __init__(self, core: Core, states: BrokerStates, deletion: TopicDeletion) -> None:
        self._core = core
        self._context = core.context
        self._states = states
        self._deletion = deletion
        self._failed: set[int] = set()
        """Brokers whose failure this controller has dealt with."""

    def read(self) -> Steps[None]:
        """Read who is registered, with a watch; `reconcile` makes something of it."""
        registrations = yield from read_registrations()
        for broker_id in self._context.registered.keys() - registrations.keys():
            self._states.gone(broker_id)
        for registration in registrations.values():
            self._states.registered(registration)
        self._context.registered = registrations

    def elected(self, now: float, *, brand_new: bool) -> Steps[None]:
        """Who is live for a new controller: nobody has failed, and nobody comes up."""
        self._context.registered = yield from read_registrations()
        self._states.elected(self._context.registered.values(), now, brand_new=brand_new)
        self._context.live = self._live_now()
        self._context.stopping = self._stopping_now()

    def reconcile(self) -> Steps[None]:
        """Carry out what changed about who is live."""
        before, after = self._context.live, self._live_now()
        failed = [each for each, epoch in before.items() if after.get(each) != epoch]
        started = [each for each, epoch in after.items() if before.get(each) != epoch]
        self._context.stopping -= set(failed)
        if failed:
            self._context.live = {each: epoch for each, epoch in before.items() if each not in failed}
            yield from self._on_broker_failure(failed)
        if started:
            self._context.live = after
            yield from self._on_broker_startup(started)

    def replicas_offline(self, replicas: Collection[PartitionReplica], *, brokers_failed: bool = False) -> Steps[None]:
        """Replicas cannot be used: new leaders for what they led, out of the ISR with them."""
        begun = self._context.deletion_begun
        ordinary = [each for each in replicas if each[0].topic not in begun]
        led = [partition for partition, broker_id in ordinary if self._context.leader(partition) == broker_id]
        self._core.partitions.put(led, PartitionState.OFFLINE)
        renewed = yield from self._core.partitions.trigger_online()
        yield from self._core.replicas.take_offline(ordinary, renewed=set(renewed) if brokers_failed else None)
        self._deletion.fail(each for each in replicas if each[0].topic in begun)
        self._core.batch.update_metadata()

    def renew(self, partitions: Iterable[TopicPartition]) -> Steps[None]:
        """Give partitions a new version, so that what was proposed before is refused."""

        def touch(partition: TopicPartition, known: LeaderAndIsr) -> LeaderAndIsr:
            return LeaderAndIsr(known.leader, known.leader_epoch + 1, known.isr, self._context.epoch)

        for partition in (yield from change_states(self._context, partitions, touch)):
            self._core.batch.leader_and_isr(self._context.online_replicas(partition), partition)

    def _on_broker_failure(self, broker_ids: Collection[int]) -> Steps[None]:
        log.info("brokers failed: %s", sorted(broker_ids))
        self._failed.update(broker_ids)
        replicas = [(each, broker_id) for broker_id in broker_ids for each in self._context.on_broker(broker_id)]
        yield from self.replicas_offline(replicas, brokers_failed=True)

    def _on_broker_startup(self, broker_ids: Collection[int]) -> Steps[None]:
        """003, onBrokerStartup. A broker that was away when this controller was elected failed unseen."""
        log.info("brokers are live: %s", sorted(broker_ids))
        self._core.batch.update_metadata()
        self._core.batch.introduce(broker_ids)
        begun = self._context.deletion_begun
        held = {id: [each for each in self._context.on_broker(id) if each.topic not in begun] for id in broker_ids}
        for broker_id, of_broker in held.items():
            self._core.replicas.bring_online((each, broker_id) for each in of_broker)
        renewed = set((yield from self._core.partitions.trigger_online()))
        unseen = dict.fromkeys(each for id, of_broker in held.items() if id not in self._failed for each in of_broker)
        yield from self.renew(each for each in unseen if each not in renewed)
        yield from self._deletion.resume(returned=broker_ids)

    def _live_now(self) -> dict[int, int]:
        """A broker of which a heartbeat told a later incarnation than its znode is not live before that was read."""
        return {
            broker_id: registration.epoch
            for broker_id, registration in self._context.registered.items()
            if self._is_live(registration)
        }

    def _is_live(self, registration: Registration) -> bool:
        known = self._states.incarnation(registration.broker_id)
        return known == registration.epoch and self._states.is_live(registration.broker_id)

    def _stopping_now(self) -> set[int]:
        return {each for each in self._context.live if self._states.state(each) is BrokerState.STOPPING}
