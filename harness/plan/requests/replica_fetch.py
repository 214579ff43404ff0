"""Fetch as a follower."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fencepost.harness.plan.answers import ProbeAnswer
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import NodeRef, Value
from fencepost.harness.plan.requests.fetch import BY_NAME, MAX_BYTES, fetched
from fencepost.harness.plan.requests.request import OfPartition
from fencepost.harness.plan.step_error import StepError
from fencepost.harness.wire.no_answer import NotOffered
from fencepost.harness.wire.versions import FETCH, Api

WITH_LEADER_EPOCH, WITH_BROKER_EPOCH = 9, 15
"""Versions of Fetch: the first with a leader epoch, and the first with the epoch of a follower."""


class ReplicaFetchProbe(OfPartition):
    """A follower's fetch, from `offset`, in the name of `broker`.

    It is by topic id, or by name, without a broker epoch, from releases that have no fetch by id.
    """

    phrase = "Fetch from {node} in the name of {broker}"
    sends = ("fetch",)
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
        api = self._versions(connection, by_id=topic_id is not None, by_name=run.uses_zookeeper)
        version = connection.newest_version(api)
        partition = {
            "partition": self.partition,
            "current_leader_epoch": claimed,
            "fetch_offset": self.offset,
            "log_start_offset": 0,
            "partition_max_bytes": MAX_BYTES,
        }
        named = {"topic": self.topic} if version <= BY_NAME else {"topic_id": topic_id}
        replica: dict[str, object] = {"replica_id": run.id(broker)}
        sent = {"leader_epoch": claimed}
        if version >= WITH_BROKER_EPOCH:  # KIP-903
            replica = {"replica_state": {**replica, "replica_epoch": broker_epoch}}
            sent["broker_epoch"] = broker_epoch
        return fetched(connection, api, {**named, "partitions": [partition]}, replica, sent)

    def _versions(self, connection: Connection, *, by_id: bool, by_name: bool) -> Api:
        """Return the versions of Fetch to ask in; NotOffered if the node has none with the epochs that the plan names.

        Brokers with ZooKeeper may have topic ids before they serve fetches by id, and send no broker epoch themselves.
        """
        with_epochs = FETCH.low if self.leader_epoch == "current" else WITH_LEADER_EPOCH
        if by_name:
            offered = FETCH.between(WITH_BROKER_EPOCH if by_id else FETCH.high + 1, FETCH.high)
            try:
                connection.newest_version(offered)
            except NotOffered:
                return FETCH.between(with_epochs, BY_NAME)
            return offered
        return FETCH.between(BY_NAME + 1 if self.broker_epoch == "current" else WITH_BROKER_EPOCH, FETCH.high)
