"""Reassignment: partitions move to other replicas (Kafka Internals (2017), Controller).

It is requested in /admin/reassign_partitions, or by AlterPartitionReassignments (45), which can also cancel it. ORS are
the old replicas, TRS the target replicas. During a reassignment the topic's znode names both:

    begin       RS = TRS + the removed replicas of ORS, with the lists of added and removed ones; the new replicas start
                to follow; a new leader epoch, so that all replicas know each other
    wait        until all TRS are in the ISR, by the state znode, an ISR notification or IsrChange
    finish      TRS are online and one of them leads; the others leave the ISR, and are stopped and deleted; RS = TRS in
                the topic's znode; the entry in /admin/reassign_partitions is removed, and with the last one the znode

A new controller finds the reassignments in the topics' znodes and continues them: each step may be repeated. A removed
replica whose broker is away keeps its log until the broker returns and gets the complete list of its replicas.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence

from fencepost.cluster_impl.coordination.steps import (
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
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.shared.partition_requests import unknown_partition
from fencepost.cluster_impl.designs.shared.reassignment_requests import (
    check_target,
    moving,
    named_twice,
    none_in_sync,
    nothing_to_cancel,
    reassigned,
    requested_targets,
)
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller.state import selectors
from fencepost.cluster_impl.designs.zk_controller.controller.state.leadership import change_states, read_states
from fencepost.cluster_impl.designs.zk_controller.controller.state.machines import StateMachines
from fencepost.cluster_impl.designs.zk_controller.controller.state.selectors import LeaderChoice
from fencepost.cluster_impl.designs.zk_controller.controller.state.transitions import PartitionState, ReplicaState
from fencepost.cluster_impl.designs.zk_controller.controller.topics.topic_znodes import write_assignments
from fencepost.cluster_impl.designs.zk_controller.znodes import LeaderAndIsr, PartitionReplicas
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m

log = logging.getLogger(__name__)


class Reassignments:
    """Carries out reassignments."""

    def __init__(self, machines: StateMachines) -> None:
        self._machines = machines
        self._context = machines.context

    def read_requested(self) -> Steps[None]:
        """Read /admin/reassign_partitions, with a watch, and begin new reassignments."""
        yield [Exists(znodes.REASSIGN_PARTITIONS, watch=True)]
        found = yield from read(znodes.REASSIGN_PARTITIONS)
        if not isinstance(found, Found):
            return
        try:
            requested = znodes.read_reassignments(found.data)
        except MalformedZnode as problem:
            log.error("no replicas are reassigned: %s", problem)
            return
        accepted = {}
        for partition, target in requested.items():
            if refusal := self._refusal(partition, target):
                log.error("%s is not reassigned to %s: %s", partition, list(target), refusal)
            else:
                accepted[partition] = target
        begun = yield from self._begin(accepted)
        yield from self._remove_requests(partition for partition in requested if partition not in begun)
        yield from self.resume(begun)

    def answer_alter(
        self, request: m.AlterPartitionReassignmentsRequest
    ) -> Steps[m.AlterPartitionReassignmentsResponse]:
        """Begin, change or cancel reassignments; the partitions of a request are independent of each other.

        An entry of the same partition in /admin/reassign_partitions is removed first, or a later controller would take
        it for newer.
        """
        targets, twice = requested_targets(request)
        same_factor = not request.allow_replication_factor_change
        refused: dict[TopicPartition, RequestError] = {}
        accepted: dict[TopicPartition, tuple[int, ...]] = {}
        for at, target in targets.items():
            try:
                if at in twice:
                    raise named_twice()
                accepted[at] = self._checked(at, target, same_factor=same_factor)
            except RequestError as error:
                refused[at] = error
        changing = [at for at, target in accepted.items() if towards(self._assigned(at), target) != self._assigned(at)]
        if changing:
            yield from self._remove_requests(changing)
        begun = yield from self._begin(accepted)
        refused |= {at: none_in_sync(accepted[at]) for at in changing if at not in begun}
        yield from self.resume(begun)
        return reassigned(request, refused)

    def answer_list(self, request: m.ListPartitionReassignmentsRequest) -> m.ListPartitionReassignmentsResponse:
        """Describe the reassignments under way."""
        assignments = {partition: self._assigned(partition) for partition in self._context.reassigned}
        under_way = {
            at: (assigned.replicas, assigned.adding, assigned.removing)
            for at, assigned in assignments.items()
            if assigned.is_reassigned
        }
        return moving(request, under_way)

    def _checked(
        self, partition: TopicPartition, target: tuple[int, ...] | None, *, same_factor: bool
    ) -> tuple[int, ...]:
        """Return the target, for a cancellation the replicas before. Raises RequestError."""
        known = self._context.assignment(partition)
        if known is None or partition.topic in self._context.to_delete:
            raise unknown_partition(partition)
        if target is None:
            if not known.is_reassigned:
                raise nothing_to_cancel()
            return known.origin
        check_target(target, known.origin, self._context.live, "live", same_factor=same_factor)
        return target

    def resume(self, partitions: Iterable[TopicPartition]) -> Steps[None]:
        """Finish the reassignments of these partitions whose target replicas are all in sync.

        A watch on the state of each reassigned partition fires at every change, also at the controller's own ones.
        """
        ready = [
            partition
            for partition in partitions
            if partition in self._context.reassigned and self._is_in_sync(partition)
        ]
        if ready:
            yield from self._finish(ready)

    def watch(self, partitions: Collection[TopicPartition]) -> Steps[None]:
        """Watch the states of reassigned partitions, as leaders below the level of KIP-343 write them themselves.

        The watch is set before the read, so that no change in between is missed. A partition that has not had a leader
        has no state; the watch fires when it is created.
        """
        yield from run([Exists(znodes.state(partition), watch=True) for partition in partitions])
        yield from read_states(self._context, partitions)

    def state_changed(self, partition: TopicPartition) -> Steps[None]:
        if partition in self._context.reassigned:
            yield from self.watch([partition])
            self._machines.batch.update_metadata([partition])
            yield from self.resume([partition])

    def elected(self) -> Steps[None]:
        """Continue the reassignments of an earlier controller, which may have ended before it sent any request."""
        under_way = [partition for partition in self._context.partitions() if self._assigned(partition).is_reassigned]
        self._context.reassigned.update(dict.fromkeys(under_way))
        if under_way:
            yield from self.watch(under_way)
            yield from self._announce([partition for partition in under_way if not self._is_in_sync(partition)])
            yield from self.resume(under_way)

    def _refusal(self, partition: TopicPartition, target: Sequence[int]) -> str | None:
        known = self._context.assignment(partition)
        if known is None:
            return "there is no such partition"
        if partition.topic in self._context.to_delete:
            return "its topic is being deleted"
        if not target or len(set(target)) != len(target):
            return "a partition needs different replicas, at least one"
        away = [replica for replica in target if replica not in known.replicas and replica not in self._context.live]
        return f"brokers {away} are not live" if away else None

    def _begin(self, wanted: Mapping[TopicPartition, Sequence[int]]) -> Steps[list[TopicPartition]]:
        """Write the added and removed replicas, and start the new ones. Return the partitions that are reassigned now.

        A repeated request changes nothing. Another target replaces the earlier one, and replicas that belong to neither
        are stopped; if only these are in sync, the new target is refused.
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
        left = {partition: after for partition, after in wanted_now.items() if self._leaving(partition, after)}
        can_be_left = yield from self._lead_from(left)
        for partition in [moved for moved in left if moved not in can_be_left]:
            refused = wanted_now.pop(partition)
            log.error("%s is not reassigned to %s: no remaining replica is in sync", partition, list(refused.target))
        for topic, of_topic in _by_topic(wanted_now).items():
            if not (yield from write_assignments(topic, of_topic)):
                continue
            partitions = [TopicPartition(topic, index) for index in of_topic]
            yield from self._drop({partition: of_topic[partition.partition] for partition in partitions})
            for partition in partitions:
                self._context.assign(partition, of_topic[partition.partition])
                self._context.reassigned[partition] = None
            yield from self.watch(partitions)
            yield from self._announce([partition for partition in partitions if not self._is_in_sync(partition)])
            new = [
                partition for partition in partitions if self._context.partition_state(partition) is PartitionState.NEW
            ]
            yield from self._machines.partitions.bring_online(new)
            begun += partitions
        return begun

    def _announce(self, partitions: Collection[TopicPartition]) -> Steps[None]:
        """Raise the leader epoch, send it to all replicas, and start new replicas as followers."""

        def renew(partition: TopicPartition, known: LeaderAndIsr) -> LeaderAndIsr:
            return LeaderAndIsr(known.leader, known.leader_epoch + 1, known.isr, self._context.epoch)

        for partition in (yield from change_states(self._context, partitions, renew)):
            self._machines.batch.leader_and_isr(self._context.online_replicas(partition), partition)
        for partition in partitions:
            coming = [(partition, replica) for replica in self._context.replicas(partition)]
            self._machines.replicas.start_new(
                replica for replica in coming if self._context.replica_state(*replica) is ReplicaState.NON_EXISTENT
            )

    def _is_in_sync(self, partition: TopicPartition) -> bool:
        """Return whether all target replicas are in sync. Another order of the same replicas needs no catch-up."""
        assigned = self._assigned(partition)
        known = self._context.leadership.get(partition)
        return not assigned.is_reassigned or (known is not None and set(assigned.target) <= set(known.isr))

    def _finish(self, partitions: Collection[TopicPartition]) -> Steps[None]:
        targets = {partition: PartitionReplicas(self._assigned(partition).target) for partition in partitions}
        for partition, after in targets.items():
            known = [(partition, broker_id) for broker_id in after.replicas]
            self._machines.replicas.bring_online(
                replica for replica in known if self._context.replica_state(*replica) is ReplicaState.NEW
            )
        can_be_left = yield from self._lead_from(targets)
        targets = {partition: targets[partition] for partition in can_be_left}
        yield from self._drop(targets)
        for topic, of_topic in _by_topic(targets).items():
            yield from write_assignments(topic, of_topic)
        for partition, after in targets.items():
            self._context.assign(partition, after)
            self._context.reassigned.pop(partition, None)
            self._machines.batch.leader_and_isr(self._context.online_replicas(partition), partition)
            log.info("%s is reassigned to %s", partition, list(after.replicas))
        yield from self._remove_requests(targets)

    def _lead_from(self, targets: Mapping[TopicPartition, PartitionReplicas]) -> Steps[list[TopicPartition]]:
        """Elect a leader among the remaining replicas, at a new epoch, so that no removed replica can rejoin the ISR.

        Return the partitions from which the other replicas can be removed. A leader may have changed the ISR a moment
        ago. If only removed replicas are in the ISR, only they have all acknowledged records, and nothing changes.
        """

        def select(partition: TopicPartition, known: LeaderAndIsr) -> LeaderChoice | None:
            target = targets[partition].replicas
            online = [
                replica for replica in self._context.online_replicas(partition) if replica not in self._context.stopping
            ]
            if known.leader in target and self._context.is_online(known.leader, partition):
                return LeaderChoice(known.leader, known.isr)
            return selectors.reassigned(target, known.isr, online or self._context.online_replicas(partition))

        def can_be_left(partition: TopicPartition) -> bool:
            target, known = targets[partition].replicas, self._context.leadership.get(partition)
            if known is None:
                return not self._leaving(partition, targets[partition])
            return known.leader in target or set(known.isr) <= set(target)

        yield from self._machines.partitions.elect(targets, select)
        return [partition for partition in targets if can_be_left(partition)]

    def _drop(self, targets: Mapping[TopicPartition, PartitionReplicas]) -> Steps[None]:
        """Remove replicas from the ISR, stop them, and delete them where their broker is live."""
        going = [
            (partition, broker_id)
            for partition, after in targets.items()
            for broker_id in self._leaving(partition, after)
        ]
        yield from self._machines.replicas.take_offline(going)
        self._machines.replicas.put(going, ReplicaState.DELETION_STARTED)
        self._machines.replicas.put(going, ReplicaState.DELETION_SUCCESSFUL)
        self._machines.replicas.put(going, ReplicaState.NON_EXISTENT)

    def _remove_requests(self, partitions: Iterable[TopicPartition]) -> Steps[None]:
        """Remove entries from /admin/reassign_partitions; with the last one delete the znode."""
        done = set(partitions)
        while done:
            found = yield from read(znodes.REASSIGN_PARTITIONS)
            if not isinstance(found, Found):
                return
            try:
                requested = znodes.read_reassignments(found.data)
            except MalformedZnode:
                return
            left = {partition: replicas for partition, replicas in requested.items() if partition not in done}
            if len(left) == len(requested) and left:
                return
            path, version = znodes.REASSIGN_PARTITIONS, found.stat.version
            shorter = SetData(path, znodes.write_reassignments(left), version)
            [outcome] = yield [shorter if left else Delete(path, version)]
            if isinstance(outcome, Done | Absent):
                return

    def _leaving(self, partition: TopicPartition, after: PartitionReplicas) -> list[int]:
        return [replica for replica in self._context.replicas(partition) if replica not in after.replicas]

    def _assigned(self, partition: TopicPartition) -> PartitionReplicas:
        known = self._context.assignment(partition)
        assert known is not None
        return known


def towards(before: PartitionReplicas, target: Sequence[int]) -> PartitionReplicas:
    """Return the replicas during the move from `before` to `target`: the target ones first, then the removed ones."""
    origin = before.origin
    going = tuple(replica for replica in origin if replica not in target)
    coming = tuple(replica for replica in target if replica not in origin)
    return PartitionReplicas((*target, *going), adding=coming, removing=going)


def _by_topic(changes: Mapping[TopicPartition, PartitionReplicas]) -> dict[str, dict[int, PartitionReplicas]]:
    topics: dict[str, dict[int, PartitionReplicas]] = {}
    for partition, after in changes.items():
        topics.setdefault(partition.topic, {})[partition.partition] = after
    return topics
