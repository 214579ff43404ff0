"""Controlled shutdown: leaderships move off a broker before it ends (Kafka Internals (2017); KIP-343, Broker
State).

A broker that sends heartbeats is relieved in pieces, so that other events are handled in between: from its first
heartbeat as STOPPING, or from its first ControlledShutdown request, whichever arrives earlier. The response names the
leaderships that remain, and the broker repeats the request. For a broker without heartbeats all leaderships are moved
before the response.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.zk_controller.controller.brokers.broker_states import BrokerStates
from fencepost.cluster_impl.designs.zk_controller.controller.state import selectors
from fencepost.cluster_impl.designs.zk_controller.controller.state.machines import StateMachines
from fencepost.cluster_impl.designs.zk_controller.controller.state.selectors import LeaderChoice
from fencepost.cluster_impl.designs.zk_controller.znodes import LeaderAndIsr
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

LEADERS_AT_ONCE = 100
"""Leaderships of a stopping broker that are moved before other events are handled."""

_EPOCHS_FROM = 2
"""The first version of ControlledShutdown that names a broker epoch."""

RemainingPartition = m.ControlledShutdownResponse.RemainingPartition


class ControlledShutdown:
    """Moves leaderships off brokers that shut down."""

    def __init__(self, machines: StateMachines, states: BrokerStates) -> None:
        self._machines = machines
        self._states = states
        self._context = machines.context
        self._to_relieve: dict[int, list[TopicPartition]] = {}
        """By stopping broker, the leaderships that were not moved yet."""

    def ask(self, request: m.ControlledShutdownRequest, version: int) -> Steps[m.ControlledShutdownResponse]:
        """Begin to relieve the sender, or relieve it at once if it sends no heartbeats; return the response.

        In a version without broker epochs it applies to the process that has the id. In a version with epochs a request
        without one is refused, as the sender's session has ended.
        """
        broker_id = request.broker_id
        epoch = self._context.live.get(broker_id)
        if version >= _EPOCHS_FROM and request.broker_epoch != epoch:
            return m.ControlledShutdownResponse(error_code=Error.STALE_BROKER_EPOCH)
        if epoch is None:
            return m.ControlledShutdownResponse(error_code=Error.BROKER_NOT_AVAILABLE)
        if broker_id not in self._context.stopping:
            log.info("broker %d shuts down", broker_id)
        self._context.stopping.add(broker_id)
        led = self._led_by(broker_id)
        if led and self._states.has_heartbeats(broker_id):
            self._to_relieve.setdefault(broker_id, led)
        else:
            self._to_relieve.pop(broker_id, None)
            yield from self._move(led)
            yield from self._stop_followers(broker_id)
            led = self._led_by(broker_id)
        remaining = [
            RemainingPartition(topic_name=partition.topic, partition_index=partition.partition) for partition in led
        ]
        return m.ControlledShutdownResponse(remaining_partitions=remaining)

    def begin(self, broker_id: int) -> None:
        """Start to move leaderships off a broker whose heartbeat says that it is stopping; it gets no new ones."""
        log.info("broker %d is stopping", broker_id)
        self._context.stopping.add(broker_id)
        self._to_relieve.setdefault(broker_id, self._led_by(broker_id))

    def end(self, broker_id: int) -> Steps[None]:
        """End the shutdown of a broker that is active again: it follows, and may lead partitions without a leader."""
        self._context.stopping.discard(broker_id)
        self._to_relieve.pop(broker_id, None)
        begun = self._context.deletion_begun
        held = [partition for partition in self._context.on_broker(broker_id) if partition.topic not in begun]
        self._machines.replicas.bring_online((partition, broker_id) for partition in held)
        yield from self._machines.partitions.trigger_online()

    @property
    def is_relieving(self) -> bool:
        return bool(self._to_relieve)

    def relieve(self) -> Steps[None]:
        """Move some leaderships off each stopping broker; after the last one stop its followers."""
        for broker_id, led in list(self._to_relieve.items()):
            if broker_id not in self._context.stopping:
                del self._to_relieve[broker_id]
                continue
            now, later = led[:LEADERS_AT_ONCE], led[LEADERS_AT_ONCE:]
            self._to_relieve[broker_id] = later
            yield from self._move([partition for partition in now if self._context.leader(partition) == broker_id])
            if not later:
                del self._to_relieve[broker_id]
                yield from self._stop_followers(broker_id)

    def _led_by(self, broker_id: int) -> list[TopicPartition]:
        """Return the partitions that the broker leads and another replica could lead."""
        return [
            partition
            for partition in self._context.on_broker(broker_id)
            if self._context.leader(partition) == broker_id and self._counts(partition)
        ]

    def _counts(self, partition: TopicPartition) -> bool:
        return len(self._context.replicas(partition)) > 1 and partition.topic not in self._context.deletion_begun

    def _move(self, partitions: Collection[TopicPartition]) -> Steps[None]:
        def select(partition: TopicPartition, known: LeaderAndIsr) -> LeaderChoice | None:
            return selectors.controlled_shutdown(
                self._context.replicas(partition),
                known.isr,
                self._context.online_replicas(partition),
                self._context.stopping,
            )

        yield from self._machines.partitions.elect(partitions, select)

    def _stop_followers(self, broker_id: int) -> Steps[None]:
        """Stop the followers on the broker, so that no leader waits for them when it ends."""
        followed = [
            (partition, broker_id)
            for partition in self._context.on_broker(broker_id)
            if self._context.leader(partition) != broker_id
            and partition in self._context.leadership
            and self._counts(partition)
        ]
        yield from self._machines.replicas.take_offline(followed)
