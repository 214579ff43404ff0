"""Files can be written and removed, but not renamed."""

from __future__ import annotations

import random
from typing import ClassVar

from fencepost.faults.capabilities import Cluster, DiskRule, Operation
from fencepost.faults.disks.disk_generation import directory_fails
from fencepost.faults.disks.rule_fault import Files, RuleFault, RuleParameters
from fencepost.faults.generation import BreakableCluster, GeneratedFault


class RenameErrorParameters(RuleParameters):
    """Renames answer EIO. The node may give the directory up; it uses it again after a restart."""

    files: Files | None = None
    """Matched against the new name."""


class RenameError(RuleFault):
    """Renames answer EIO, of all files and directories or of those whose new name matches `files`.

    Models a network file system or a layered one whose server refuses to rename, while each single name can be made,
    written and removed, as rename(2) tells of it. A program that writes a file anew, beside it and under another name,
    has the old one still, unless it removes that to try once more. Does not model a rename that is done though it was
    answered with an error, nor one of which the machine's crash leaves both names.

    `proven` by operations on files of the fault's own: a rename is refused, and what makes, writes and removes a file
    works; no file of the node counts.
    """

    name: ClassVar[str] = "rename-error"
    phrase = "no file on the disk of {node} can be renamed"
    Parameters = RenameErrorParameters
    weight = 2
    untouched = (Operation.CREATE, Operation.WRITE, Operation.NAME)

    def __init__(self, cluster: Cluster, parameters: RenameErrorParameters) -> None:
        rule = DiskRule(frozenset({Operation.RENAME}), error="EIO", files=parameters.files)
        super().__init__(cluster, parameters.node, parameters.dir, rule, (Operation.RENAME,))

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        if not cluster.breakable:
            return None
        broker = rng.choice(cluster.brokers)
        return directory_fails(broker, RenameErrorParameters(node=broker), f"no file of {broker} can be renamed")
