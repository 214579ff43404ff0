"""Replicas on disk that are this broker's no more: assigned elsewhere, or deleted, while it was away and its queue had
lost the request (decision DLD-25)."""

from __future__ import annotations

import logging
from collections.abc import Collection

from cluster_impl.replication.control_plane import DataPlane, PartitionRemoved, TopicPartition
from cluster_impl.storage.log_dirs import LogDirs

log = logging.getLogger(__name__)


class Strays:
    def __init__(self, dirs: LogDirs, data_plane: DataPlane) -> None:
        self._dirs = dirs
        self._data_plane = data_plane

    def remove(self, kept: Collection[TopicPartition]) -> None:
        """Everything else that has a folder."""
        for directory in list(self._dirs):
            for name, partition in directory.partitions():
                at = TopicPartition(name, partition)
                if at not in kept:
                    log.warning("%s: its folder in %s is removed, it is not assigned here", at, directory.path)
                    self._data_plane.apply([PartitionRemoved(topic=at.topic, topic_id=None, partition=at.partition)])
