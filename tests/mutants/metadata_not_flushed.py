"""A controller that never flushes the metadata log (KAFKA-10533; against K631-17)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.metadata_log import MetadataLog


def apply() -> None:
    MetadataLog.flush = _nothing  # type: ignore[method-assign]
    honest = MetadataLog.close

    def careless(self: MetadataLog) -> None:
        self._log.flush = _quiet  # type: ignore[method-assign]
        honest(self)

    MetadataLog.close = careless  # type: ignore[method-assign]


def _nothing(self: MetadataLog) -> None:
    return None


def _quiet() -> None:
    return None
