"""DescribeLogDirs: the log dirs of this broker, their replicas with sizes, and the space of their disks."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.replication.replica import Replica
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Request

Result = m.DescribeLogDirsResponse.DescribeLogDirsResult
Topic = m.DescribeLogDirsResponse.DescribeLogDirsTopic
Partition = m.DescribeLogDirsResponse.DescribeLogDirsPartition

_SPACE_FROM = 4
_SPACE_TIMEOUT = 1.0
_UNKNOWN = -1


class LogDirsDescription:
    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas

    async def handle(self, body: m.DescribeLogDirsRequest, request: Request) -> m.DescribeLogDirsResponse:
        """Describe all replicas, or those of the request; a null list means all."""
        requested = None
        if body.topics is not None:
            requested = {(topic.topic, index) for topic in body.topics for index in topic.partitions}
        live, offline = self._replicas.log_dirs()
        results = [
            Result(
                log_dir=str(path),
                topics=_topics(replica for replica in replicas if requested is None or _key(replica) in requested),
            )
            for path, replicas in live.items()
        ]
        if request.version >= _SPACE_FROM:
            for result in results:
                result.total_bytes, result.usable_bytes = await _space(Path(result.log_dir))
        results += [Result(log_dir=str(path), error_code=Error.KAFKA_STORAGE_ERROR) for path in offline]
        return m.DescribeLogDirsResponse(results=results)


def _key(replica: Replica) -> tuple[str, int]:
    return replica.core.name.topic, replica.core.name.partition


def _topics(replicas: Iterable[Replica]) -> list[Topic]:
    topics: dict[str, Topic] = {}
    for replica in replicas:
        name = replica.core.name
        lag = max(replica.core.high_watermark - replica.log.log_end_offset, 0)
        described = Partition(partition_index=name.partition, partition_size=replica.log.size, offset_lag=lag)
        topics.setdefault(name.topic, Topic(name=name.topic)).partitions.append(described)
    return list(topics.values())


async def _space(path: Path) -> tuple[int, int]:
    """Return total and usable bytes, -1 where the disk does not answer: a disk that stands still must stop no node."""
    try:
        async with asyncio.timeout(_SPACE_TIMEOUT):
            stat = await asyncio.to_thread(os.statvfs, path)
    except (OSError, TimeoutError):
        return _UNKNOWN, _UNKNOWN
    return stat.f_blocks * stat.f_frsize, stat.f_bavail * stat.f_frsize
