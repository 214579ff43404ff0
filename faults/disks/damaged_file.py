"""A node comes back with some of its files lost, cut, overwritten or older."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from fencepost.faults.capabilities import Capability, CapabilityError, Cluster, Damage, Evidence, Running
from fencepost.faults.disks.damage_fault import DamageFault
from fencepost.faults.disks.rule_fault import Files
from fencepost.faults.generation import BreakableCluster, GeneratedFault, one_holder
from fencepost.faults.parameters import EndingMethod, FaultParameters, Milliseconds, NodeRef
from fencepost.faults.processes.process_fault import generated, measured
from fencepost.faults.processes.restored import back_up

DamageName = Literal["lost", "cut", "garbage", "older"]


@dataclass(frozen=True)
class FileKind:
    """A file of Kafka's log directories that random plans damage, and what every design promises for it then.

    The log itself, whole or in part, may be gone with it: the broker then has the records from the leader again.
    """

    pattern: str
    """`{partition}` stands for one that the node holds."""
    damages: tuple[DamageName, ...]
    methods: tuple[EndingMethod, ...] = ("kill", "shutdown")
    """The endings after which a node looks at the file when it starts."""
    designs: tuple[str, ...] = ("quorum", "zk-controller", "apache-kafka", "apache-kafka-zk")
    several_dirs: bool = True
    """False if a node whose other directory is whole starts without this one, and gives up what it held."""


ALL = ("quorum", "zk-controller", "leader-driven", "apache-kafka", "apache-kafka-zk")
KAFKA = ("apache-kafka", "apache-kafka-zk")
WITH_TOPIC_IDS = ("quorum", "zk-controller", "apache-kafka")
KINDS: Sequence[FileKind] = (
    FileKind("replication-offset-checkpoint", ("lost", "older"), ("shutdown",)),
    FileKind("replication-offset-checkpoint", ("cut", "garbage"), ("shutdown",), several_dirs=False),
    FileKind("recovery-point-offset-checkpoint", ("lost", "garbage"), ("shutdown",), KAFKA, several_dirs=False),
    FileKind("log-start-offset-checkpoint", ("lost", "garbage"), ("shutdown",), KAFKA, several_dirs=False),
    FileKind("{partition}/leader-epoch-checkpoint", ("lost",)),
    FileKind("{partition}/leader-epoch-checkpoint", ("cut", "garbage"), several_dirs=False),
    FileKind("{partition}/partition.metadata", ("lost",), designs=WITH_TOPIC_IDS),
    FileKind("{partition}/partition.metadata", ("cut", "garbage"), designs=WITH_TOPIC_IDS, several_dirs=False),
    FileKind("{partition}/*.index", ("lost", "cut", "garbage"), ("kill",), KAFKA),
    FileKind("{partition}/*.timeindex", ("lost", "cut", "garbage"), ("kill",), KAFKA),
    FileKind("{partition}/*.snapshot", ("lost", "garbage"), ("shutdown",), KAFKA),
    FileKind("{partition}/*.log", ("lost", "cut", "older"), ("kill",)),
    FileKind("{partition}", ("lost", "older")),
    FileKind("meta.properties", ("lost",), designs=ALL),
    FileKind("meta.properties", ("cut", "garbage"), designs=ALL, several_dirs=False),
    FileKind("quorum-state", ("lost", "cut", "garbage"), designs=("apache-kafka",)),
    FileKind("__cluster_metadata-0", ("lost", "older"), ("kill",), ("apache-kafka",)),
)
"""A broker only observes the quorum, so it may lose its metadata log; a controller that did would forget its votes.

