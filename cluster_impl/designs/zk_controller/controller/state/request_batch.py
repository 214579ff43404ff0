"""The requests that one event makes (Kafka Internals (2017), ControllerBrokerRequestBatch).

While an event is handled, the batch collects the recipients of changes. The requests are made at its end from the
context, so each broker gets the outcome once. All three requests are idempotent. Each carries the epoch of the
controller and of the receiving broker. A broker that is not live gets none, as it gets the complete state when it
returns.
"""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.cluster_impl.designs.zk_controller.control_requests import (
    EPOCH_DURING_DELETE,
    FULL,
    INCREMENTAL,
    LEADER_DURING_DELETE,
    NO_LEADER_EPOCH,
)
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import ControllerContext, PartitionReplica
from fencepost.cluster_impl.designs.zk_controller.znodes import BrokerEndpoint
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message

SECURITY_PROTOCOLS = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}

LeaderAndIsrState = m.LeaderAndIsrRequest.LeaderAndIsrPartitionState
LeaderAndIsrTopic = m.LeaderAndIsrRequest.LeaderAndIsrTopicState
LiveLeader = m.LeaderAndIsrRequest.LeaderAndIsrLiveLeader
MetadataState = m.UpdateMetadataRequest.UpdateMetadataPartitionState
MetadataTopic = m.UpdateMetadataRequest.UpdateMetadataTopicState
MetadataBroker = m.UpdateMetadataRequest.UpdateMetadataBroker
MetadataEndpoint = m.UpdateMetadataRequest.UpdateMetadataEndpoint
StopState = m.StopReplicaRequest.StopReplicaPartitionState
StopTopic = m.StopReplicaRequest.StopReplicaTopicState


