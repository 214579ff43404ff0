"""Controlled shutdown: leaderships leave a broker before it goes (003, KIP-343 Broker State).

Asked for by ControlledShutdown, all is moved before the answer, which names what the broker still leads. A broker that
heartbeats as stopping is relieved little by little, so that others are served in between.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from cluster_impl.coordination.steps import Steps
from cluster_impl.designs.zk_controller.controller import selectors
from cluster_impl.designs.zk_controller.controller.core import Core
from cluster_impl.designs.zk_controller.controller.selectors import Choice
from cluster_impl.designs.zk_controller.znodes import LeaderAndIsr
from cluster_impl.replication.control_plane import TopicPartition
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

LEADERS_AT_ONCE = 100
"""How many leaderships of a stopping broker are moved before others have their turn."""

_EPOCHS_FROM = 2
"""The first version of ControlledShutdown that names a broker epoch."""

RemainingPartition = m.ControlledShutdownResponse.RemainingPartition


class ControlledShutdown:
    def __init__(self, core: Core) -> None:
        self._core = core
        self._context = core.context
        self._to_relieve: dict[int, list[TopicPartition]] = {}
        """By stopping broker, what it led and was not moved yet."""

    def ask(self, request: m.ControlledShutdownRequest, version: int) -> Steps[m.ControlledShutdownResponse]:
        """Decide and carry out a whole request. One without a broker epoch is of whoever has the id; in a version that
        has epochs it is of nobody, since the sender's own session is over."""
        broker_id = request.broker_id
        epoch = self._context.live.get(broker_id)
        if version >= _EPOCHS_FROM and request.broker_epoch != epoch:
            return m.ControlledShutdownResponse(error_code=Error.STALE_BROKER_EPOCH)
        if epoch is None:
            return m.ControlledShutdownResponse(error_code=Error.BROKER_NOT_AVAILABLE)
        log.info("broker %d shuts down", broker_id)
        self._context.stopping.add(broker_id)
        self._to_relieve.pop(broker_id, None)
        yield from self._move(self._led_by(broker_id))
        yield from self._stop_followers(broker_id)
        remaining = [
            RemainingPartition(topic_name=each.topic, partition_index=each.partition)
            for each in self._led_by(broker_id)
        ]
        return m.ControlledShutdownResponse(remaining_partitions=remaining)

    def begin(self, broker_id: int) -> None:
        """A heartbeat said that a broker is stopping: nobody gives it anything to lead any more."""
        log.info("broker %d is stopping", broker_id)
        self._context.stopping.add(broker_id)
        self._to_relieve[broker_id] = self._led_by(broker_id)

    def end(self, broker_id: int) -> Steps[None]:
        """It wants to stay after all: it follows again, and may lead what has no leader."""
        self._context.stopping.discard(broker_id)
        self._to_relieve.pop(broker_id, None)
        begun = self._context.deletion_begun
        held = [each for each in self._context.on_broker(broker_id) if each.topic not in begun]
        self._core.replicas.bring_online((each, broker_id) for each in held)
        yield from self._core.partitions.trigger_online()

    @property
    def has_more(self) -> bool:
        return bool(self._to_relieve)

    def relieve(self) -> Steps[None]:
        """Move some leaderships off each stopping broker; its last step is to stop what it follows."""
        for broker_id, led in list(self._to_relieve.items()):
            if broker_id not in self._context.stopping:
                del self._to_relieve[broker_id]
                continue
            now, later = led[:LEADERS_AT_ONCE], led[LEADERS_AT_ONCE:]
            self._to_relieve[broker_id] = later
            yield from self._move([each for each in now if self._context.leader(each) == broker_id])
            if not later:
                del self._to_relieve[broker_id]
                yield from self._stop_followers(broker_id)

    def _led_by(self, broker_id: int) -> list[TopicPartition]:
        """What it leads and another replica might; a partition without another one is not waited for."""
        return [
            each
            for each in self._context.on_broker(broker_id)
            if self._context.leader(each) == broker_id and self._counts(each)
        ]

    def _counts(self, partition: TopicPartition) -> bool:
        return len(self._context.replicas(partition)) > 1 and partition.topic not in self._context.deletion_begun

    def _move(self, partitions: Collection[TopicPartition]) -> Steps[None]:
        def select(partition: TopicPartition, known: LeaderAndIsr) -> Choice | None:
            return selectors.controlled_shutdown(
                self._context.replicas(partition),
                known.isr,
                self._context.online_replicas(partition),
                self._context.stopping,
            )

        yield from self._core.partitions.elect(partitions, select)

    def _stop_followers(self, broker_id: int) -> Steps[None]:
        """What it follows, it follows no more; so no leader waits for it when it goes."""
        followed = [
            (each, broker_id)
            for each in self._context.on_broker(broker_id)
            if self._context.leader(each) != broker_id and each in self._context.leadership and self._counts(each)
        ]
        yield from self._core.replicas.take_offline(followed)
