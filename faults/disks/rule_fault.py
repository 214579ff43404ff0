"""The base of the faults of disks that are a rule for single operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fencepost.faults.capabilities import (
    Capability,
    CapabilityError,
    Cluster,
    DiskProbe,
    DiskRule,
    Evidence,
    Operation,
)
from fencepost.faults.fault import Fault
from fencepost.faults.parameters import FaultParameters, NodeRef

Files = Annotated[str, Field(min_length=1)]
"""A pattern that paths in a log directory match, or their last part: `t-0/*.log`, `leader-epoch-checkpoint`."""
DirectoryNumber = Annotated[int, Field(ge=0)]
"""The place of a log directory among those of the node, from 0."""
FileOperation = Literal["read", "write", "fsync"]


class RuleParameters(FaultParameters):
    """The node, and which of its log directories."""

    node: NodeRef
    dir: DirectoryNumber | None = None
    """None: each of its log directories."""


@dataclass
class RuleFault(Fault):
    """A rule for operations on a node's log directories, or one of them (`dir`), as long as the fault lasts.

    Proven and healed by operations that are tried through the mount, on a file that the rule is matched against like
    any other. The evidence of healing has the number of operations of the node that met the rule: a rule that no
    operation met has broken nothing.
    """

    cluster: Cluster
    node: str
    dir: int | None
    rule: DiskRule
    tried: Sequence[Operation]
    """The operations that are tried to prove it."""
    hits: dict[str, int] = field(default_factory=dict)
    untouched: ClassVar[tuple[Operation, ...]] = ()
    """Operations that are tried as well, and have to work while the rule holds."""

    capability: ClassVar[Capability] = Capability.DISKS

    def targets(self) -> Mapping[str, object]:
        named = {"node": self.node, "dir": self.dir, "files": self.rule.files}
        return {key: value for key, value in named.items() if value is not None}

    def set_up(self) -> None:
        """Each operation that will be tried works now."""
        self.cluster.disks.check(self.node)
        for operation, probed in self._probe():
            if complaint := self._unfit(operation, probed):
                raise CapabilityError(complaint)

    def inject(self) -> None:
        self.cluster.disks.add(self.node, self._name, self.rule, self.dir)

    def verify(self) -> Evidence:
        probed = self._probe()
        beside = [(operation, probed) for operation in self.untouched for probed in self._try(operation)]
        proven = all(self.shows(trial) for _, trial in probed) and all(trial.error is None for _, trial in beside)
        return Evidence(proven, f"tried {_said([*probed, *beside])}", _measured([*probed, *beside]))

    def recover(self) -> None:
        for kind, count in self.cluster.disks.remove(self.node, self._name).items():
            self.hits[kind] = self.hits.get(kind, 0) + count

    def verify_healed(self) -> Evidence:
        probed = self._probe()
        met = " and ".join(f"{count} x {kind}" for kind, count in sorted(self.hits.items()))
        how = f"tried {_said(probed)}; met by {self.node} meanwhile: {met or 'never'}"
        healed = all(probe.error is None and not self.shows(probe) for _, probe in probed)
        return Evidence(healed, how, {**_measured(probed), "hits": dict(self.hits), "met": bool(self.hits)})

    def shows(self, probed: DiskProbe) -> bool:
        """Return whether the measured result shows the rule."""
        return probed.error == self.rule.error

    def _probe(self) -> list[tuple[Operation, DiskProbe]]:
        return [(operation, probed) for operation in self.tried for probed in self._try(operation)]

    def _unfit(self, operation: Operation, probed: DiskProbe) -> str:
        """Return why an effect would not show on the disk as it is; empty if it would."""
        return (
            ""
            if probed.error is None
            else f"the disk of {self.node} is broken already: {operation.value} {probed.error}"
        )

    def _try(self, operation: Operation) -> list[DiskProbe]:
        """In each of the directories."""
        return list(self.cluster.disks.probe(self.node, operation, self.rule, self.dir))

    @property
    def _name(self) -> str:
        """Two faults of one kind may last at the same time."""
        return f"{type(self).__name__}-{id(self):x}"


def _said(probed: Sequence[tuple[Operation, DiskProbe]]) -> str:
    return ", ".join(
        f"{operation.value}: {each.error or 'done'} after {each.seconds * 1000:.1f} ms" for operation, each in probed
    )


def _measured(probed: Sequence[tuple[Operation, DiskProbe]]) -> dict[str, object]:
    return {
        "probes": [
            {"operation": operation.value, "error": each.error, "ms": round(each.seconds * 1000, 3)}
            | ({} if each.kept is None else {"kept": each.kept})
            for operation, each in probed
        ]
    }
