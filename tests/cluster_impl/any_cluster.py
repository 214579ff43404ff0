"""A cluster of each design as real processes, with what tests of the data plane need of all three alike."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.cluster_impl import leader_driven_processes, processes, zk_processes
from tests.cluster_impl.processes import NodeProcess

DESIGNS = ("quorum", "zk-controller", "leader-driven")


class AnyCluster:
    """`brokers` by id; `folders` are the places in which their log dirs are."""

    def __init__(
        self,
        folder: Path,
        inner: processes.ProcessCluster | zk_processes.ZkCluster | leader_driven_processes.LeaderDrivenCluster,
    ) -> None:
        self._inner = inner
        self._folder = folder
        self._starts = 1
        self.bootstrap = inner.bootstrap
        self.brokers: Mapping[int, NodeProcess] = (
            inner.brokers if isinstance(inner, processes.ProcessCluster) else inner.nodes
        )

    def partition_folders(self, name: str) -> list[Path]:
        """Return the folders of a partition (`topic-0`) on all brokers."""
        return sorted(path for path in self._folder.glob(f"data-*/{name}") if path.is_dir())

    def stop_all(self) -> None:
        """Stop all brokers, each cleanly, one after the other."""
        for node in self.brokers.values():
            node.signal(signal.SIGTERM)
        for node in self.brokers.values():
            assert node.exit_code() == 0

    def kill_all(self) -> None:
        for node in self.brokers.values():
            node.end()

    def start_all(self) -> None:
        """Start all brokers again, and wait until they serve."""
        self._starts += 1
        for node in self.brokers.values():
            node.start()
        if isinstance(self._inner, processes.ProcessCluster):
            self._inner.await_active(self._starts)
        else:
            self._inner.await_serving()


@contextmanager
def running(design: str, folder: Path, **settings: str) -> Iterator[AnyCluster]:
    """Three brokers of a design, with all that they need; all of it is ended at the end."""
    if design == "quorum":
        with processes.running(folder, **settings) as quorum:
            yield AnyCluster(folder, quorum)
    elif design == "zk-controller":
        with zk_processes.running(folder, "2.6", **settings) as zk:
            yield AnyCluster(folder, zk)
    else:
        with leader_driven_processes.running(folder, **settings) as leader_driven:
            yield AnyCluster(folder, leader_driven)
