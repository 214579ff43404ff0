"""Stray replicas: on the disks of a broker that they are not assigned to (KIP-631, DeleteTopic; DLD-25, DINT-30).

They were reassigned or deleted while the broker was away, so the request to remove them never reached it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from fencepost.cluster_impl.replication.control_plane import DataPlane, PartitionRemoved, TopicPartition
from fencepost.cluster_impl.storage.log_dirs import LogDirs

log = logging.getLogger(__name__)


class Strays:
    """The stray replicas in the log directories of a broker."""

    def __init__(self, dirs: LogDirs, data_plane: DataPlane) -> None:
        self._dirs = dirs
        self._data_plane = data_plane

    def beside(self, kept: Collection[TopicPartition]) -> list[TopicPartition]:
        """Return the held partitions that are not in `kept`.

        Folders are not listed again; a folder that was deleted meanwhile is noticed at its next use.
        """
        return sorted({TopicPartition(*key) for directory in self._dirs for key in directory.held} - set(kept), key=str)

    def remove(self, kept: Collection[TopicPartition]) -> None:
        """Delete every held partition that is not in `kept`."""
        for at in self.beside(kept):
            log.warning("%s: its folder is deleted, because it is not assigned here", at)
            self._data_plane.apply([PartitionRemoved(topic=at.topic, topic_id=None, partition=at.partition)])
