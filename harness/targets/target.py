"""A target: a Kafka-like server that stories can be run against, described by a file and driven by a small class."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from faults.capabilities import Capability
from harness.backends.backend import Command
from harness.errors import UsageError
from harness.network.layout import Layout, Node
from harness.plan.check import refs
from harness.plan.conditions import ActiveController, Backlog, Registered, ReplicaOffline, Watches, Znode
from harness.plan.injects import InjectStep
from harness.plan.injects.base import When
from harness.plan.model import Plan, Timing
from harness.plan.probes import DescribeQuorumProbe, ProbeStep, VoteProbe
from harness.plan.steps import Bind, Roll, Step, ZnodeStep
from harness.targets.identity import IdKeys

FILES = Path(__file__).parent


OF_CONTROLLERS = (ActiveController, DescribeQuorumProbe, VoteProbe)
AROUND_ZOOKEEPER = (Registered, Znode, ZnodeStep, Watches, Backlog)


class Dialect(StrEnum):
    """Which control-plane requests a target speaks."""

    KIP_631 = "kip-631"
    """Those of the draft, KIP-631 v28."""
    KRAFT = "kraft"
    """Those that Apache Kafka ships since it keeps its metadata itself."""
    ZOOKEEPER = "zookeeper"
    """Those of a controller that keeps its state in ZooKeeper, KIP-343's and ReplicaStateEvent's among them."""
    LEADER_DRIVEN = "leader-driven"
    """None: each partition's leader decides alone, and tells its followers by queues in ZooKeeper."""

    @property
    def around_zookeeper(self) -> bool:
        """ZooKeeper holds what was decided."""
        return self in (Dialect.ZOOKEEPER, Dialect.LEADER_DRIVEN)

    @property
    def has_controllers(self) -> bool:
        """Somebody decides for the whole cluster."""
        return self is not Dialect.LEADER_DRIVEN


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Difference(_Part):
    """Where a target is known not to follow a document. One that no longer shows is a violation, too."""

    id: Annotated[str, Field(pattern=r"^[A-Z]{2}-[0-9]{2}$")]
    requirement: str
    sentence: str
    reason: str


class Settings(_Part):
    """Configuration of nodes by role, besides what the harness itself sets (ids, listeners, directories)."""

    all: dict[str, str] = {}
    controller: dict[str, str] = {}
    broker: dict[str, str] = {}


class TargetFile(_Part):
    """`harness/targets/NAME.yaml`."""

    name: str
    title: str
    driver: Annotated[str, Field(pattern=r"^[a-z_.]+:[A-Za-z]+$")]
    """`module:class` of the class that configures and starts its nodes."""
    version: str
    """The one to run if nobody asks for another."""
    dialect: Dialect
    capabilities: frozenset[Capability]
    clusters_per_core: Annotated[float, Field(gt=0)]
    """How many of its clusters a core carries side by side without protocol timeouts suffering."""
    stretch: Annotated[int, Field(ge=1)] = 1
    """How many times as long its protocol timeouts have to be as those of the reference cluster: a JVM that shares two
    cores with a dozen others pauses longer."""
    timing: dict[str, tuple[str, ...]]
    """Which configuration keys of a node each timeout of a plan sets."""
    settings: Settings = Settings()
    levels: dict[str, dict[str, str]] = {}
    """Protocol levels, the lowest first: which settings make a node behave as at that level."""
    restart: Literal["at once", "when unregistered"] = "at once"
    """`when unregistered`: a broker dies if it is started again before ZooKeeper has let go of its registration."""
    differences: tuple[Difference, ...] = ()

    def properties(self, node: Node, timing: Timing) -> dict[str, str]:
        """The node's settings of this file, with the plan's timeouts."""
        properties = dict(self.settings.all)
        if node.is_controller:
            properties |= self.settings.controller
        if node.is_broker:
            properties |= self.settings.broker
        for name, keys in self.timing.items():
            properties |= dict.fromkeys(keys, str(getattr(timing, name)))
        properties |= self._level(node)
        return properties

    def check_levels(self, plan: Plan) -> None:
        """UsageError if the plan wants a node at a level that this target does not have."""
        wanted = [plan.level, *(node.level for node in plan.topology.nodes)]
        wanted += [step.level for step in plan.steps if isinstance(step, Roll)]
        for level in wanted:
            if level is not None and level not in self.levels:
                known = ", ".join(self.levels) or "none"
                raise UsageError(f"{self.name} has no protocol level {level!r}; its levels: {known}")

    def check_design(self, plan: Plan) -> None:
        """UsageError if the plan is about something that this target's design does not have."""
        if plan.topology.controller is not None and not self.dialect.has_controllers:
            raise UsageError(
                f"the topology wants {plan.topology.controller} as the first controller: {self.name} has none"
            )
        for place, step in enumerate(plan.steps):
            self._check_part(f"the step {plan.step_name(place)}", step)
            if isinstance(step, InjectStep) and step.when is not None:
                self._check_part(f"`when` of the step {plan.step_name(place)}", step.when)
        if plan.prepared_topics and self.dialect.has_controllers:
            topics = ", ".join(sorted(plan.prepared_topics))
            raise UsageError(f"{self.name} makes topics by request only: drop `prepared` of {topics}")

    def _check_part(self, where: str, part: Step | When) -> None:
        if not self.dialect.has_controllers and (what := _about_controllers(part)):
            raise UsageError(f"{where} has {what}: {self.name} has no controllers, all is decided in `zookeeper`")
        if not self.dialect.around_zookeeper and isinstance(part, AROUND_ZOOKEEPER):
            raise UsageError(f"{where} is about ZooKeeper, and {self.name} runs without it")

    def _level(self, node: Node) -> Mapping[str, str]:
        if node.level is None:
            return {}
        return self.levels[node.level]


