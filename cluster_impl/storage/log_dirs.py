"""All folders of a node's logs (`log.dirs`): where a replica lives, and which of them cannot be used any more.

A folder fails by an I/O error that really happened: at the start, when it cannot be opened, or later, when whoever
meets the error calls `fail`. From then on it is not touched until the process ends. The others go on (KIP-112).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from cluster_impl.storage.checkpoints import CorruptCheckpoint
from cluster_impl.storage.directory import META_PROPERTIES, LogDir, LogDirError, Owner

log = logging.getLogger(__name__)


class LogDirs:
    """Use `LogDirs.open`. `offline` says of each failed folder why."""

    def __init__(self, live: Sequence[LogDir], offline: Mapping[Path, str]) -> None:
        self.live = list(live)
        self.offline = dict(offline)
        self._opened = list(live)

    @classmethod
    def open(cls, paths: Sequence[Path], cluster_id: str, node_id: int, owner: Owner = Owner.NODE_ID) -> Self:
        """Opens every folder that can be opened.

        Raises LogDirError if there is none, if one belongs to somebody else, and if two hold the same partition.
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
                        # Made anew it would hide what this node had in it.
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
        """Those that are live, also while one of them fails."""
        return iter(tuple(self.live))

    def fail(self, directory: LogDir, error: Exception) -> bool:
        """Gives a folder up; False if that was done before."""
        if directory not in self.live:
            return False
        self.live.remove(directory)
        self.offline[directory.path] = str(error)
        return True

    def holding(self, topic: str, partition: int) -> list[LogDir]:
        """The live folders that have one for the partition, which may be that of an earlier topic of the name."""
        return [directory for directory in self.live if (topic, partition) in directory.held]

    def emptiest(self) -> LogDir | None:
        """Where a new replica goes: the live folder with the fewest partitions, the first of several such."""
        return min(self.live, key=lambda directory: len(directory.held), default=None)

    def close(self) -> None:
        """Gives all locks back."""
        for directory in self._opened:
            directory.close()


def _has_run(path: Path) -> bool:
    """Whether a node has used the folder before."""
    try:
        return (path / META_PROPERTIES).exists()
    except OSError:
        return False


def _refuse_duplicates(directories: Sequence[LogDir]) -> None:
    """Two folders of one partition are no harm if one is left of an earlier topic: the ids tell."""
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
