"""A controller that becomes active without the access control entries of the log (against K631-66)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller.controller import QuorumController
from fencepost.cluster_impl.designs.quorum.image import MetadataImage
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-66",),
    scenarios=("metadata-format-raised",),
    unit="tests/cluster_impl/designs/quorum/controller",
)


def apply() -> None:
    elected = QuorumController.on_elected

    def forgets(self: QuorumController, epoch: int) -> None:
        committed: MetadataImage = self.committed
        committed.acls = {}
        elected(self, epoch)

    QuorumController.on_elected = forgets  # type: ignore[method-assign]
