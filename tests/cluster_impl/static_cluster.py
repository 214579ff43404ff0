"""Several brokers in one process over loopback sockets, under a control plane that is one object in memory.

`World` is what a real control plane keeps by consensus: it registers brokers, elects leaders when told, and changes
ISRs by compare-and-set. Each broker has its own log folder, server and replicas, and reaches the others by their
sockets only.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID, uuid4

from cluster_impl.api import ApiConfig, BrokerApis
from cluster_impl.replication.config import ReplicationConfig
from cluster_impl.replication.control_plane import (
    BrokerView,
    Change,
    ClusterView,
    Endpoint,
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    PartitionAssignment,
    PartitionRemoved,
    PartitionView,
    TopicPartition,
    TopicView,
)
from cluster_impl.replication.manager import ReplicaManager
from cluster_impl.replication.replica import Replica
from cluster_impl.storage.log_dirs import LogDirs
from cluster_impl.wire import messages as m
from cluster_impl.wire.batches import parse
from cluster_impl.wire.client import Connection
from cluster_impl.wire.codec import Message, RequestMessage
from cluster_impl.wire.errors import Error
from cluster_impl.wire.hosts import Hosts
from cluster_impl.wire.registry import KAFKA
from cluster_impl.wire.server import Server

CLUSTER_ID = "static"
HOST = "127.0.0.1"
DISKS = ("disk-0", "disk-1")
"""The log dirs of each broker, in its folder."""

T = TypeVar("T")
R = TypeVar("R", bound=Message)


def eventually(condition: Callable[[], bool], what: str, within: float = 10.0) -> None:
    """Wait until a condition holds; fail with `what` if it does not within so many seconds."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, f"{what} within {within:g} s"
        time.sleep(0.01)


