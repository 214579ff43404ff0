"""The state that a real control plane keeps by consensus, as one object, and each broker's side of it."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID, uuid4

from fencepost.cluster_impl.replication.control_plane import (
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
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.refusals import PARTITION_REQUESTS, refusal

CLUSTER_ID = "static"


class Member(Protocol):
    """A broker as the world sees it."""

    @property
    def broker_id(self) -> int: ...

    @property
    def endpoints(self) -> Mapping[str, Endpoint]: ...

    @property
    def stopped(self) -> bool: ...

    def apply(self, changes: Sequence[Change]) -> None: ...


B = TypeVar("B", bound=Member)


class World(Generic[B]):
    """Everything that is decided for the whole cluster. One event loop."""

    def __init__(self) -> None:
        self.brokers: dict[int, B] = {}
        self.epochs: dict[int, int] = {}
        self.partitions: dict[TopicPartition, PartitionAssignment] = {}
        self.view = ClusterView(CLUSTER_ID, 0, {}, {})
        self.racks: dict[int, str] = {}
        self._epoch = itertools.count(100)
        self._producer_ids = itertools.count(1000)

    def register(self, broker: B) -> None:
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
                leader=live[0], leader_epoch=0, leader_term_epoch=0, version=0,
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
            leader_term_epoch=state.leader_term_epoch if leader == state.leader else epoch,
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
            {
                broker_id: BrokerView(broker_id, broker.endpoints, self.racks.get(broker_id))
                for broker_id, broker in self.brokers.items()
            },
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
        if isinstance(request, PARTITION_REQUESTS):
            return refusal(request, Error.INVALID_REQUEST, "the assignment of this world is fixed")
        if isinstance(request, m.AlterConfigsRequest | m.IncrementalAlterConfigsRequest):
            return refusal(request, Error.INVALID_REQUEST, "the settings here are fixed")
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
                config = {setting.name: setting.value or "" for setting in wanted.configs}
                self.create(wanted.name, replicas, **config)
            response.topics.append(
                m.CreateTopicsResponse.CreatableTopicResult(
                    name=wanted.name, topic_id=self._topic_id(wanted.name), num_partitions=len(replicas)
                )
            )
        return response


class StaticControl:
    """One broker's side of the world; `fenced` takes its lease away without a notification.

    `completes`: requests that began before are completed. `failed_dirs` are those that were reported; the world gets
    the reports unless the broker is `unheard`.
    """

    def __init__(self, world: World[Any], broker_id: int) -> None:
        self.broker_id = broker_id
        self.fenced = False
        self.completes = False
        self.unheard = False
        self.failed_dirs: list[tuple[Path, Sequence[TopicPartition]]] = []
        self.looked: list[Collection[str] | None] = []
        """The topics that were brought up to date before a response showed them."""
        self._world = world

    def serving(self) -> bool:
        return not self.fenced

    def completes_begun(self) -> bool:
        return self.completes

    def log_dir_failed(self, path: Path, lost: Sequence[TopicPartition]) -> None:
        self.failed_dirs.append((path, lost))
        if not self.unheard:
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

    async def load_settings(self, topics: Collection[str]) -> None:
        """Do nothing: the view has them."""

    async def look(self, topics: Collection[str] | None) -> None:
        self.looked.append(topics)

    def cluster(self) -> ClusterView:
        return self._world.view
