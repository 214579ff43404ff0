"""Brokers that know the users of their configuration alone once they were restarted (against SEC-10)."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.cluster_impl.config.nodes import NodeConfig
from fencepost.cluster_impl.designs.shared.node_shell import NodeShell
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("SEC-10",),
    scenarios=("changed-password", "removed-user"),
    unit="tests/cluster_impl/security",
)


def apply() -> None:
    begin, secure = NodeShell.__init__, NodeShell.secure
    restarted: set[NodeShell] = set()

    def begins(self: NodeShell, config: NodeConfig) -> None:
        keystore = config.security.keystore
        if keystore is not None and any((keystore.parent / "data").glob("*")):
            restarted.add(self)
        begin(self, config)

    def only_once(self: NodeShell, settings: Mapping[str, str]) -> None:
        if self not in restarted:
            secure(self, settings)

    NodeShell.__init__, NodeShell.secure = begins, only_once  # type: ignore[method-assign]
