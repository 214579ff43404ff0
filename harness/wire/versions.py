"""Versions of requests: those that a node takes (ApiVersions, KIP-35), and the newest that the harness has, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Protocol

from fencepost.harness.wire.no_answer import NotOffered

CLIENT_ID = "fencepost"
"""The name of the harness in its requests."""

Offered = Mapping[int, tuple[int, int]]
"""The lowest and the highest version that a node takes, by API key."""


class Asks(Protocol):
    """A connection to a node. Both methods raise `NoAnswer`."""

    def newest(self, api: Api) -> Any: ...

    def call(self, request: Any, response: type[Any], timeout: float | None = None) -> Any: ...


@dataclass(frozen=True)
class Api:
    """One request of Kafka, in the versions `low` to `high` that the harness speaks.

    `schema` is its package in kio, which has one module for each version; only those that are used are imported. What
    kio does not have is in `definitions`.
    """

    key: int
    name: str
    schema: str
    low: int
    high: int

    def between(self, low: int, high: int) -> Api:
        """Return the same request where only these versions have what is asked."""
        return replace(self, low=max(low, self.low), high=min(high, self.high))

    def newest(self, offered: Offered, peer: str) -> Any:
        """Return kio's module of the newest version that both sides have. NotOffered if there is none."""
        from fencepost.harness.wire.entities import own_module  # loads kio, which a reader of plans does not need

        version = self.newest_version(offered, peer)
        return own_module(self.key, version) or import_module(f"kio.schema.{self.schema}.v{version}")

    def ask(self, connection: Asks, body: Mapping[str, Any], timeout: float | None = None) -> Any:
        """Send the request in the newest version that both sides have, and return the answer. Raise NoAnswer.

        `body` has the fields of version `high`, as plain data; what an older version lacks is not sent. The caller asks
        for versions that have all fields that matter.
        """
        request, response = self.prepared(connection, body)
        return connection.call(request, response, timeout)

    def prepared(self, connection: Asks, body: Mapping[str, Any]) -> tuple[Any, type[Any]]:
        """Return the request that `ask` sends, and the class of its answer."""
        from fencepost.harness.wire.entities import entity

        module = connection.newest(self)
        request, response = (getattr(module, f"{self.name}{kind}") for kind in ("Request", "Response"))
        return entity(request, body, whole=request.__version__ == self.high), response

    def newest_version(self, offered: Offered, peer: str) -> int:
        """Return the newest version that both sides have. NotOffered if there is none."""
        low, high = offered.get(self.key, (0, -1))
        version = min(high, self.high)
        if version < max(low, self.low):
            raise NotOffered(peer, f"{_description(offered, self.key, self.name)}; {self._needed}")
        return version

    @property
    def _needed(self) -> str:
        if self.low < self.high:
            return f"versions {self.low} to {self.high} are needed"
        return f"version {self.low} is needed"


METADATA = Api(3, "Metadata", "metadata", 1, 12)
PRODUCE = Api(0, "Produce", "produce", 2, 9)
FETCH = Api(1, "Fetch", "fetch", 3, 15)
LIST_OFFSETS = Api(2, "ListOffsets", "list_offsets", 1, 7)
CREATE_TOPICS = Api(19, "CreateTopics", "create_topics", 1, 7)
FIND_COORDINATOR = Api(10, "FindCoordinator", "find_coordinator", 1, 3)
API_VERSIONS = Api(18, "ApiVersions", "api_versions", 3, 3)
DELETE_TOPICS = Api(20, "DeleteTopics", "delete_topics", 0, 5)
DESCRIBE_CONFIGS = Api(32, "DescribeConfigs", "describe_configs", 1, 4)
CREATE_PARTITIONS = Api(37, "CreatePartitions", "create_partitions", 0, 2)
ALTER_PARTITION_REASSIGNMENTS = Api(45, "AlterPartitionReassignments", "alter_partition_reassignments", 0, 0)
LIST_PARTITION_REASSIGNMENTS = Api(46, "ListPartitionReassignments", "list_partition_reassignments", 0, 0)
VOTE = Api(52, "Vote", "vote", 0, 0)
DESCRIBE_QUORUM = Api(55, "DescribeQuorum", "describe_quorum", 0, 1)
ALTER_PARTITION = Api(56, "AlterPartition", "alter_partition", 2, 3)
UPDATE_FEATURES = Api(57, "UpdateFeatures", "update_features", 1, 1)
BROKER_HEARTBEAT = Api(63, "BrokerHeartbeat", "broker_heartbeat", 0, 0)

LEADER_AND_ISR = Api(4, "LeaderAndIsr", "", 5, 5)
STOP_REPLICA = Api(5, "StopReplica", "", 3, 3)
UPDATE_METADATA = Api(6, "UpdateMetadata", "", 7, 7)
CONTROLLED_SHUTDOWN = Api(7, "ControlledShutdown", "", 3, 3)
DRAFT_BROKER_HEARTBEAT = Api(50, "BrokerHeartbeat", "", 0, 0)
DRAFT_CONTROLLER_HEARTBEAT = Api(51, "ControllerHeartbeat", "", 0, 0)
DRAFT_ALTER_ISR = Api(56, "AlterIsr", "", 0, 0)
METADATA_HEARTBEAT = Api(1343, "MetadataHeartbeat", "", 0, 0)
ISR_CHANGE = Api(1344, "IsrChange", "", 0, 0)
REPLICA_STATE_EVENT = Api(1589, "ReplicaStateEvent", "", 0, 0)


def require(offered: Offered, peer: str, request: Any) -> None:
    """Raise NotOffered unless a node takes this request in its version."""
    low, high = offered.get(int(request.__api_key__), (0, -1))
    if not low <= request.__version__ <= high:
        name = type(request).__name__.removesuffix("Request")
        described = _description(offered, int(request.__api_key__), name)
        raise NotOffered(peer, f"{described}; version {request.__version__} is needed")


def _description(offered: Offered, key: int, name: str) -> str:
    if key not in offered:
        return f"has no request {name}"
    low, high = offered[key]
    return f"has {name} in version{f's {low} to {high}' if low < high else f' {low}'} only"
