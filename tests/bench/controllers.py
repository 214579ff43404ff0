"""Controllers of the design quorum under many brokers and many partitions; the brokers are simulated by heartbeats.

A simulated broker registers, renews its lease over a connection of its own, and holds no replica. So what is measured
is the work of controllers alone: processor time for each heartbeat, and what the metadata of many partitions costs.
"""

from __future__ import annotations

import asyncio
import time
from datetime import datetime
from pathlib import Path

import psutil

from fencepost.cluster_impl.designs.quorum.features import SUPPORTED
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import QUORUM_CONTROLLER
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.plan.model import NodeSettings, Timing
from tests.bench.clusters import Controllers, started_controllers

TIMING = Timing(lease_ms=20_000, heartbeat_ms=2000, request_ms=10_000, fetch_ms=4000, election_ms=1000)
"""Leases and heartbeats as in production."""
SNAPSHOT_RECORDS = 5000
MEASURED_S = 10.0
BROKERS = (10, 100, 1000)
PARTITIONS = (10_000, 100_000)
AT_ONCE = 100
"""Partitions of one topic, and of one request."""
REQUEST_S = 60.0
SNAPSHOT_WITHIN = 120.0
"""Seconds: the first snapshot of a quorum is made after the silence at which a controller counts as gone, 16 s here."""
FIRST_BROKER = 1000


class SimulatedBroker:
    """Registers under an id, and renews its lease until it is cancelled."""

    def __init__(self, id: int, connection: Connection) -> None:
        self.id = id
        self.beats = 0
        self._connection = connection
        self._epoch = -1

    async def register(self) -> None:
        """Get an epoch. Raises RuntimeError if the controller refuses it."""
        self._epoch = (await self._ask(FenceState.INITIAL, 0)).broker_epoch

    async def beat(self) -> None:
        """Renew the lease. Raises RuntimeError if the broker was fenced, or its epoch is not the one it had."""
        answer = await self._ask(FenceState.ACTIVE, 2**40)
        if answer.next_state != FenceState.ACTIVE or answer.broker_epoch != self._epoch:
            raise RuntimeError(f"broker {self.id} was fenced: state {answer.next_state}, epoch {answer.broker_epoch}")
        self.beats += 1

    async def live(self, place: float) -> None:
        """Renew for ever; `place` from 0 to 1 is where in the interval."""
        interval = TIMING.heartbeat_ms / 1000
        await asyncio.sleep(place * interval)
        while True:
            begun = time.monotonic()
            await self.beat()
            await asyncio.sleep(max(0.0, interval - (time.monotonic() - begun)))

    async def _ask(self, state: FenceState, offset: int) -> m.BrokerHeartbeatResponse:
        request = m.BrokerHeartbeatRequest(
            target_state=state,
            broker_id=self.id,
            broker_epoch=self._epoch,
            lease_start_time_ms=int(time.time() * 1000),
            cur_metadata_offset=offset,
            listeners=[m.BrokerHeartbeatRequest.Listener(name="CLIENT", host=f"broker-{self.id}", port=9092)],
            features=[
                m.BrokerHeartbeatRequest.SupportedFeature(name=name, min_version=has.lowest, max_version=has.highest)
                for name, has in SUPPORTED.items()
            ],
        )
        answer = await self._connection.request(request, 0, timeout=REQUEST_S)
        if answer.error_code != Error.NONE:
            raise RuntimeError(f"the heartbeat of broker {self.id} was refused with error {answer.error_code}")
        return answer


def heartbeats(numbers: tuple[int, ...] = BROKERS) -> dict[str, float]:
    """Milliseconds of processor time of the active controller for each heartbeat, by the number of brokers.

    What the controller needs without any broker is left out. Raises RuntimeError if a broker was fenced.
    """
    figures = {}
    for number in numbers:
        with started_controllers(TIMING) as cluster:
            active = cluster.active()
            process = psutil.Process(cluster.pid(active))
            beating = _beating(number, cluster.endpoint(active), process)
            figures[f"CPU of a heartbeat, {number:,} brokers, ms"] = asyncio.run(beating)
    return figures


async def _beating(number: int, at: Endpoint, process: psutil.Process) -> float:
    at_rest = sum(process.cpu_times()[:2])
    await asyncio.sleep(MEASURED_S)
    at_rest = sum(process.cpu_times()[:2]) - at_rest
    brokers = [SimulatedBroker(FIRST_BROKER + n, await _connected(at)) for n in range(number)]
    for broker in brokers:
        await broker.register()
    for broker in brokers:
        await broker.beat()
    async with asyncio.TaskGroup() as group:
        lives = [group.create_task(broker.live(n / number)) for n, broker in enumerate(brokers)]
        await asyncio.sleep(TIMING.heartbeat_ms / 1000)
        before, beats = sum(process.cpu_times()[:2]), sum(broker.beats for broker in brokers)
        await asyncio.sleep(MEASURED_S)  # the quantity itself is a rate over time
        used = sum(process.cpu_times()[:2]) - before
        counted = sum(broker.beats for broker in brokers) - beats
        for life in lives:
            life.cancel()
    return 1000 * (used - at_rest) / counted


