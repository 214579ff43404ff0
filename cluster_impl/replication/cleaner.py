"""Takes records out of logs: those that retention does not keep, and those that a newer one of their key replaces."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.replication.replica import Replica
from fencepost.cluster_impl.replication.validation import PartitionError
from fencepost.cluster_impl.storage.compaction import Abandoned, CompactionLimits, compact
from fencepost.cluster_impl.wire.codec import Malformed

log = logging.getLogger(__name__)


class LogCleaner:
    """Cleans the logs of a broker's replicas, the members of `replicas` at the time."""

    def __init__(self, replicas: Mapping[TopicPartition, Replica], config: DataPlaneConfig) -> None:
        self._replicas = replicas
        self._config = config

    async def delete_expired(self) -> None:
        """Apply the retention settings of all topics, for ever."""
        while True:
            await asyncio.sleep(self._config.retention_check_interval)
            for replica in [*self._replicas.values()]:
                if self._replicas.get(replica.core.name) is replica:
                    try:
                        deleted = replica.apply_retention(time.time_ns() // 1_000_000)
                    except PartitionError as refused:
                        log.warning("%s: retention: %s", replica, refused)
                        continue
                    if deleted:
                        await asyncio.sleep(0)

    async def compact(self) -> None:
        """Compact one log at a time, for ever."""
        while True:
            await asyncio.sleep(self._config.compaction_interval)
            for replica in [replica for replica in self._replicas.values() if replica.settings.compacts]:
                try:
                    await compact_log(replica, time.time_ns() // 1_000_000)
                except (PartitionError, Malformed, OSError) as error:
                    log.error("%s is not compacted: %s", replica, error)


async def compact_log(replica: Replica, now_ms: int) -> bool:
    """Compact the closed segments, in a thread, if enough of them is new; return True if the log has changed.

    Raises PartitionError.
    """
    segments, settings = replica.log.segments, replica.settings
    closed = segments.closed(replica.core.high_watermark)
    if not settings.compacts or not closed or segments.dirty_ratio(closed) < settings.min_dirty_ratio:
        return False
    size = replica.log.size
    limits = CompactionLimits(
        now_ms=now_ms,
        delete_retention_ms=settings.delete_retention_ms,
        segment_bytes=settings.segment_bytes,
        stopped=replica.closed.is_set,
    )
    try:
        compacted = await asyncio.to_thread(compact, [segment.path for segment in closed], limits)
        if replica.closed.is_set() or not replica.log.adopt_compacted(closed, compacted):
            return False
    except Abandoned:
        return False
    except FileNotFoundError:
        if replica.closed.is_set() or segments.closed(replica.core.high_watermark)[: len(closed)] != closed:
            return False  # Its log was cut, or its topic deleted, meanwhile.
        raise
    except OSError as error:
        raise replica.storage_failed(error) from error
    log.info("%s: compacted from %d to %d bytes", replica, size, replica.log.size)
    return True
