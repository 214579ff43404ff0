"""A broker that tells no controller of a failed log dir (KAFKA-16297; against RSE-14)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fencepost.cluster_impl.designs.zk_controller.broker.control_plane import ZkControlPlane
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-16297",
    designs=(ZK,),
    rules=("RSE-19", "LIVE-01"),
    scenarios=("log-dir-fails-on-a-leader", "one-of-two-disks-fails"),
    unit="tests/cluster_impl/designs/zk_controller/broker",
)


def apply() -> None:
    ZkControlPlane.log_dir_failed = _nothing  # type: ignore[method-assign]


def _nothing(self: ZkControlPlane, path: Path, lost: Sequence[TopicPartition]) -> None:
    return None