def metadata(numbers: tuple[int, ...] = PARTITIONS) -> dict[str, float]:
    """Return what many partitions of metadata cost controllers: time to create, a failover, a start, and memory."""
    figures: dict[str, float] = {}
    for number in numbers:
        settings = NodeSettings(controller={"metadata.snapshot.max.lag.records": str(SNAPSHOT_RECORDS)})
        with started_controllers(TIMING, settings) as cluster:
            what = f"{number:,} partitions of metadata"
            first = cluster.active()
            at = cluster.endpoint(first)
            figures[f"{what}: created, s"] = asyncio.run(_created(number, at))
            figures[f"{what}: memory of the active controller, MB"] = _memory(cluster.pid(first))
            standby = next(name for name in cluster.names if name != first)
            written = _await_snapshot(cluster, standby, number)
            figures[f"{what}: snapshot on disk, MB"] = written.stat().st_size / 1e6
            figures[f"{what}: snapshot written, s"] = _seconds_of_writing(cluster.log(standby))
            begun = time.monotonic()
            cluster.processes.kill(standby)
            cluster.processes.start(standby)
            cluster.await_described(standby)
            figures[f"{what}: a controller starts again, s"] = time.monotonic() - begun
            begun = time.monotonic()
            cluster.processes.kill(first)
            second = cluster.active(but=first)
            asyncio.run(_answers(cluster.endpoint(second)))
            figures[f"{what}: kill -9 of the active controller to the next answer, s"] = time.monotonic() - begun
    return figures


async def _created(number: int, at: Endpoint) -> float:
    """Seconds to create the partitions, three replicas each, on three simulated brokers."""
    brokers = [SimulatedBroker(FIRST_BROKER + n, await _connected(at)) for n in range(3)]
    for broker in brokers:
        await broker.register()
        await broker.beat()
    asking = await _connected(at)
    async with asyncio.TaskGroup() as group:
        lives = [group.create_task(broker.live(n / 3)) for n, broker in enumerate(brokers)]
        begun = time.monotonic()
        for first in range(0, number, AT_ONCE):
            topic = m.CreateTopicsRequest.CreatableTopic(
                name=f"many-{first // AT_ONCE}", num_partitions=min(AT_ONCE, number - first), replication_factor=3
            )
            request = m.CreateTopicsRequest(topics=[topic], timeout_ms=int(REQUEST_S * 1000))
            answer = await asking.request(request, 7, timeout=REQUEST_S)
            if answer.topics[0].error_code != Error.NONE:
                raise RuntimeError(f"{topic.name} was refused: {answer.topics[0].error_message}")
        elapsed = time.monotonic() - begun
        for life in lives:
            life.cancel()
    return elapsed


async def _answers(at: Endpoint) -> None:
    """Register a broker, which takes a record that is committed; a new active controller refuses it for a while."""
    broker, deadline = SimulatedBroker(FIRST_BROKER + 10, await _connected(at)), time.monotonic() + REQUEST_S
    while True:
        try:
            return await broker.register()
        except RuntimeError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.01)


async def _connected(at: Endpoint) -> Connection:
    return await Connection.open(*at, QUORUM_CONTROLLER, "bench", hosts=Hosts(), timeout=REQUEST_S)


def _memory(pid: int) -> float:
    return psutil.Process(pid).memory_info().rss / 1e6


def _await_snapshot(cluster: Controllers, name: str, records: int) -> Path:
    """Wait until a controller has a snapshot of so many records, and return its file."""
    deadline = time.monotonic() + SNAPSHOT_WITHIN
    while time.monotonic() < deadline:
        for path in cluster.home(name).rglob("*.checkpoint"):
            if int(path.name.split("-")[0]) >= records:
                return path
        time.sleep(0.1)
    raise TimeoutError(f"{name} made no snapshot of {records:,} records within {SNAPSHOT_WITHIN:g} s")


def _seconds_of_writing(log: str) -> float:
    """Return how long a controller wrote its newest snapshot, from its log."""
    begun, ended = (
        [datetime.fromisoformat(line[:23].replace(",", ".")) for line in log.splitlines() if what in line]
        for what in ("began to write the snapshot", "wrote the snapshot")
    )
    return (ended[-1] - begun[len(ended) - 1]).total_seconds()
