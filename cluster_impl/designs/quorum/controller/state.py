"""The state that the operations of an active controller work on, and their results.

An operation is a function `(state, request, now) -> ControllerResult`. It changes no metadata: its records are appended
to the Raft log and then replayed, and only the replay changes the image. It may change the leases and the
schedule of snapshots, which are soft state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from fencepost.cluster_impl.designs.quorum.controller.leases import Leases
from fencepost.cluster_impl.designs.quorum.controller.snapshot_schedule import SnapshotSchedule
from fencepost.cluster_impl.designs.quorum.features import Support
from fencepost.cluster_impl.designs.quorum.image import MetadataImage, MetadataRecord
from fencepost.cluster_impl.wire.codec import Message

Reply = TypeVar("Reply", bound=Message, covariant=True)


@dataclass(slots=True)
class ControllerState:
    """The state of an active controller, uncommitted records included (KIP-631, Persistence and Visibility).

    `end_offset` is the offset of the next record, `stable_offset` that of the last committed record. `controller_ids`
    are the ids that no broker may use.
    """

    controller_id: int
    controller_ids: frozenset[int]
    image: MetadataImage
    leases: Leases
    snapshots: SnapshotSchedule
    end_offset: int
    stable_offset: int
    controller_features: dict[int, Support] = field(default_factory=dict)
    """The levels that the other controllers support, as each reported them last; soft state."""


@dataclass(frozen=True, slots=True)
class ControllerResult(Generic[Reply]):
    """Records to append as one atomic batch, and the reply to send once the state that it was decided from is
    committed."""

    reply: Reply
    records: Sequence[MetadataRecord] = ()