class World:
    """Everything that is decided for the whole cluster. One event loop."""

    def __init__(self) -> None:
        self.brokers: dict[int, Broker] = {}
        self.epochs: dict[int, int] = {}
        self.partitions: dict[TopicPartition, PartitionAssignment] = {}
        self.view = ClusterView(CLUSTER_ID, 0, {}, {})
        self._epoch = itertools.count(100)
        self._producer_ids = itertools.count(1000)

    def register(self, broker: Broker) -> None:
        """A process wins its id; what its predecessor led is led by another in-sync replica, if there is one."""
        self.unregister(broker.broker_id)
        self.brokers[broker.broker_id] = broker
        self.epochs[broker.broker_id] = next(self._epoch)
        for name, state in self.partitions.items():
            if state.leader == -1 and broker.broker_id in state.isr:
                self._change(name, leader=broker.broker_id)
        self._publish([*self.partitions])

    def unregister(self, broker_id: int) -> None:
        """A broker is fenced: it leaves every ISR, unless it is the last member, and leads nothing.

        What it replicates outside the ISR gets a new version too: an ISR with it may be on its way.
        """
        self.brokers.pop(broker_id, None)
        self.epochs.pop(broker_id, None)
        for name, state in self.partitions.items():
            if broker_id in state.replicas:
                isr = tuple(member for member in state.isr if member != broker_id)
                leader = state.leader if state.leader != broker_id else next(iter(isr), -1)
                self._change(name, leader=leader, isr=isr or state.isr)
        self._publish([*self.partitions])

    def create(self, topic: str, replicas: list[list[int]], **config: str) -> None:
        topic_id = uuid4()
        names = [TopicPartition(topic, index) for index in range(len(replicas))]
        for name, assigned in zip(names, replicas, strict=True):
            live = tuple(broker for broker in assigned if broker in self.epochs)
            self.partitions[name] = PartitionAssignment(
                topic=topic, topic_id=topic_id, partition=name.partition, replicas=tuple(assigned), isr=live,
                leader=live[0], leader_epoch=0, tenure_epoch=0, version=0,
                config={key.replace("_", "."): value for key, value in config.items()},
            )  # fmt: skip
        self._publish(names, is_new=True)

    def delete(self, topic: str) -> None:
        for name in [name for name in self.partitions if name.topic == topic]:
            gone = self.partitions.pop(name)
            removal = PartitionRemoved(topic=topic, topic_id=gone.topic_id, partition=name.partition)
            for broker in self.brokers.values():
                broker.apply([removal])
        self._publish([])

    def lose(self, broker_id: int, names: Sequence[TopicPartition]) -> None:
        """A broker says that it lost replicas: they leave their ISRs, unless they are the last, and lead nothing."""
        for name in names:
            state = self.partitions[name]
            isr = tuple(member for member in state.isr if member != broker_id)
            leader = state.leader if state.leader != broker_id else next(iter(isr), -1)
            self._change(name, leader=leader, isr=isr or state.isr)
        self._publish([*names])

    def elect(self, name: TopicPartition, leader: int) -> None:
        self._change(name, leader=leader)
        self._publish([name])

    def _change(self, name: TopicPartition, *, leader: int | None = None, isr: tuple[int, ...] | None = None) -> None:
        state = self.partitions[name]
        epoch = state.leader_epoch + 1
        leader = state.leader if leader is None else leader
        self.partitions[name] = replace(
            state,
            isr=state.isr if isr is None else isr,
            leader=leader,
            leader_epoch=epoch,
            version=epoch,
            tenure_epoch=state.tenure_epoch if leader == state.leader else epoch,
        )

    def alter_isr(self, asking: int, proposal: IsrProposal) -> IsrOutcome:
        name = TopicPartition(proposal.topic, proposal.partition)
        state = self.partitions[name]
        if state.leader != asking:
            return IsrRefused(Error.INVALID_REQUEST)
        if proposal.version != state.version:
            return IsrRefused(Error.INVALID_UPDATE_VERSION)
        if not set(proposal.isr) <= self.epochs.keys():
            return IsrRefused(Error.INELIGIBLE_REPLICA)
        self._change(name, isr=proposal.isr)
        self._publish([name])
        state = self.partitions[name]
        return IsrAccepted(isr=state.isr, leader_epoch=state.leader_epoch, version=state.version)

    def new_producer_id(self) -> int:
        return next(self._producer_ids)

    def _publish(self, names: list[TopicPartition], *, is_new: bool = False) -> None:
        self.view = self._describe()
        states = [replace(self.partitions[name], is_new=is_new) for name in names]
        for broker in [broker for broker in self.brokers.values() if not broker.stopped]:
            broker.apply([state for state in states if broker.broker_id in state.replicas])

    def _describe(self) -> ClusterView:
        topics: dict[str, dict[int, PartitionView]] = {}
        for name, state in self.partitions.items():
            shown = PartitionView(state.replicas, state.isr, state.leader, state.leader_epoch)
            topics.setdefault(name.topic, {})[name.partition] = shown
        return ClusterView(
            CLUSTER_ID,
            min(self.brokers, default=-1),
            {broker_id: BrokerView(broker_id, broker.endpoints) for broker_id, broker in self.brokers.items()},
            {
                topic: TopicView(
                    topic, self._topic_id(topic), partitions, self.partitions[TopicPartition(topic, 0)].config
                )
                for topic, partitions in topics.items()
            },
        )

    def _topic_id(self, topic: str) -> UUID:
        return self.partitions[TopicPartition(topic, 0)].topic_id

    def administer(self, request: Message) -> Message:
        if isinstance(request, m.DeleteTopicsRequest):
            for topic in request.topics:
                self.delete(topic.name or "")
            results = [m.DeleteTopicsResponse.DeletableTopicResult(name=topic.name) for topic in request.topics]
            return m.DeleteTopicsResponse(responses=results)
        assert isinstance(request, m.CreateTopicsRequest)
        response = m.CreateTopicsResponse()
        for wanted in request.topics:
            brokers = itertools.cycle(sorted(self.brokers))
            factor = max(wanted.replication_factor, 1)
            replicas = []
            for _ in range(max(wanted.num_partitions, 1)):
                replicas.append(list(itertools.islice(brokers, factor)))
                next(brokers)
            if TopicPartition(wanted.name, 0) not in self.partitions:
                self.create(wanted.name, replicas)
            response.topics.append(
                m.CreateTopicsResponse.CreatableTopicResult(
                    name=wanted.name, topic_id=self._topic_id(wanted.name), num_partitions=len(replicas)
                )
            )
        return response


