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

    def beside(self, kept: Collection[TopicPartition]) -> list[TopicPartition]:
        """Everything else that is held. No folder is listed: one that was taken away is noticed by who uses it."""
        return sorted({TopicPartition(*key) for directory in self._dirs for key in directory.held} - set(kept), key=str)

    def remove(self, kept: Collection[TopicPartition]) -> None:
        """Everything else."""
        for at in self.beside(kept):
            log.warning("%s: its folder is removed, it is not assigned here", at)
            self._data_plane.apply([PartitionRemoved(topic=at.topic, topic_id=None, partition=at.partition)])