class RequestBatch:
    """Collects and makes requests. `listener` is the name of the inter-broker listener."""

    def __init__(self, context: ControllerContext, controller_id: int, listener: str) -> None:
        self._context = context
        self._controller_id = controller_id
        self._listener = listener
        self._clear()

    def leader_and_isr(self, broker_ids: Iterable[int], partition: TopicPartition, *, is_new: bool = False) -> None:
        """Send the partition's state to these brokers, which lead or follow it, and its metadata to all brokers."""
        for broker_id in broker_ids:
            assigned = self._leader_and_isr.setdefault(broker_id, {})
            assigned[partition] = is_new or assigned.get(partition, False)
            self._stop.get(broker_id, {}).pop(partition, None)
        self._metadata[partition] = None
        self._metadata_for_all = True

    def stop_replica(self, replica: PartitionReplica, *, delete: bool = False) -> None:
        """Have a broker stop its replica, and `delete` its log."""
        partition, broker_id = replica
        stopped = self._stop.setdefault(broker_id, {})
        stopped[partition] = delete or stopped.get(partition, False)
        self._leader_and_isr.get(broker_id, {}).pop(partition, None)

    def update_metadata(self, partitions: Iterable[TopicPartition] = ()) -> None:
        """Send all live brokers the list of live brokers and the metadata of these partitions."""
        self._metadata.update(dict.fromkeys(partitions))
        self._metadata_for_all = True

    def introduce(self, broker_ids: Iterable[int]) -> None:
        """Send these brokers the complete metadata first, then all partitions that they lead or follow.

        The state machines add these partitions in the same event.
        """
        self._introduced.update(broker_ids)

    def drain(self) -> list[tuple[int, Message]]:
        """Return the requests with their brokers, in order, and clear the batch."""
        requests: list[tuple[int, Message]] = []
        states = {partition: self._metadata_state(partition) for partition in self._metadata}
        update = self._update_metadata(states, INCREMENTAL) if self._metadata_for_all else None
        everything = self._update_metadata(self._everything(states), FULL) if self._introduced else None
        made: dict[tuple[TopicPartition, bool], LeaderAndIsrState | None] = {}
        for broker_id in self._context.live:
            new = broker_id in self._introduced
            if everything and new:
                requests.append((broker_id, self._addressed(everything, broker_id)))
            assigned = self._leader_and_isr.get(broker_id, {})
            if assigned or new:
                requests.append((broker_id, self._leader_and_isr_request(broker_id, assigned, made)))
            if update and not new:
                requests.append((broker_id, self._addressed(update, broker_id)))
            if stopped := self._stop.get(broker_id):
                requests.append((broker_id, self._stop_replica_request(broker_id, stopped)))
        self._clear()
        return requests

    def _clear(self) -> None:
        self._leader_and_isr: dict[int, dict[TopicPartition, bool]] = {}
        self._stop: dict[int, dict[TopicPartition, bool]] = {}
        self._metadata: dict[TopicPartition, None] = {}
        self._metadata_for_all = False
        self._introduced: set[int] = set()

    def _leader_and_isr_request(
        self,
        broker_id: int,
        partitions: dict[TopicPartition, bool],
        made: dict[tuple[TopicPartition, bool], LeaderAndIsrState | None],
    ) -> Message:
        """Return one request; `made` caches the states, as most go to several brokers."""
        topics: dict[str, list[LeaderAndIsrState]] = {}
        leaders: dict[int, None] = {}
        for partition, is_new in partitions.items():
            if (partition, is_new) not in made:
                made[partition, is_new] = self._leader_and_isr_state(partition, is_new)
            state = made[partition, is_new]
            if state is None:
                continue
            leaders[state.leader] = None
            topics.setdefault(partition.topic, []).append(state)
        return m.LeaderAndIsrRequest(
            controller_id=self._controller_id,
            controller_epoch=self._context.epoch,
            broker_epoch=self._context.live[broker_id],
            type=FULL if self._is_all_of(broker_id, topics) else INCREMENTAL,
            topic_states=[
                LeaderAndIsrTopic(topic_name=topic, topic_id=self._context.topic_ids[topic], partition_states=states)
                for topic, states in topics.items()
            ],
            live_leaders=[
                LiveLeader(broker_id=leader, host_name=at.host, port=at.port)
                for leader in leaders
                if (at := self._endpoint(leader)) is not None
            ],
        )

    def _is_all_of(self, broker_id: int, topics: dict[str, list[LeaderAndIsrState]]) -> bool:
        """Return whether an introduced broker gets all its partitions, apart from topics that are being deleted.

        A partition with an unreadable state is missing, and the broker must not stop its replica for that.
        """
        if broker_id not in self._introduced:
            return False
        held = [
            partition
            for partition in self._context.on_broker(broker_id)
            if partition.topic not in self._context.deletion_begun
        ]
        return len(held) == sum(map(len, topics.values()))

    def _leader_and_isr_state(self, partition: TopicPartition, is_new: bool) -> LeaderAndIsrState | None:
        """Return the state of a partition, None if it is gone or has not had a leader."""
        known = self._context.leadership.get(partition)
        assignment = self._context.assignment(partition)
        if known is None or assignment is None:
            return None
        return LeaderAndIsrState(
            partition_index=partition.partition,
            controller_epoch=known.controller_epoch,
            leader=known.leader,
            leader_epoch=known.leader_epoch,
            isr=list(known.isr),
            partition_epoch=known.version,
            replicas=list(assignment.replicas),
            adding_replicas=list(assignment.adding),
            removing_replicas=list(assignment.removing),
            is_new=is_new,
        )

    def _endpoint(self, broker_id: int) -> BrokerEndpoint | None:
        registered = self._context.registered.get(broker_id)
        return registered.info.endpoint(self._listener) if registered and broker_id in self._context.live else None

    def _everything(
        self, states: dict[TopicPartition, MetadataState | None]
    ) -> dict[TopicPartition, MetadataState | None]:
        others = (partition for partition in self._context.leadership if partition not in states)
        return {**states, **{partition: self._metadata_state(partition) for partition in others}}

    def _update_metadata(
        self, states: dict[TopicPartition, MetadataState | None], kind: int
    ) -> m.UpdateMetadataRequest:
        topics: dict[str, list[MetadataState]] = {}
        for partition, state in states.items():
            if state is not None:
                topics.setdefault(partition.topic, []).append(state)
        return m.UpdateMetadataRequest(
            controller_id=self._controller_id,
            controller_epoch=self._context.epoch,
            type=kind,
            topic_states=[
                MetadataTopic(topic_name=topic, topic_id=self._context.topic_ids[topic], partition_states=of_topic)
                for topic, of_topic in topics.items()
            ],
            live_brokers=[self._metadata_broker(broker_id) for broker_id in self._context.live],
        )

    def _addressed(self, request: m.UpdateMetadataRequest, broker_id: int) -> Message:
        """Return the same content for another broker; the parts are shared and never changed."""
        return m.UpdateMetadataRequest(
            controller_id=request.controller_id,
            controller_epoch=request.controller_epoch,
            type=request.type,
            broker_epoch=self._context.live[broker_id],
            topic_states=request.topic_states,
            live_brokers=request.live_brokers,
        )

    def _metadata_state(self, partition: TopicPartition) -> MetadataState | None:
        known = self._context.leadership.get(partition)
        if known is None or partition.topic not in self._context.topic_ids:
            return None
        deleting = partition.topic in self._context.deletion_begun
        return MetadataState(
            partition_index=partition.partition,
            controller_epoch=known.controller_epoch,
            leader=LEADER_DURING_DELETE if deleting else known.leader,
            leader_epoch=known.leader_epoch,
            isr=list(known.isr),
            zk_version=known.version,
            replicas=list(self._context.replicas(partition)),
            offline_replicas=self._context.offline_replicas(partition),
        )

    def _metadata_broker(self, broker_id: int) -> MetadataBroker:
        registration = self._context.registered[broker_id]
        return MetadataBroker(
            id=broker_id,
            endpoints=[
                MetadataEndpoint(
                    port=endpoint.port,
                    host=endpoint.host,
                    listener=endpoint.listener,
                    security_protocol=SECURITY_PROTOCOLS.get(endpoint.security_protocol, 0),
                )
                for endpoint in registration.info.endpoints
            ],
            rack=registration.info.rack,
            broker_epoch=registration.epoch,
        )

    def _stop_replica_request(self, broker_id: int, stopped: dict[TopicPartition, bool]) -> Message:
        topics: dict[str, list[StopState]] = {}
        for partition, delete in stopped.items():
            topics.setdefault(partition.topic, []).append(
                StopState(
                    partition_index=partition.partition,
                    leader_epoch=self._stop_epoch(partition),
                    delete_partition=delete,
                )
            )
        return m.StopReplicaRequest(
            controller_id=self._controller_id,
            controller_epoch=self._context.epoch,
            broker_epoch=self._context.live[broker_id],
            topic_states=[StopTopic(topic_name=topic, partition_states=states) for topic, states in topics.items()],
        )

    def _stop_epoch(self, partition: TopicPartition) -> int:
        if partition.topic in self._context.deletion_begun:
            return EPOCH_DURING_DELETE
        known = self._context.leadership.get(partition)
        return known.leader_epoch if known else NO_LEADER_EPOCH
