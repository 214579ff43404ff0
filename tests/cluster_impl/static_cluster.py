"""Several brokers in one process over loopback sockets, under a control plane that is one object in memory.

Each broker has its own log dirs, server and replicas, and reaches the others by their sockets only.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from fencepost.cluster_impl.api.apis import BrokerApis
from fencepost.cluster_impl.api.fetch_sessions import FetchSessions
from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.config.settings import settings_of
from fencepost.cluster_impl.replication.control_plane import (
    Change,
    Endpoint,
    PartitionAssignment,
    TopicPartition,
)
from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.replication.replica import Replica
from fencepost.cluster_impl.replication.rules import KIP_101, Rules
from fencepost.cluster_impl.storage.log_dirs import LogDirs
from fencepost.cluster_impl.wire.batches import parse
from fencepost.cluster_impl.wire.client import Connection, connector
from fencepost.cluster_impl.wire.codec import Message, RequestMessage
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import KAFKA
from fencepost.cluster_impl.wire.server import Server
from tests.cluster_impl.static_world import CLUSTER_ID, StaticControl, World

HOST = "127.0.0.1"
DISKS = ("disk-0", "disk-1")
"""The log dirs of each broker, in its folder."""

T = TypeVar("T")
R = TypeVar("R", bound=Message)


class Broker:
    def __init__(self, world: World[Broker], broker_id: int, path: Path, config: DataPlaneConfig, rules: Rules) -> None:
        self.broker_id = broker_id
        self.endpoints: dict[str, Endpoint] = {}
        self.control = StaticControl(world, broker_id)
        self.log_dirs = LogDirs.open([path / name for name in DISKS], CLUSTER_ID, broker_id)
        self.replicas = ReplicaManager(
            self.control, config, self.log_dirs, connector(KAFKA, f"broker-{broker_id}-fetcher", Hosts()), rules
        )
        self.apis = BrokerApis(self.control, self.replicas, config, tuple(settings_of(DataPlaneConfig, {})))
        self.server = Server(KAFKA, FetchSessions(config.fetch_session_slots).among(self.apis.handlers))
        self.stopped = False
        self.refused: dict[TopicPartition, Error] = {}
        """The errors of the latest changes that could not be carried out."""

    def apply(self, changes: Sequence[Change]) -> None:
        for change in changes:
            self.refused.pop(change.topic_partition, None)
        self.refused |= self.replicas.apply(changes)

    async def start(self) -> None:
        await self.replicas.start()
        for listener in ("INTERNAL", "CLIENT"):
            self.endpoints[listener] = Endpoint(HOST, await self.server.listen(HOST, 0, listener))

    async def stop(self) -> None:
        if self.stopped:
            return
        self.stopped = True
        self.apis.close()
        await self.server.close()
        await self.replicas.close()
        self.log_dirs.close()


class StaticCluster:
    """Brokers with the ids 1 to `size` on an event loop in a thread of its own, for clients that block."""

    def __init__(
        self, path: Path, size: int, config: DataPlaneConfig, rules: Rules, racks: Mapping[int, str] | None = None
    ) -> None:
        self.world = World[Broker]()
        self.world.racks |= racks or {}
        self._path, self._config, self._rules = path, config, rules
        self._started: list[Broker] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        for broker_id in range(1, size + 1):
            self.start(broker_id)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    def start(self, broker_id: int, folder: str | None = None) -> None:
        """Register a process under an id, which another process may have had."""

        async def start() -> None:
            path = self._path / (folder or str(broker_id))
            broker = Broker(self.world, broker_id, path, self._config, self._rules)
            await broker.start()
            self._started.append(broker)
            self.world.register(broker)

        self.run(start())

    def stop(self, broker_id: int) -> None:
        """The process ends; then the control plane learns of it."""

        async def stop() -> None:
            broker = self.world.brokers[broker_id]
            await broker.stop()
            self.world.unregister(broker_id)

        self.run(stop())

    def create(self, topic: str, replicas: list[list[int]], **config: str) -> None:
        async def create() -> None:
            self.world.create(topic, replicas, **config)

        self.run(create())

    def tell(self, broker_id: int, *changes: Change) -> None:
        """Tell one broker something that the others do not hear."""

        async def tell() -> None:
            self.world.brokers[broker_id].apply(changes)

        self.run(tell())

    def elect(self, topic: str, partition: int, leader: int) -> None:
        async def elect() -> None:
            self.world.elect(TopicPartition(topic, partition), leader)

        self.run(elect())

    def kill(self, broker_id: int) -> None:
        """End the process without a report to the control plane."""
        self.run(self.world.brokers[broker_id].stop())

    def forget(self, broker_id: int) -> Broker:
        """Let the control plane give the process up, which does not know and continues."""

        async def forget() -> Broker:
            broker = self.world.brokers[broker_id]
            self.world.unregister(broker_id)
            return broker

        return self.run(forget())

    def readmit(self, broker: Broker) -> None:
        async def readmit() -> None:
            self.world.register(broker)

        self.run(readmit())

    def begin(
        self, broker: int | Broker, request: RequestMessage[R], version: int, timeout: float = 5.0
    ) -> concurrent.futures.Future[R]:
        """Send one request to one broker over a connection of its own; the answer comes in the future."""
        asked = self.world.brokers[broker] if isinstance(broker, int) else broker

        async def ask() -> R:
            at = asked.endpoints["CLIENT"]
            connection = await Connection.open(at.host, at.port, KAFKA, "test", hosts=Hosts(), timeout=2)
            try:
                return await connection.request(request, version, timeout=timeout)
            finally:
                connection.close()

        return asyncio.run_coroutine_threadsafe(ask(), self._loop)

    def ask(self, broker: int | Broker, request: RequestMessage[R], version: int, timeout: float = 5.0) -> R:
        """As `begin`, and wait for the answer. Raises ConnectionError, TimeoutError."""
        return self.begin(broker, request, version, timeout).result(timeout + 5)

    def state(self, topic: str, partition: int = 0) -> PartitionAssignment:
        return self.world.partitions[TopicPartition(topic, partition)]

    def replica(self, broker_id: int, topic: str, partition: int = 0) -> Replica:
        found = self.world.brokers[broker_id].replicas.get(topic, partition)
        assert found is not None
        return found

    def log(self, broker_id: int, topic: str, partition: int = 0) -> list[bytes | None]:
        """The values of all records in a replica's log, with the leader epochs they were written in left out."""
        found = self.replica(broker_id, topic, partition).log
        return [record.value for batch in found.batches(0) for record in parse(batch)]

    @property
    def bootstrap(self) -> str:
        endpoints = [broker.endpoints["CLIENT"] for broker in self.world.brokers.values()]
        return ",".join(f"{endpoint.host}:{endpoint.port}" for endpoint in endpoints)

    def close(self) -> None:
        async def stop() -> None:
            for broker in self._started:
                await broker.stop()

        self.run(stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@contextmanager
def static_cluster(
    path: Path,
    size: int = 3,
    config: DataPlaneConfig | None = None,
    rules: Rules = KIP_101,
    racks: Mapping[int, str] | None = None,
) -> Iterator[StaticCluster]:
    config = config or DataPlaneConfig(lag_limit=1.0)
    config = replace(config, offsets_topic_partitions=2, group_initial_rebalance_delay=0.0)
    cluster = StaticCluster(path, size, config, rules, racks)
    try:
        yield cluster
    finally:
        cluster.close()
