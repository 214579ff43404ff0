"""Topic deletion: asked for under /admin/delete_topics, done replica by replica (003, StateMachine and StopReplica).

    asked      the topic waits while replicas of it are being reassigned
    begun      nobody serves it any more: it leaves the metadata, its partitions are NonExistent
    started    a live replica was told to stop and delete its log, and has not answered
    ineligible a replica without a live broker, or one that could not delete; it waits until its broker is back
    complete   all replicas answered: the topic's znodes go, and last of all what asked for it

A new controller begins again with what it finds under /admin/delete_topics; all steps may be repeated.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable

from cluster_impl.coordination.steps import Absent, Delete, Exists, Steps, names, run
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.controller.context import PartitionReplica
from cluster_impl.designs.zk_controller.controller.core import Core
from cluster_impl.designs.zk_controller.controller.removal import remove_tree
from cluster_impl.designs.zk_controller.controller.states import PartitionState, ReplicaState
from cluster_impl.replication.control_plane import TopicPartition
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

_ANSWERED_FOR = (ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL)


class TopicDeletion:
    """`enabled` is delete.topic.enable; without it what is asked for is crossed out."""

    def __init__(self, core: Core, *, enabled: bool) -> None:
        self._core = core
        self._context = core.context
        self._enabled = enabled
        self._unseen: set[str] = set()

    def read_asked(self) -> Steps[None]:
        """Read /admin/delete_topics, with a watch, and begin what is new there."""
        asked = yield from names(znodes.DELETE_TOPICS, watch=True)
        if not self._enabled:
            yield from run([Delete(znodes.topic_to_delete(topic)) for topic in asked])
            return
        for topic in asked:
            if topic in self._context.assignments:
                self._context.to_delete.setdefault(topic)
        yield from self._cross_out([topic for topic in asked if topic not in self._context.assignments])
        yield from self.resume()

    def topics_appeared(self, topics: Collection[str]) -> Steps[None]:
        """Begin the deletion of topics that was asked for before this controller had seen them."""
        if not self._unseen.isdisjoint(topics):
            yield from self.read_asked()

    def resume(self, returned: Collection[int] = frozenset()) -> Steps[None]:
        """Go on with every deletion. Brokers that `returned` are told again to delete what they could not before."""
        reassigned = {each.topic for each in self._context.reassigned}
        for topic in [each for each in self._context.to_delete if each not in reassigned]:
            if topic in self._context.deletion_begun:
                self._tell(topic, returned)
            else:
                self._begin(topic)
                self._tell(topic, self._context.live)
            yield from self._complete_if_done(topic)

    def begin_what_waited(self) -> Steps[None]:
        """Begin the deletion of topics whose reassignments ended."""
        if self._context.to_delete.keys() - self._context.deletion_begun:
            yield from self.resume()

    def fail(self, replicas: Iterable[PartitionReplica]) -> None:
        """These replicas cannot be deleted now: their broker is gone, or could not do it."""
        started = [each for each in replicas if self._context.replica_state(*each) is ReplicaState.DELETION_STARTED]
        self._core.replicas.put(started, ReplicaState.DELETION_INELIGIBLE)

    def answered(self, broker_id: int, request: m.StopReplicaRequest, response: m.StopReplicaResponse) -> Steps[None]:
        """Note what a broker deleted. Only what the request asked to delete counts, and only while it is waited for."""
        results = {
            TopicPartition(each.topic_name, each.partition_index): each.error_code for each in response.partition_errors
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
            log.warning("broker %d cannot delete %s", broker_id, ", ".join(str(each) for each, _ in failed))
        self.fail(failed)
        self._core.replicas.put(deleted, ReplicaState.DELETION_SUCCESSFUL)
        for name in dict.fromkeys(each.topic for each, _ in deleted):
            yield from self._complete_if_done(name)

    def _begin(self, topic: str) -> None:
        log.info("the deletion of topic %s begins", topic)
        self._context.deletion_begun.add(topic)
        partitions = self._context.partitions_of(topic)
        self._core.partitions.put(partitions, PartitionState.OFFLINE)
        self._core.partitions.put(partitions, PartitionState.NON_EXISTENT)
        self._core.batch.update_metadata(partitions)

    def _tell(self, topic: str, brokers: Collection[int]) -> None:
        """Start what can be deleted on these brokers; what cannot waits."""
        to_try = []
        for replica in self._context.replicas_of_topic(topic):
            state = self._context.replica_state(*replica)
            tried_before = state is ReplicaState.DELETION_INELIGIBLE and replica[1] not in brokers
            if state not in _ANSWERED_FOR and not tried_before:
                to_try.append(replica)
        self._core.replicas.put(to_try, ReplicaState.OFFLINE)
        possible = {(each, id) for each, id in to_try if id in brokers and self._context.is_online(id, each)}
        self._core.replicas.put([each for each in to_try if each in possible], ReplicaState.DELETION_STARTED)
        self._core.replicas.put([each for each in to_try if each not in possible], ReplicaState.DELETION_INELIGIBLE)

    def _complete_if_done(self, topic: str) -> Steps[None]:
        """Remove what ZooKeeper holds of it. What asked for the deletion goes last, so that a later controller sees
        it; the settings go before the topic, since a topic that is created again would inherit them."""
        if topic not in self._context.deletion_begun:
            return
        replicas = self._context.replicas_of_topic(topic)
        if any(self._context.replica_state(*each) is not ReplicaState.DELETION_SUCCESSFUL for each in replicas):
            return
        yield [Delete(znodes.topic_config(topic))]
        if not (yield from remove_tree(znodes.topic(topic))):
            return
        yield [Delete(znodes.topic_to_delete(topic))]
        self._core.replicas.put(replicas, ReplicaState.NON_EXISTENT)
        self._context.remove_topic(topic)
        log.info("topic %s is deleted", topic)

    def _cross_out(self, topics: Collection[str]) -> Steps[None]:
        """Of topics that do not exist what is left goes: an earlier controller may have died just before the end.

        One that exists after all was created a moment ago; it is deleted once it was seen.
        """
        self._unseen.clear()
        outcomes = yield from run([Exists(znodes.topic(topic)) for topic in topics])
        gone = []
        for topic, outcome in zip(topics, outcomes, strict=True):
            if isinstance(outcome, Absent):
                gone.append(topic)
            else:
                self._unseen.add(topic)
        leftovers = [path for topic in gone for path in (znodes.topic_config(topic), znodes.topic_to_delete(topic))]
        yield from run([Delete(path) for path in leftovers])
