"""Reassignment: partitions move to other replicas (003, Controller; asked for in /admin/reassign_partitions).

ORS are the replicas of before, TRS the wanted ones. While it is under way the topic's znode names both:

    begin       RS = TRS + those of ORS that go, with what comes and what goes beside it; the new replicas are told to
                follow; a new leader epoch, so that all know of each other
    wait        until each of TRS is in the ISR: state znode, ISR notification or IsrChange tell
    finish      TRS are online; a leader among TRS; what goes leaves the ISR, is stopped and deleted; RS = TRS in the
                topic's znode; the entry under /admin/reassign_partitions goes, and with the last one the znode

A new controller finds what was under way in the topics' znodes, and goes on from there: each step may be repeated.
A replica that goes and is away keeps its log until its broker is introduced again, with a list of all it holds.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence

from cluster_impl.coordination.steps import (
    Absent,
    Delete,
    Done,
    Exists,
    Found,
    SetData,
    Steps,
    read,
    run,
)
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.controller import selectors
from cluster_impl.designs.zk_controller.controller.core import Core
from cluster_impl.designs.zk_controller.controller.leadership import change_states, read_states
from cluster_impl.designs.zk_controller.controller.selectors import Choice
from cluster_impl.designs.zk_controller.controller.states import PartitionState, ReplicaState
from cluster_impl.designs.zk_controller.controller.topic_znodes import write_assignments
from cluster_impl.designs.zk_controller.znodes import LeaderAndIsr, PartitionReplicas
from cluster_impl.replication.control_plane import TopicPartition

log = logging.getLogger(__name__)


class Reassignments:
    def __init__(self, core: Core) -> None:
        self._core = core
        self._context = core.context

    def read_asked(self) -> Steps[None]:
        """Read /admin/reassign_partitions, with a watch, and begin what is new there."""
        yield [Exists(znodes.REASSIGN_PARTITIONS, watch=True)]
        found = yield from read(znodes.REASSIGN_PARTITIONS)
        if not isinstance(found, Found):
            return
        try:
            asked = znodes.read_reassignments(found.data)
        except MalformedZnode as problem:
            log.error("no replicas are reassigned: %s", problem)
            return
        wanted = {}
        for partition, target in asked.items():
            if refusal := self._refusal(partition, target):
                log.error("%s is not reassigned to %s: %s", partition, list(target), refusal)
            else:
                wanted[partition] = target
        begun = yield from self._begin(wanted)
        yield from self._cross_out(each for each in asked if each not in begun)
        yield from self.resume(begun)

    def resume(self, partitions: Iterable[TopicPartition]) -> Steps[None]:
        """Finish those of them that are under way and whose new replicas are all in sync.

        The watch on the state of each that is under way tells of every change, the controller's own ones included.
        """
        ready = [each for each in partitions if each in self._context.reassigned and self._is_in_sync(each)]
        if ready:
            yield from self._finish(ready)

    def watch(self, partitions: Collection[TopicPartition]) -> Steps[None]:
        """Watch the states of partitions under way: their leaders may write them without asking.

        The watch comes first and the read after it, so no change is missed between the two. What nobody could lead yet
        has no state; it is told when it has one.
        """
        yield from run([Exists(znodes.state(each), watch=True) for each in partitions])
        yield from read_states(self._context, partitions)

    def state_changed(self, partition: TopicPartition) -> Steps[None]:
        if partition in self._context.reassigned:
            yield from self.watch([partition])
            self._core.batch.update_metadata([partition])
            yield from self.resume([partition])

    def elected(self) -> Steps[None]:
        """Go on with what an earlier controller began. It may have died before it told anybody."""
        under_way = [each for each in self._context.partitions() if self._assigned(each).is_reassigned]
        self._context.reassigned.update(dict.fromkeys(under_way))
        if under_way:
            yield from self.watch(under_way)
            yield from self._tell_all([each for each in under_way if not self._is_in_sync(each)])
            yield from self.resume(under_way)

    def _refusal(self, partition: TopicPartition, target: Sequence[int]) -> str | None:
        known = self._context.assignment(partition)
        if known is None:
            return "there is no such partition"
        if partition.topic in self._context.to_delete:
            return "its topic is being deleted"
        if not target or len(set(target)) != len(target):
            return "a partition needs different replicas, at least one"
        away = [each for each in target if each not in known.replicas and each not in self._context.live]
        return f"brokers {away} are not live" if away else None

    def _begin(self, wanted: Mapping[TopicPartition, Sequence[int]]) -> Steps[list[TopicPartition]]:
        """Write down what comes and what goes, and tell the new replicas. Returns what is under way now.

        What is asked for already is left as it is; another target in the middle of one replaces it, and replicas that
        belong to neither are stopped. Where these alone are in sync, it is the other target that is refused.
        """
        begun: list[TopicPartition] = []
        wanted_now: dict[TopicPartition, PartitionReplicas] = {}
        for partition, target in wanted.items():
            before = self._assigned(partition)
            if before.is_reassigned and before.target == tuple(target):
                begun.append(partition)
                continue
            after = towards(before, target)
            if after == before:
                continue
            wanted_now[partition] = after
        left = {each: after for each, after in wanted_now.items() if self._leaving(each, after)}
        can_be_left = yield from self._lead_from(left)
        for partition in [each for each in left if each not in can_be_left]:
            refused = wanted_now.pop(partition)
            log.error("%s is not reassigned to %s: nobody who would stay is in sync", partition, list(refused.target))
        for topic, of_topic in _by_topic(wanted_now).items():
            if not (yield from write_assignments(topic, of_topic)):
                continue
            partitions = [TopicPartition(topic, index) for index in of_topic]
            yield from self._drop({each: of_topic[each.partition] for each in partitions})
            for partition in partitions:
                self._context.assign(partition, of_topic[partition.partition])
                self._context.reassigned[partition] = None
            yield from self.watch(partitions)
            yield from self._tell_all([each for each in partitions if not self._is_in_sync(each)])
            new = [each for each in partitions if self._context.partition_state(each) is PartitionState.NEW]
            yield from self._core.partitions.bring_online(new)
            begun += partitions
        return begun

    def _tell_all(self, partitions: Collection[TopicPartition]) -> Steps[None]:
        """A new leader epoch, which everybody hears of, and replicas that do not exist yet begin to follow."""

        def renew(partition: TopicPartition, known: LeaderAndIsr) -> LeaderAndIsr:
            return LeaderAndIsr(known.leader, known.leader_epoch + 1, known.isr, self._context.epoch)

        for partition in (yield from change_states(self._context, partitions, renew)):
            self._core.batch.leader_and_isr(self._context.online_replicas(partition), partition)
        for partition in partitions:
            coming = [(partition, each) for each in self._context.replicas(partition)]
            self._core.replicas.start_new(
                each for each in coming if self._context.replica_state(*each) is ReplicaState.NON_EXISTENT
            )

    def _is_in_sync(self, partition: TopicPartition) -> bool:
        """Whether there is nothing to wait for. Another order of the same replicas needs nobody to catch up."""
        assigned = self._assigned(partition)
        known = self._context.leadership.get(partition)
        return not assigned.is_reassigned or (known is not None and set(assigned.target) <= set(known.isr))

    def _finish(self, partitions: Collection[TopicPartition]) -> Steps[None]:
        targets = {each: PartitionReplicas(self._assigned(each).target) for each in partitions}
        for partition, after in targets.items():
            known = [(partition, broker_id) for broker_id in after.replicas]
            self._core.replicas.bring_online(
                each for each in known if self._context.replica_state(*each) is ReplicaState.NEW
            )
        can_be_left = yield from self._lead_from(targets)
        targets = {each: targets[each] for each in can_be_left}
        yield from self._drop(targets)
        for topic, of_topic in _by_topic(targets).items():
            yield from write_assignments(topic, of_topic)
        for partition, after in targets.items():
            self._context.assign(partition, after)
            self._context.reassigned.pop(partition, None)
            self._core.batch.leader_and_isr(self._context.online_replicas(partition), partition)
            log.info("%s is reassigned to %s", partition, list(after.replicas))
        yield from self._cross_out(targets)

    def _lead_from(self, targets: Mapping[TopicPartition, PartitionReplicas]) -> Steps[list[TopicPartition]]:
        """A leader among the replicas that stay, at a new epoch: after it no replica that goes can come back into the
        ISR. Returns the partitions that can be left by the others.

        A leader may have changed the ISR unasked a moment ago. Where it holds nobody but replicas that go, they alone
        have what was acknowledged, and all stays as it is.
        """

        def select(partition: TopicPartition, known: LeaderAndIsr) -> Choice | None:
            target = targets[partition].replicas
            online = [each for each in self._context.online_replicas(partition) if each not in self._context.stopping]
            if known.leader in target and self._context.is_online(known.leader, partition):
                return Choice(known.leader, known.isr)
            return selectors.reassigned(target, known.isr, online or self._context.online_replicas(partition))

        def can_be_left(partition: TopicPartition) -> bool:
            target, known = targets[partition].replicas, self._context.leadership.get(partition)
            if known is None:
                return not self._leaving(partition, targets[partition])
            return known.leader in target or set(known.isr) <= set(target)

        yield from self._core.partitions.elect(targets, select)
        return [each for each in targets if can_be_left(each)]

    def _drop(self, targets: Mapping[TopicPartition, PartitionReplicas]) -> Steps[None]:
        """Replicas that do not belong any more leave the ISR, are stopped, and deleted where their broker lives."""
        going = [
            (partition, broker_id)
            for partition, after in targets.items()
            for broker_id in self._leaving(partition, after)
        ]
        yield from self._core.replicas.take_offline(going)
        self._core.replicas.put(going, ReplicaState.DELETION_STARTED)
        self._core.replicas.put(going, ReplicaState.DELETION_SUCCESSFUL)
        self._core.replicas.put(going, ReplicaState.NON_EXISTENT)

    def _cross_out(self, partitions: Iterable[TopicPartition]) -> Steps[None]:
        """Take entries out of /admin/reassign_partitions; the znode goes with the last one."""
        done = set(partitions)
        while done:
            found = yield from read(znodes.REASSIGN_PARTITIONS)
            if not isinstance(found, Found):
                return
            try:
                asked = znodes.read_reassignments(found.data)
            except MalformedZnode:
                return
            left = {each: replicas for each, replicas in asked.items() if each not in done}
            if len(left) == len(asked) and left:
                return
            path, version = znodes.REASSIGN_PARTITIONS, found.stat.version
            shorter = SetData(path, znodes.write_reassignments(left), version)
            [outcome] = yield [shorter if left else Delete(path, version)]
            if isinstance(outcome, Done | Absent):
                return

    def _leaving(self, partition: TopicPartition, after: PartitionReplicas) -> list[int]:
        return [each for each in self._context.replicas(partition) if each not in after.replicas]

    def _assigned(self, partition: TopicPartition) -> PartitionReplicas:
        known = self._context.assignment(partition)
        assert known is not None
        return known


def towards(before: PartitionReplicas, target: Sequence[int]) -> PartitionReplicas:
    """The replicas while `before` is on its way to `target`: the wanted ones first, then those that go."""
    origin = before.origin
    going = tuple(each for each in origin if each not in target)
    coming = tuple(each for each in target if each not in origin)
    return PartitionReplicas((*target, *going), adding=coming, removing=going)


def _by_topic(changes: Mapping[TopicPartition, PartitionReplicas]) -> dict[str, dict[int, PartitionReplicas]]:
    topics: dict[str, dict[int, PartitionReplicas]] = {}
    for partition, after in changes.items():
        topics.setdefault(partition.topic, {})[partition.partition] = after
    return topics
