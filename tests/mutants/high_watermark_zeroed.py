"""A replica that loses its high watermark with its process (KAFKA-769; against replication design V2, startReplica).

Where followers cut their logs to it they lose everything, and copy it again, if anybody still has it.
"""

from __future__ import annotations

from typing import Any

from fencepost.cluster_impl.replication import store
from fencepost.cluster_impl.replication.partition import Partition


def apply() -> None:
    store.Partition = _forgetful  # type: ignore[assignment, attr-defined]


def _forgetful(*given: Any, **named: Any) -> Partition:
    return Partition(*given, **{**named, "high_watermark": 0})