class StaticControl:
    """One broker's side of the world; `fenced` takes its lease away without telling anybody.

    `completes` says that what was begun before is completed; `failed_dirs` are those that were told.
    """

    def __init__(self, world: World, broker_id: int) -> None:
        self.broker_id = broker_id
        self.fenced = False
        self.completes = False
        self.failed_dirs: list[tuple[Path, Sequence[TopicPartition]]] = []
        self._world = world

    def serving(self) -> bool:
        return not self.fenced

    def completes_begun(self) -> bool:
        return self.completes

    def log_dir_failed(self, path: Path, lost: Sequence[TopicPartition]) -> None:
        self.failed_dirs.append((path, lost))
        self._world.lose(self.broker_id, lost)

    def broker_epoch(self) -> int:
        return self._world.epochs.get(self.broker_id, -1)

    def registered_epoch(self, broker_id: int) -> int | None:
        return self._world.epochs.get(broker_id)

    def alter_isr(self, proposal: IsrProposal) -> Awaitable[IsrOutcome]:
        async def answer() -> IsrOutcome:
            return self._world.alter_isr(self.broker_id, proposal)

        return answer()

    def new_producer_id(self) -> int:
        return self._world.new_producer_id()

    async def forward(self, request: Message, version: int) -> Message:
        return self._world.administer(request)

    def cluster(self) -> ClusterView:
        return self._world.view


class Broker:
    def __init__(self, world: World, broker_id: int, path: Path, config: ReplicationConfig, api: ApiConfig) -> None:
        self.broker_id = broker_id
        self.endpoints: dict[str, Endpoint] = {}
        self.control = StaticControl(world, broker_id)
        self.log_dirs = LogDirs.open([path / name for name in DISKS], CLUSTER_ID, broker_id)
        self.replicas = ReplicaManager(self.control, config, self.log_dirs, Hosts())
        self.apis = BrokerApis(self.control, self.replicas, api)
        self.server = Server(KAFKA, self.apis.handlers)
        self.stopped = False
        self.refused: dict[TopicPartition, Error] = {}
        """What could not be carried out when it was told last."""

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

    def __init__(self, path: Path, size: int, config: ReplicationConfig, api: ApiConfig) -> None:
        self.world = World()
        self._path, self._config, self._api = path, config, api
        self._started: list[Broker] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        for broker_id in range(1, size + 1):
            self.start(broker_id)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    def start(self, broker_id: int, folder: str | None = None) -> None:
        """A process registers under an id, which it takes from whoever has it."""

        async def start() -> None:
            path = self._path / (folder or str(broker_id))
            broker = Broker(self.world, broker_id, path, self._config, self._api)
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
        """The process ends, and nobody tells the control plane."""
        self.run(self.world.brokers[broker_id].stop())

    def forget(self, broker_id: int) -> Broker:
        """The control plane gives the process up, which is not told and goes on as before."""

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
    path: Path, size: int = 3, config: ReplicationConfig | None = None, api: ApiConfig | None = None
) -> Iterator[StaticCluster]:
    cluster = StaticCluster(
        path,
        size,
        config or ReplicationConfig(lag_limit=1.0),
        api or ApiConfig(offsets_topic_num_partitions=2, group_initial_rebalance_delay=0.0),
    )
    try:
        yield cluster
    finally:
        cluster.close()
