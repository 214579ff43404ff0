"""The state of every partition, and its leaders (Kafka Internals (2017), PartitionStateMachine)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable

from fencepost.cluster_impl.coordination.steps import Found, Get, Steps
from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.zk_controller.controller.state import selectors
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import ControllerContext
from fencepost.cluster_impl.designs.zk_controller.controller.state.leadership import (
    change_states,
    create_states,
    read_states,
)
from fencepost.cluster_impl.designs.zk_controller.controller.state.request_batch import RequestBatch
from fencepost.cluster_impl.designs.zk_controller.controller.state.selectors import LeaderChoice
from fencepost.cluster_impl.designs.zk_controller.controller.state.transitions import (
    PARTITION_TRANSITIONS,
    PartitionState,
)
from fencepost.cluster_impl.designs.zk_controller.znodes import LeaderAndIsr
from fencepost.cluster_impl.replication.control_plane import TopicPartition

log = logging.getLogger(__name__)

Selector = Callable[[TopicPartition, LeaderAndIsr], LeaderChoice | None]
"""Returns the new leader and ISR of a partition with this state, None if it finds no leader."""

UNCLEAN = "unclean.leader.election.enable"


class PartitionStateMachine:
    """Changes the states of partitions. `unclean` is the default for topics without a setting of their own."""

    def __init__(self, context: ControllerContext, batch: RequestBatch, *, unclean: bool) -> None:
        self._context = context
        self._batch = batch
        self._unclean = unclean

    def startup(self) -> None:
        """Set the initial states of all partitions of a new controller."""
        for partition in self._context.partitions():
            known = self._context.leadership.get(partition)
            if known is None:
                state = PartitionState.NEW
            elif self._context.is_online(known.leader, partition):
                state = PartitionState.ONLINE
            else:
                state = PartitionState.OFFLINE
            self._context.put_partition_state(partition, state)

    def put(self, partitions: Iterable[TopicPartition], target: PartitionState) -> list[TopicPartition]:
        """Change the state where that is a valid transition, and return those partitions.

        For ONLINE use `bring_online`.
        """
        valid = self._valid(partitions, target)
        for partition in valid:
            self._context.put_partition_state(partition, target)
        return valid

    def bring_online(self, partitions: Iterable[TopicPartition]) -> Steps[list[TopicPartition]]:
        """Give a leader to each new partition, and another one to each of the others, by the offline selector.

        Return the partitions whose state was written. One that no replica can lead stays as it is until a broker
        starts.
        """
        valid = self._valid(partitions, PartitionState.ONLINE)
        new = [partition for partition in valid if self._context.partition_state(partition) is PartitionState.NEW]
        others = [
            partition for partition in valid if self._context.partition_state(partition) is not PartitionState.NEW
        ]
        created = yield from self._initialise(new)
        elected = yield from self.elect(others, self._offline(unclean=frozenset()))
        failed = [
            partition for partition in others if self._context.partition_state(partition) is not PartitionState.ONLINE
        ]
        unclean = yield from self._allowing_unclean(
            {partition.topic for partition in failed if self._context.online_replicas(partition)}
        )
        if unclean:
            elected += yield from self.elect(failed, self._offline(unclean=unclean))
        return [*created, *elected]

    def trigger_online(self) -> Steps[list[TopicPartition]]:
        """Elect leaders for all new and offline partitions (Kafka Internals (2017), onBrokerStartup)."""
        return (yield from self.bring_online(self._context.leaderless()))

    def state_changed(self, partition: TopicPartition) -> Steps[None]:
        """Read a state again that could not be read; `read_states` watches it, and it may have been repaired."""
        if self._context.partition_state(partition) is not PartitionState.NEW:
            return
        if partition.topic not in self._context.deletion_begun:
            yield from read_states(self._context, [partition])
            yield from self._adopt([partition] if partition in self._context.leadership else [], is_new=False)

    def elect(self, partitions: Iterable[TopicPartition], selector: Selector) -> Steps[list[TopicPartition]]:
        """Give these partitions the leaders that `selector` finds; return those whose state was written.

        A partition without a possible leader stays as it is. Each election raises the leader epoch, also if the leader
        stays.
        """
        valid = self._valid(partitions, PartitionState.ONLINE)

        def decide(partition: TopicPartition, known: LeaderAndIsr) -> LeaderAndIsr | None:
            choice = selector(partition, known)
            if choice is None:
                return None
            return LeaderAndIsr(choice.leader, known.leader_epoch + 1, choice.isr, self._context.epoch)

        elected = yield from change_states(self._context, valid, decide)
        for partition in elected:
            self._context.put_partition_state(partition, PartitionState.ONLINE)
            self._batch.leader_and_isr(self._context.online_replicas(partition), partition)
        return elected

    def _initialise(self, partitions: Collection[TopicPartition]) -> Steps[list[TopicPartition]]:
        """Create the states of new partitions: the first live replica leads, and all live replicas are in the ISR."""
        initial = {}
        for partition in partitions:
            online = self._context.online_replicas(partition)
            isr = tuple(replica for replica in online if replica not in self._context.stopping) or online
            if isr:
                initial[partition] = LeaderAndIsr(isr[0], 0, isr, self._context.epoch)
        if not initial:
            return []
        created = yield from create_states(self._context, initial)
        yield from self._adopt(created, is_new=True)
        return created

    def _adopt(self, partitions: Iterable[TopicPartition], *, is_new: bool) -> Steps[None]:
        """Apply states that are known now. Another writer's state may name a leader that is offline."""
        leaderless = []
        for partition in partitions:
            self._batch.leader_and_isr(self._context.online_replicas(partition), partition, is_new=is_new)
            leads = self._context.is_online(self._context.leader(partition), partition)
            self._context.put_partition_state(partition, PartitionState.ONLINE if leads else PartitionState.OFFLINE)
            if not leads:
                leaderless.append(partition)
        yield from self.elect(leaderless, self._offline(unclean=frozenset()))

    def _offline(self, *, unclean: Collection[str]) -> Selector:
        """Return the offline selector; leaders of the topics in `unclean` may be elected outside the ISR."""

        def select(partition: TopicPartition, known: LeaderAndIsr) -> LeaderChoice | None:
            return selectors.offline(
                self._context.replicas(partition),
                known.isr,
                self._context.online_replicas(partition),
                self._context.stopping,
                unclean=partition.topic in unclean,
            )

        return select

    def _allowing_unclean(self, topics: Collection[str]) -> Steps[set[str]]:
        """Return the topics that allow unclean elections; their settings are read each time, as they may change."""
        ordered = sorted(topics)
        if not ordered:
            return set()
        outcomes = yield [Get(config_znodes.topic_config(topic)) for topic in ordered]
        allowing = set()
        for topic, outcome in zip(ordered, outcomes, strict=True):
            config: dict[str, str] = {}
            try:
                config = config_znodes.read_topic_config(topic, outcome.data) if isinstance(outcome, Found) else {}
            except MalformedZnode as problem:
                log.error("topic %s is treated as if unclean elections were off: %s", topic, problem)
                continue
            if config.get(UNCLEAN, str(self._unclean)).lower() == "true":
                allowing.add(topic)
        return allowing

    def _valid(self, partitions: Iterable[TopicPartition], target: PartitionState) -> list[TopicPartition]:
        sources = PARTITION_TRANSITIONS[target]
        valid = []
        for partition in partitions:
            if self._context.partition_state(partition) in sources:
                valid.append(partition)
            else:
                log.error(
                    "%s stays %s: it cannot become %s",
                    partition,
                    self._context.partition_state(partition).value,
                    target.value,
                )
        return valid
