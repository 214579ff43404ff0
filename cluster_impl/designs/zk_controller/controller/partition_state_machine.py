"""PartitionStateMachine: the state of every partition, its first leader and each later one (003)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable

from cluster_impl.coordination.steps import Found, Get, Steps
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.controller import selectors
from cluster_impl.designs.zk_controller.controller.context import ControllerContext
from cluster_impl.designs.zk_controller.controller.leadership import change_states, create_states, read_states
from cluster_impl.designs.zk_controller.controller.request_batch import RequestBatch
from cluster_impl.designs.zk_controller.controller.selectors import Choice
from cluster_impl.designs.zk_controller.controller.states import PARTITION_ARROWS, PartitionState
from cluster_impl.designs.zk_controller.znodes import LeaderAndIsr
from cluster_impl.replication.control_plane import TopicPartition

log = logging.getLogger(__name__)

Selector = Callable[[TopicPartition, LeaderAndIsr], Choice | None]
"""One of `selectors`, told what the context knows of the partition."""

UNCLEAN = "unclean.leader.election.enable"


class PartitionStateMachine:
    """`unclean` is what a topic without a setting of its own gets."""

    def __init__(self, context: ControllerContext, batch: RequestBatch, *, unclean: bool) -> None:
        self._context = context
        self._batch = batch
        self._unclean = unclean

    def startup(self) -> None:
        """The states in which a new controller finds the partitions."""
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
        """Change the state of those that may go there; the others are refused. ONLINE takes more: `bring_online`."""
        valid = self._valid(partitions, target)
        for partition in valid:
            self._context.put_partition_state(partition, target)
        return valid

    def bring_online(self, partitions: Iterable[TopicPartition]) -> Steps[list[TopicPartition]]:
        """Give a leader to each new partition, and another one to each of the others, by the offline selector.

        Returns those whose state was written. What no replica can lead stays as it is, until a broker comes.
        """
        valid = self._valid(partitions, PartitionState.ONLINE)
        new = [each for each in valid if self._context.partition_state(each) is PartitionState.NEW]
        others = [each for each in valid if self._context.partition_state(each) is not PartitionState.NEW]
        created = yield from self._initialise(new)
        elected = yield from self.elect(others, self._offline(unclean=frozenset()))
        failed = [each for each in others if self._context.partition_state(each) is not PartitionState.ONLINE]
        unclean = yield from self._allowing_unclean(
            {each.topic for each in failed if self._context.online_replicas(each)}
        )
        if unclean:
            elected += yield from self.elect(failed, self._offline(unclean=unclean))
        return [*created, *elected]

    def trigger_online(self) -> Steps[list[TopicPartition]]:
        """003, onBrokerStartup: all that are new or offline elect a leader."""
        return (yield from self.bring_online(self._context.leaderless()))

    def state_changed(self, partition: TopicPartition) -> Steps[None]:
        """A state that nobody could read is watched (`read_states`), and may have been mended."""
        if self._context.partition_state(partition) is not PartitionState.NEW:
            return
        if partition.topic not in self._context.deletion_begun:
            yield from read_states(self._context, [partition])
            yield from self._adopt([each for each in (partition,) if each in self._context.leadership], is_new=False)

    def elect(self, partitions: Iterable[TopicPartition], selector: Selector) -> Steps[list[TopicPartition]]:
        """Give these partitions the leaders that `selector` finds; returns those whose state was written.

        What it finds no leader for stays as it is. Every election is a new leader epoch, also of the same leader.
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
        """The first of the live replicas leads, and all of them are in sync."""
        wanted = {}
        for partition in partitions:
            online = self._context.online_replicas(partition)
            isr = tuple(each for each in online if each not in self._context.stopping) or online
            if isr:
                wanted[partition] = LeaderAndIsr(isr[0], 0, isr, self._context.epoch)
        if not wanted:
            return []
        created = yield from create_states(self._context, wanted)
        yield from self._adopt(created, is_new=True)
        return created

    def _adopt(self, partitions: Iterable[TopicPartition], *, is_new: bool) -> Steps[None]:
        """Partitions of which a state is known now; where that was another's, its leader may be away."""
        leaderless = []
        for partition in partitions:
            self._batch.leader_and_isr(self._context.online_replicas(partition), partition, is_new=is_new)
            leads = self._context.is_online(self._context.leader(partition), partition)
            self._context.put_partition_state(partition, PartitionState.ONLINE if leads else PartitionState.OFFLINE)
            if not leads:
                leaderless.append(partition)
        yield from self.elect(leaderless, self._offline(unclean=frozenset()))

    def _offline(self, *, unclean: Collection[str]) -> Selector:
        """`unclean`: the topics whose leader may be elected outside the ISR."""

        def select(partition: TopicPartition, known: LeaderAndIsr) -> Choice | None:
            return selectors.offline(
                self._context.replicas(partition),
                known.isr,
                self._context.online_replicas(partition),
                self._context.stopping,
                unclean=partition.topic in unclean,
            )

        return select

    def _allowing_unclean(self, topics: Collection[str]) -> Steps[set[str]]:
        """Those whose leader may be elected outside the ISR; read from their settings, which may change any time."""
        ordered = sorted(topics)
        if not ordered:
            return set()
        outcomes = yield [Get(znodes.topic_config(topic)) for topic in ordered]
        allowing = set()
        for topic, outcome in zip(ordered, outcomes, strict=True):
            config: dict[str, str] = {}
            try:
                config = znodes.read_topic_config(topic, outcome.data) if isinstance(outcome, Found) else {}
            except MalformedZnode as problem:
                log.error("topic %s is treated as if unclean elections were off: %s", topic, problem)
                continue
            if config.get(UNCLEAN, str(self._unclean)).lower() == "true":
                allowing.add(topic)
        return allowing

    def _valid(self, partitions: Iterable[TopicPartition], target: PartitionState) -> list[TopicPartition]:
        sources = PARTITION_ARROWS[target]
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
