"""Fetch as a follower."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i32, i64
from pydantic import Field

from fencepost.harness.plan.answers import ProbeAnswer
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import NodeRef, Value
from fencepost.harness.plan.requests.fetch import BY_NAME, MAX_BYTES, fetched
from fencepost.harness.plan.requests.request import OfPartition
from fencepost.harness.plan.step_error import StepError
from fencepost.harness.wire.no_answer import NotOffered
from fencepost.harness.wire.versions import FETCH, entity

WITH_LEADER_EPOCH, WITH_BROKER_EPOCH = 9, 15
"""Versions of Fetch: the first with a leader epoch, and the first with the epoch of a follower."""


class ReplicaFetchProbe(OfPartition):
    """A follower's fetch, from `offset`, in the name of `broker`.

    It is by topic id, or by name, without a broker epoch, from releases that have no fetch by id.
    """

    phrase = "Fetch from {node} in the name of {broker}"
    request: Literal["replica-fetch"] = "replica-fetch"
    broker: NodeRef
    broker_epoch: Value = "current"
    leader_epoch: Value = "current"
    offset: Annotated[int, Field(ge=0)] = 0

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        broker = run.node(self.broker)
        topic_id = run.decided.topic_id(self.topic)
        if topic_id is None and not run.uses_zookeeper:
            raise StepError(f"{self.topic} is not in the metadata log, so it has no id to fetch by")
        claimed = run.leader_epoch(self.leader_epoch, self.place)
        broker_epoch = run.broker_epoch(self.broker_epoch, broker)
        id = BrokerId(run.id(broker))
        api = self._newest(connection, by_id=topic_id is not None, by_name=run.uses_zookeeper)
        state = getattr(api.request, "ReplicaState", None)  # since version 15 (KIP-903)
        partition = entity(
            api.request.FetchPartition,
            partition=i32(self.partition),
            current_leader_epoch=i32(claimed),
            fetch_offset=i64(self.offset),
            log_start_offset=i64(0),
            partition_max_bytes=MAX_BYTES,
        )
        topic = entity(api.request.FetchTopic, topic=TopicName(self.topic), topic_id=topic_id, partitions=(partition,))
        replica: dict[str, Any] = {"replica_id": id}
        sent = {"leader_epoch": claimed}
        if state is not None:
            replica = {"replica_state": state(replica_id=id, replica_epoch=i64(broker_epoch))}
            sent["broker_epoch"] = broker_epoch
        return fetched(connection, api, topic, sent=sent, **replica)

    def _newest(self, connection: Connection, *, by_id: bool, by_name: bool) -> Any:
        """Return the version of Fetch to ask in; NotOffered if the node has none with the epochs that the plan names.

        Brokers with ZooKeeper may have topic ids before they serve fetches by id, and send no broker epoch themselves.
        """
        with_epochs = FETCH.low if self.leader_epoch == "current" else WITH_LEADER_EPOCH
        if by_name:
            try:
                return connection.newest(FETCH.between(WITH_BROKER_EPOCH if by_id else FETCH.high + 1, FETCH.high))
            except NotOffered:
                return connection.newest(FETCH.between(with_epochs, BY_NAME))
        return connection.newest(
            FETCH.between(BY_NAME + 1 if self.broker_epoch == "current" else WITH_BROKER_EPOCH, FETCH.high)
        )
