"""Topic deletion, requested under /admin/delete_topics (Kafka Internals (2017), StateMachine and StopReplica).

    requested  the topic waits while replicas of it are being reassigned
    begun      the topic leaves the metadata; its partitions are NonExistent
    started    a live replica was sent StopReplica to delete its log, and has not answered
    ineligible a replica without a live broker, or one that could not delete; it waits until its broker is back
    complete   all replicas answered: the topic's znodes are deleted, and the request last

A new controller starts again with the requests under /admin/delete_topics; all steps may be repeated.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable

from fencepost.cluster_impl.coordination.steps import Absent, Delete, Exists, Steps, names, run
from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.on_zookeeper.trees import delete_trees
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import PartitionReplica
from fencepost.cluster_impl.designs.zk_controller.controller.state.machines import StateMachines
from fencepost.cluster_impl.designs.zk_controller.controller.state.transitions import PartitionState, ReplicaState
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

DELETE_ATTEMPTS = 5
"""Attempts to delete a topic's znodes while children appear below them, before they are left for another time."""

_ANSWERED_FOR = (ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL)


class TopicDeletion:
    """Deletes topics. `enabled` is delete.topic.enable; without it requests are removed."""

    def __init__(self, machines: StateMachines, *, enabled: bool) -> None:
        self._machines = machines
        self._context = machines.context
        self._enabled = enabled
        self._unseen: set[str] = set()

    def read_requested(self) -> Steps[None]:
        """Read /admin/delete_topics, with a watch, and begin new deletions."""
        requested = yield from names(znodes.DELETE_TOPICS, watch=True)
        if not self._enabled:
            yield from run([Delete(znodes.topic_to_delete(topic)) for topic in requested])
            return
        for topic in requested:
            if topic in self._context.assignments:
                self._context.to_delete.setdefault(topic)
        yield from self._remove_requests([topic for topic in requested if topic not in self._context.assignments])
        yield from self.resume()

    def topics_appeared(self, topics: Collection[str]) -> Steps[None]:
        """Begin deletions that were requested before this controller had seen the topics."""
        if not self._unseen.isdisjoint(topics):
            yield from self.read_requested()

    def resume(self, returned: Collection[int] = frozenset()) -> Steps[None]:
        """Continue every deletion.

        Brokers that `returned` get another request for replicas that they could not delete.
        """
        reassigned = {partition.topic for partition in self._context.reassigned}
        for topic in [name for name in self._context.to_delete if name not in reassigned]:
            if topic in self._context.deletion_begun:
                self._start(topic, returned)
            else:
                self._begin(topic)
                self._start(topic, self._context.live)
            yield from self._complete_if_done(topic)

    def begin_waiting(self) -> Steps[None]:
        """Begin the deletion of topics whose reassignments ended."""
        if self._context.to_delete.keys() - self._context.deletion_begun:
            yield from self.resume()

    def fail(self, replicas: Iterable[PartitionReplica]) -> None:
        """Mark replicas as ineligible: their broker is gone, or could not delete them."""
        started = [
            replica for replica in replicas if self._context.replica_state(*replica) is ReplicaState.DELETION_STARTED
        ]
        self._machines.replicas.put(started, ReplicaState.DELETION_INELIGIBLE)

    def answered(self, broker_id: int, request: m.StopReplicaRequest, response: m.StopReplicaResponse) -> Steps[None]:
        """Apply the response of a broker. Only replicas count that the request was to delete and that are pending."""
        results = {
            TopicPartition(partition.topic_name, partition.partition_index): partition.error_code
            for partition in response.partition_errors
        }
        deleted: list[PartitionReplica] = []
        failed: list[PartitionReplica] = []
        for topic in request.topic_states:
            for state in topic.partition_states:
                partition = TopicPartition(topic.topic_name, state.partition_index)
                waited_for = self._context.replica_state(partition, broker_id) is ReplicaState.DELETION_STARTED
                if not (state.delete_partition and waited_for):
                    continue
                sound = response.error_code == Error.NONE and results.get(partition, Error.NONE) == Error.NONE
                (deleted if sound else failed).append((partition, broker_id))
        if failed:
            log.warning("broker %d cannot delete %s", broker_id, ", ".join(str(partition) for partition, _ in failed))
        self.fail(failed)
        self._machines.replicas.put(deleted, ReplicaState.DELETION_SUCCESSFUL)
        for name in dict.fromkeys(partition.topic for partition, _ in deleted):
            yield from self._complete_if_done(name)

    def _begin(self, topic: str) -> None:
        log.info("the deletion of topic %s begins", topic)
        self._context.deletion_begun.add(topic)
        partitions = self._context.partitions_of(topic)
        self._machines.partitions.put(partitions, PartitionState.OFFLINE)
        self._machines.partitions.put(partitions, PartitionState.NON_EXISTENT)
        self._machines.batch.update_metadata(partitions)

    def _start(self, topic: str, brokers: Collection[int]) -> None:
        """Start the deletion of replicas on these brokers; replicas that cannot be deleted wait."""
        to_try = []
        for replica in self._context.replicas_of_topic(topic):
            state = self._context.replica_state(*replica)
            tried_before = state is ReplicaState.DELETION_INELIGIBLE and replica[1] not in brokers
            if state not in _ANSWERED_FOR and not tried_before:
                to_try.append(replica)
        self._machines.replicas.put(to_try, ReplicaState.OFFLINE)
        possible = {
            (partition, id) for partition, id in to_try if id in brokers and self._context.is_online(id, partition)
        }
        self._machines.replicas.put(
            [replica for replica in to_try if replica in possible], ReplicaState.DELETION_STARTED
        )
        self._machines.replicas.put(
            [replica for replica in to_try if replica not in possible], ReplicaState.DELETION_INELIGIBLE
        )

    def _complete_if_done(self, topic: str) -> Steps[None]:
        """Delete the topic's znodes once all replicas are deleted.

        The request is deleted last, so that a later controller sees it. The settings are deleted before the topic, as a
        topic that is created again would inherit them.
        """
        if topic not in self._context.deletion_begun:
            return
        replicas = self._context.replicas_of_topic(topic)
        if any(self._context.replica_state(*replica) is not ReplicaState.DELETION_SUCCESSFUL for replica in replicas):
            return
        yield [Delete(config_znodes.topic_config(topic))]
        if (yield from delete_trees([znodes.topic(topic)], DELETE_ATTEMPTS)):
            log.error("topic %s cannot be deleted: znodes keep appearing below it", topic)
            return
        yield [Delete(znodes.topic_to_delete(topic))]
        self._machines.replicas.put(replicas, ReplicaState.NON_EXISTENT)
        self._context.remove_topic(topic)
        log.info("topic %s is deleted", topic)

    def _remove_requests(self, topics: Collection[str]) -> Steps[None]:
        """Delete the remaining znodes of topics that do not exist: an earlier controller may have ended just before
        that.

        A topic that exists was created a moment ago; it is deleted once this controller has seen it.
        """
        self._unseen.clear()
        outcomes = yield from run([Exists(znodes.topic(topic)) for topic in topics])
        gone = []
        for topic, outcome in zip(topics, outcomes, strict=True):
            if isinstance(outcome, Absent):
                gone.append(topic)
            else:
                self._unseen.add(topic)
        leftovers = [
            path for topic in gone for path in (config_znodes.topic_config(topic), znodes.topic_to_delete(topic))
        ]
        yield from run([Delete(path) for path in leftovers])