def _about_controllers(step: Step | When) -> str | None:
    """What of a step takes a controller, as the plan has it."""
    if isinstance(step, OF_CONTROLLERS):
        return f"`{step.request if isinstance(step, ProbeStep) else step.condition}`"
    if isinstance(step, Bind) and step.value == "controller-epoch":
        return "`controller-epoch`"
    if isinstance(step, ReplicaOffline) and step.asked is None:
        return "nobody in `asked`"
    return next((f"`{ref}`" for _, ref in refs(step) if ref in ("controllers", "active-controller")), None)


@dataclass(frozen=True)
class Installation:
    """Where the nodes of one cluster live on disk, and what they have in common."""

    layout: Layout
    timing: Timing
    cluster_id: str
    nodes: Path
    security: Literal["plaintext", "sasl"] = "plaintext"

    def home(self, node: Node) -> Path:
        return self.nodes / node.name

    def data(self, node: Node) -> Path:
        """Its log directory, the first of several. A duplicate may have that of the node it duplicates."""
        shared = node.duplicate_of is not None and node.directory == "same"
        return self.home(self.layout.node(node.duplicate_of or "") if shared else node) / "data"

    def log_dirs(self, node: Node) -> tuple[Path, ...]:
        """`data`, `data-2`, `data-3`…: as many as the plan says."""
        first = self.data(node)
        return (first, *(first.with_name(f"{first.name}-{number}") for number in range(2, node.log_dirs + 1)))

    def properties(self, node: Node) -> Path:
        return self.home(node) / "node.properties"

    def hosts(self, node: Node) -> Path:
        return self.home(node) / "hosts"


class Target(Protocol):
    file: TargetFile
    version: str
    ids: IdKeys

    def prepare(self) -> None:
        """Fetch or build what every node needs. May take minutes the first time, nothing later."""

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        """The whole configuration of one node."""

    def format(self, node: Node, installation: Installation) -> None:
        """Make the new, empty directories of a node ready for its first start. They may be there, as mounts are."""

    def command(self, node: Node, installation: Installation) -> Command:
        """How to start a node, which has its files already."""

    def unready(self, nodes: Collection[Node], layout: Layout) -> str | None:
        """Ask these nodes, just started, whether they serve: a sentence about the first that does not, or None."""


class UnknownTarget(UsageError):
    """There is no such target."""


def names() -> list[str]:
    return sorted(path.stem for path in FILES.glob("*.yaml"))


def load_file(name: str) -> TargetFile:
    """Read and check `NAME.yaml`. Raises UnknownTarget, or UsageError for a file that is not right."""
    path = FILES / f"{name}.yaml"
    if not path.is_file():
        raise UnknownTarget(f"there is no target {name!r}: the targets are {', '.join(names())}")
    try:
        return TargetFile.model_validate(YAML(typ="safe").load(path))
    except (ValidationError, YAMLError) as error:
        raise UsageError(f"the target file {path} is not right: {error}") from error


def load(reference: str) -> Target:
    """The target that `quorum`, or with a version `apache-kafka:3.9.1`, stands for."""
    name, _, version = reference.partition(":")
    file = load_file(name)
    module, _, driver = file.driver.partition(":")
    made: Target = getattr(import_module(module), driver)(file, version or file.version)
    return made


def write_properties(path: Path, properties: Mapping[str, str]) -> None:
    path.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))


def new_uuid() -> str:
    """A random id as Kafka writes them. None starts with a dash: its tools take that for an option."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text
