"""A cluster in memory: a tree of znodes, brokers, and at most one controller, driven step by step.

Nothing happens by itself: `settle` runs until nothing is left to do, `deliver` and `watches` do a part of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID

from fencepost.cluster_impl.config.data_plane import TopicDefaults
from fencepost.cluster_impl.config.ibp import Ibp
from fencepost.cluster_impl.config.zk_controller import ZkControllerConfig
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller.controller import Controller, ControllerConfig
from fencepost.cluster_impl.designs.zk_controller.controller.events import (
    BrokerResponse,
    ControllerMoved,
    Election,
    Event,
    ReceivedRequest,
    Resignation,
    Tick,
    ZnodeChange,
)
from fencepost.cluster_impl.designs.zk_controller.znodes import (
    BrokerEndpoint,
    BrokerInfo,
    LeaderAndIsr,
    PartitionReplicas,
    TopicInfo,
)
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from tests.cluster_impl.designs.zk_controller.controller.memory_broker import Disk, MemoryBroker
from tests.cluster_impl.designs.znode_tree import TermOver, ZnodeTree

WITHOUT_HEARTBEATS = 4
WITH_HEARTBEATS = 5
TIMEOUT = 10.0

DESIGN = ZkControllerConfig(
    ibp=Ibp.BASE, controller_heartbeat_timeout=TIMEOUT, unclean_leader_election=False, auto_leader_rebalance=False
)
CONFIG = ControllerConfig(1, "INTERNAL", DESIGN, TopicDefaults())


def partition(text: str) -> TopicPartition:
    """`t-0`"""
    topic, _, index = text.rpartition("-")
    return TopicPartition(topic, int(index))


class MemoryCluster:
    def __init__(self, *, brokers: Iterable[int] = (), version: int = WITHOUT_HEARTBEATS, **config: Any) -> None:
        self.tree = ZnodeTree()
        topic_defaults = config.pop("topic_defaults", CONFIG.topic_defaults)
        self.config = replace(CONFIG, design=replace(DESIGN, **config), topic_defaults=topic_defaults)
        self.now = 1000.0
        self.epoch = 0
        self.controller: Controller | None = None
        self.brokers: dict[int, MemoryBroker] = {}
        self.stalled: set[int] = set()
        """Brokers that nothing is delivered to."""
        self.queues: dict[int, deque[Message]] = {}
        self.sent: list[tuple[int, Message]] = []
        self._disks: dict[int, Disk] = {}
        self._channels: dict[int, int] = {}
        self._notifications = 0
        self._topic_ids = 0
        for path in znodes.ROOTS:
            if not self.tree.exists(path):
                self.tree.create(path)
        for broker_id in brokers:
            self.start(broker_id, version=version)

    # Brokers and topics

    def start(self, broker_id: int, *, version: int = WITHOUT_HEARTBEATS) -> MemoryBroker:
        """A new process that registers."""
        at = BrokerEndpoint("INTERNAL", f"node-{broker_id}", 9090, "PLAINTEXT")
        info = BrokerInfo(version, (at,), timestamp_ms=0)
        epoch = self.tree.create(znodes.broker(broker_id), znodes.write_broker(info))
        broker = MemoryBroker(broker_id, epoch, self._disks.setdefault(broker_id, Disk()))
        self.brokers[broker_id] = broker
        return broker

    def kill(self, broker_id: int) -> None:
        """The process ends, and its session with it."""
        del self.brokers[broker_id]
        self.tree.delete(znodes.broker(broker_id))

    def bounce(self, broker_id: int, *, version: int = WITHOUT_HEARTBEATS) -> None:
        self.kill(broker_id)
        self.start(broker_id, version=version)

    def add_topic(self, name: str, *layout: Sequence[int]) -> UUID:
        """By hand, as kafka-topics.sh once did: only the znode."""
        topic_id = self._new_topic_id()
        info = TopicInfo(topic_id, {at: PartitionReplicas(tuple(each)) for at, each in enumerate(layout)})
        self.tree.create(znodes.topic(name), znodes.write_topic(info))
        return topic_id

    def add_partition(self, name: str, replicas: Sequence[int]) -> None:
        path = znodes.topic(name)
        info = znodes.read_topic(name, self.tree.data(path))
        added = {len(info.partitions): PartitionReplicas(tuple(replicas))}
        self.tree.overwrite(path, znodes.write_topic(TopicInfo(info.topic_id, {**info.partitions, **added})))

    def delete_topic(self, name: str) -> None:
        self.tree.create(znodes.topic_to_delete(name))

    def reassign(self, wanted: Mapping[str, Sequence[int]]) -> None:
        data = znodes.write_reassignments({partition(name): tuple(replicas) for name, replicas in wanted.items()})
        self.tree.create(znodes.REASSIGN_PARTITIONS, data)

    def state(self, name: str) -> LeaderAndIsr:
        """As it is in ZooKeeper."""
        of = partition(name)
        path = znodes.state(of)
        return znodes.read_state(of, self.tree.data(path), self.tree.version(path))

    def assignment(self, name: str) -> PartitionReplicas:
        of = partition(name)
        return znodes.read_topic(of.topic, self.tree.data(znodes.topic(of.topic))).partitions[of.partition]

    def write_isr(self, name: str, isr: Sequence[int], *, notify: bool = True, by: int | None = None) -> bool:
        """A legacy leader changes its ISR: compare-and-set at the version that it knows, then a notification."""
        of = partition(name)
        leader = next(each for each in self.brokers.values() if each.leads(of) and by in (None, each.broker_id))
        held = leader.replicas[of]
        known = leader.metadata.get(of)
        version = held.partition_epoch
        if known is not None and known.leader_epoch == held.leader_epoch:
            version = max(version, known.zk_version)
        data = znodes.write_state(LeaderAndIsr(leader.broker_id, held.leader_epoch, tuple(isr), held.controller_epoch))
        written = self.tree.compare_and_set(znodes.state(of), data, version)
        if written and notify:
            self.notify_isr([of])
        return written

    def notify_isr(self, partitions: Sequence[TopicPartition]) -> None:
        self._notifications += 1
        path = f"{znodes.ISR_CHANGE_PREFIX}{self._notifications:010d}"
        self.tree.create(path, znodes.write_partitions(partitions))

    def notify_log_dir(self, broker_id: int) -> None:
        self._notifications += 1
        path = f"{znodes.LOG_DIR_EVENT_PREFIX}{self._notifications:010d}"
        self.tree.create(path, znodes.write_log_dir_event(znodes.LogDirEvent(broker_id)))

    def catch_up(self) -> None:
        """All followers reach their leaders: every leader puts all live replicas that follow it into its ISR."""
        for leader in list(self.brokers.values()):
            for of, held in list(leader.replicas.items()):
                following = {
                    each
                    for each in held.replicas
                    if each in self.brokers
                    and (known := self.brokers[each].replicas.get(of)) is not None
                    and known.leader == leader.broker_id
                    and of not in self.brokers[each].failed
                }
                joined = tuple(each for each in held.replicas if each in following)
                if not leader.leads(of) or not self.tree.exists(znodes.state(of)):
                    continue
                if set(joined) > set(self.state(str(of)).isr):
                    self.write_isr(str(of), joined, by=leader.broker_id)

    def shrink_all(self) -> None:
        """Every leader is alone in its ISR."""
        for leader in list(self.brokers.values()):
            for of in list(leader.replicas):
                if leader.leads(of) and self.tree.exists(znodes.state(of)):
                    self.write_isr(str(of), (leader.broker_id,), by=leader.broker_id)

    # The controller

    def elect(self, *, settle: bool = True) -> Controller:
        """Another controller, in place of the present one."""
        self.resign()
        self.epoch += 1
        self.controller = Controller(self.config, self._new_topic_id)
        self._channels = {broker.broker_id: broker.epoch for broker in self.brokers.values()}
        self.handle(Election(self.epoch, self.now))
        if settle and self.controller is not None:
            self.settle()
        return self.controller

    def elect_dying(self) -> None:
        """Another controller, that dies when no write is left (`tree.writes_left`)."""
        left = self.tree.writes_left
        self.resign()
        self.tree.writes_left = left
        self.epoch += 1
        self.controller = Controller(self.config, self._new_topic_id)
        self.handle(Election(self.epoch, self.now))
        self.settle()

    def resign(self) -> None:
        """The controller is none any more; what it had queued is lost."""
        if self.controller is not None:
            last, self.controller = self.controller, None
            with suppress(StopIteration):
                next(last.handle(Resignation()))
        self.tree.forget_watches()
        self.tree.writes_left = None
        self.queues.clear()

    def handle(self, event: Event) -> None:
        """One event; the term is over if it says so."""
        controller = self.controller
        assert controller is not None
        try:
            self.tree.run(controller.handle(event))
        except (TermOver, ControllerMoved):
            self.resign()
            return
        registered = {each.broker_id: each.epoch for each in controller.registered.values()}
        for broker_id in [each for each in self.queues if registered.get(each) != self._channels.get(each)]:
            del self.queues[broker_id]
        self._channels = registered
        for broker_id, request in controller.drain():
            request.encode({4: 7, 5: 4, 6: 8}[request.API_KEY])
            self.sent.append((broker_id, request))
            self.queues.setdefault(broker_id, deque()).append(request)

    def ask(self, request: Message, *, version: int = 0, allowed: bool = True) -> list[Message]:
        """The answers so far: none or one, in a list that grows later."""
        answers: list[Message] = []
        self.handle(ReceivedRequest(request, version, answers.append, self.now, allowed))
        return answers

    def heartbeat(self, broker_id: int, target: int) -> m.MetadataHeartbeatResponse:
        request = m.MetadataHeartbeatRequest(
            broker_id=broker_id, incarnation_id=self.brokers[broker_id].epoch, target_state=target
        )
        [answer] = self.ask(request)
        assert isinstance(answer, m.MetadataHeartbeatResponse)
        return answer

    def report_offline(self, broker_id: int, partitions: Sequence[TopicPartition]) -> list[Message]:
        """ReplicaStateEvent."""
        data = m.ReplicaStateEventRequest
        topics = [
            data.TopicData(topic=each.topic, partitions=[data.PartitionData(partition_id=each.partition)])
            for each in partitions
        ]
        epoch = self.brokers[broker_id].epoch
        return self.ask(data(broker_id=broker_id, broker_epoch=epoch, event_type=1, topics=topics))

    def settle(self, rounds: int = 200) -> None:
        """Handle watches, requests, their responses and deferred work until nothing is left to do."""
        for _ in range(rounds):
            if not (self.watches() | self.deliver() | self.tick()):
                return
        raise AssertionError("the cluster does not come to rest")

    def watches(self) -> bool:
        """Tell the controller of every watch that fired."""
        some = False
        while self.controller is not None and self.tree.fired:
            self.handle(ZnodeChange(self.tree.fired.pop(0), self.now))
            some = True
        return some

    def deliver(self) -> bool:
        """Hand every request to its broker, and the answers to the controller."""
        some = False
        for broker_id in list(self.queues):
            some |= self.deliver_to(broker_id)
        return some

    def deliver_to(self, broker_id: int) -> bool:
        some = False
        while broker_id not in self.stalled and self.queues.get(broker_id):
            broker = self.brokers.get(broker_id)
            request = self.queues[broker_id][0]
            if broker is None or request.broker_epoch != broker.epoch:  # type: ignore[attr-defined]
                return some  # no process is there; the channel tries until the znode goes
            self.queues[broker_id].popleft()
            some = True
            answer = broker.answer(request)
            if self.controller is not None:
                self.handle(BrokerResponse(broker_id, request, answer, self.now))
        return some

    def tick(self) -> bool:
        """If the controller wants to be woken by now."""
        due = self.controller.next_tick() if self.controller is not None else None
        if due is None or due > self.now:
            return False
        self.handle(Tick(self.now))
        return True

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.settle()

    def _new_topic_id(self) -> UUID:
        self._topic_ids += 1
        return UUID(int=self._topic_ids)


def during(cluster: MemoryCluster, scenario: Callable[[], None]) -> int:
    """How many writes a controller makes in the course of a scenario."""
    before = cluster.tree.writes
    scenario()
    return cluster.tree.writes - before
