"""All log dirs of a node (`log.dirs`): the place of each replica, and the log dirs that have failed.

A log dir fails by an actual I/O error: at the start, if it cannot be opened, or later, when the caller that got the
error calls `fail`. From then on it is not used until the process ends. The others stay in use (KIP-112).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from fencepost.cluster_impl.storage.checkpoints import CorruptCheckpoint
from fencepost.cluster_impl.storage.directory import META_PROPERTIES, LogDir, LogDirError, Owner

log = logging.getLogger(__name__)


class LogDirs:
    """Made by `LogDirs.open`. `offline` gives the reason for each failed folder."""

    def __init__(self, live: Sequence[LogDir], offline: Mapping[Path, str]) -> None:
        self.live = list(live)
        self.offline = dict(offline)
        self._opened = list(live)

    @classmethod
    def open(cls, paths: Sequence[Path], cluster_id: str, node_id: int, owner: Owner = Owner.NODE_ID) -> Self:
        """Open every folder that can be opened.

        Raises LogDirError if there is none, if one belongs to another node, and if two hold the same partition.
        """
        repeated = next((path for index, path in enumerate(paths) if path in paths[:index]), None)
        if repeated is not None:
            raise LogDirError(f"log.dirs names {repeated} twice; name each folder once")
        live: list[LogDir] = []
        offline: dict[Path, str] = {}
        has_run = any(map(_has_run, paths))
        try:
            for path in paths:
                try:
                    if has_run and not path.exists():
                        # A new, empty folder would hide the loss of its replicas.
                        raise FileNotFoundError(f"{path} is missing; create it, empty, if it is to be used from now on")
                    live.append(LogDir.open(path, cluster_id, node_id, owner))
                except (OSError, CorruptCheckpoint) as error:
                    log.error("the log dir %s cannot be used: %s", path, error)
                    offline[path] = str(error)
            if not live:
                raise LogDirError(f"no log dir can be used: {'; '.join(offline.values())}")
            _refuse_duplicates(live)
        except BaseException:
            for directory in live:
                directory.close()
            raise
        return cls(live, offline)

    def __iter__(self) -> Iterator[LogDir]:
        """Iterate over the live folders, of which one may fail meanwhile."""
        return iter(tuple(self.live))

    def fail(self, directory: LogDir, error: Exception) -> bool:
        """Give a folder up; return False if that was done before."""
        if directory not in self.live:
            return False
        self.live.remove(directory)
        self.offline[directory.path] = str(error)
        return True

    def holding(self, topic: str, partition: int) -> list[LogDir]:
        """Return the live log dirs with a folder of the partition, maybe of an earlier topic with that name."""
        return [directory for directory in self.live if (topic, partition) in directory.held]

    def emptiest(self) -> LogDir | None:
        """Return the live folder with the fewest partitions, the first of several such; None if none is live."""
        return min(self.live, key=lambda directory: len(directory.held), default=None)

    def close(self) -> None:
        """Release all locks."""
        for directory in self._opened:
            directory.close()


def _has_run(path: Path) -> bool:
    """Return True if a node has used the folder before."""
    try:
        return (path / META_PROPERTIES).exists()
    except OSError:
        return False


def _refuse_duplicates(directories: Sequence[LogDir]) -> None:
    """Raise LogDirError for two folders of one partition, unless their ids show that one is of an earlier topic."""
    homes: dict[tuple[str, int], list[LogDir]] = {}
    for directory in directories:
        for key in directory.held:
            homes.setdefault(key, []).append(directory)
    for (topic, partition), several in homes.items():
        if len(several) > 1:
            ids = {directory.topic_id(topic, partition) for directory in several}
            if None in ids or len(ids) < len(several):
                places = " and in ".join(str(directory.path) for directory in several)
                raise LogDirError(f"{topic}-{partition} is in {places}; move the older folder away")
