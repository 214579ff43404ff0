"""A broker that needs the epochs' file at its start and never flushes it (KAFKA-16541; against DISK-04)."""

from __future__ import annotations

from fencepost.cluster_impl.storage.checkpoints import LEADER_EPOCHS, CorruptCheckpoint, read_lines
from fencepost.cluster_impl.storage.log import Log
from tests.mutants.defect import WITH_CONTROLLER, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-16541",
    designs=WITH_CONTROLLER,
    rules=("DISK-05", "LIVE-01"),
    scenarios=("follower-disk-full", "leader-loses-power"),
    unit="tests/cluster_impl/storage",
)


def apply() -> None:
    honest = Log._recover

    def trusting(self: Log) -> None:
        honest(self)
        try:
            if (self.directory / LEADER_EPOCHS).exists():
                read_lines(self.directory / LEADER_EPOCHS, columns=2)
        except CorruptCheckpoint as error:
            raise OSError(str(error)) from error

    Log._recover = trusting  # type: ignore[method-assign]