The design without controllers promises nothing for what a replica knows of its own log: one that is killed stays in the
ISR and may lead by what its directory holds (as LF-01).
"""


class DamagedFileParameters(FaultParameters):
    """Ended, and the files that match `file` are damaged. Healed by a restart on what is left."""

    node: NodeRef
    file: Files
    """A pattern for paths in its log directories, their last part, or a folder: `t-0/*.index`, `quorum-state`, `t-0`"""
    damage: DamageName = "lost"
    """`cut`: the second half is gone; `garbage`: every bit is set; `older`: as it was `age_ms` before the end"""
    how: EndingMethod = "kill"
    age_ms: Milliseconds | None = None

    @model_validator(mode="after")
    def _age_of_older(self) -> Self:
        if self.age_ms is not None and self.damage != "older":
            raise ValueError(f"`age_ms` is the age of files that are `older`; drop it where they are `{self.damage}`")
        return self


class DamagedFile(DamageFault):
    """The node is ended, and single files of its log directories are damaged before it starts again.

    Models a disk check that drops or cuts files, a sector that is lost, a tool that wrote over them, and a backup that
    holds some files of another moment than the rest. Does not model damage while the process runs: `bit-flip`,
    `torn-write` and `disk-error` do.

    `proven` by the files that match `file`, as the process left them and as they are now: there were some, and they
    differ. A pattern that matches none is an error, so a file that a release does not have is never damaged unseen.

    Healed by a restart on what is left, until the node answers. Three others are kept apart in the journal, each with
    the last words of the node: one that ends before it answered has *refused* the files; one that ends soon after its
    answer took them, and they were *fatal later*; one that does neither is *silent*, and is ended. Then all files are
    put back as they were before, and it is started once more. Where the log of a partition is damaged, a copy of its
    records is lost, as with `emptied`.
    """

    name: ClassVar[str] = "damaged-file"
    phrase = "files of {node} ({file}) are {damage}"
    capability: ClassVar[Capability] = Capability.DIRECTORIES
    Parameters = DamagedFileParameters
    weight = 5

    def __init__(self, cluster: Cluster, parameters: DamagedFileParameters) -> None:
        super().__init__(cluster, parameters.node)
        self.file = parameters.file
        self.damage = Damage(parameters.damage)
        self.how = parameters.how
        self.age_ms = 2000 if parameters.age_ms is None else parameters.age_ms
        self.readable = self.damage in (Damage.LOST, Damage.OLDER)
        self.had: Mapping[str, str] = {}

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        kinds = [
            kind
            for kind in KINDS
            if cluster.target_name in kind.designs and (kind.several_dirs or not cluster.several_dirs)
        ]
        if not kinds:
            return None
        aim, kind = one_holder(rng, cluster), rng.choice(kinds)
        file = kind.pattern.format(partition=aim.partition or rng.choice(cluster.held_by(aim.text)))
        parameters = DamagedFileParameters(
            node=aim.text, file=file, damage=rng.choice(kind.damages), how=rng.choice(kind.methods)
        )
        title = f"{file} of {aim.text} is {parameters.damage} ({parameters.how})"
        return generated(parameters, aim, title, stops_nodes=True, fragile=True)

    def targets(self) -> Mapping[str, object]:
        return {"nodes": [self.node], "file": self.file}

    def set_up(self) -> None:
        self.require_running("damage files of")

    def inject(self) -> None:
        copy = None
        if self.damage is Damage.OLDER:
            copy = f"older-{time.time_ns()}"
            back_up(self.cluster, self.node, copy)
            time.sleep(self.age_ms / 1000)
        self.end(self.node, self.how)
        self.had = self.cluster.directories.files(self.node, self.file)
        if not self.had:
            raise CapabilityError(f"{self.node} has no file that matches {self.file!r} in its log directories")
        self.cluster.directories.damage(self.node, self.file, self.damage, copy)

    def verify(self) -> Evidence:
        """Files that are as they were prove nothing: the restart would be like any other."""
        status = self.cluster.processes.status(self.node)
        has = self.cluster.directories.files(self.node, self.file)
        proven = status.running is Running.EXITED and bool(self.had) and has != self.had
        data = {**measured({self.node: status}), "had": dict(self.had), "has": dict(has)}
        return Evidence(proven, "the files: they are not what the process had left", data)

    def repair(self) -> None:
        self.cluster.directories.repair(self.node)
