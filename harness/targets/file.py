"""The model of a target file: a Kafka-like server that scenarios can be run against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from fencepost.faults.capabilities import Capability
from fencepost.faults.parameters import PlanModel, unknown_key
from fencepost.harness.errors import UsageError
from fencepost.harness.network.layout import Node
from fencepost.harness.plan.base import BugId, Name, Outcome, SettingKey, SettingValue, release_range
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import Plan, Timing
from fencepost.harness.plan.promises import Promises
from fencepost.harness.plan.security import PlannedSecurity, Security, spelled_out
from fencepost.harness.plan.steps.roll import Roll
from fencepost.harness.targets.fixed_brokers import FixedBrokers
from fencepost.harness.targets.health import Health
from fencepost.harness.targets.listed_answer import ListedAnswer
from fencepost.harness.targets.process_template import ProcessTemplate, Text, as_text
from fencepost.harness.targets.releases import Releases, is_build, line_before, nearest, within
from fencepost.harness.targets.running import CAPABILITIES, Running
from fencepost.harness.targets.service import Service
from fencepost.harness.targets.upgrade_rules import UpgradeRules

COMMAND = "command"
"""The driver that starts any program."""


_OF_CLIENTS = frozenset({"brokers", "one_listener", "one_process", "promises", "running", "services", "topics"})
"""The keys of a target that shows no control plane."""
_OF_STARTED = (
    *("process", "driver", "services", "one_process", "one_listener", "health"),
    *("security", "settings", "timing", "levels"),
)
"""The keys of a target whose nodes fencepost starts."""
_ONE_AT_A_TIME = 1e-9
"""Clusters that a core carries, of a cluster that is there once."""

Feature = Literal["idempotence", "pre-vote", "auto-join", "cordoned-directories", "misrouted-clients"]
WorkloadKind = Literal["groups", "static-members", "consumer-protocol", "transactions", "racks"]


class Difference(PlanModel):
    """A known difference of a target from a document. If it no longer shows, that is a violation, too."""

    id: Annotated[str, Field(pattern=r"^[A-Z]{2,8}-[0-9]{2,3}$")]
    requirement: str
    message: str
    reason: str
    releases: Releases | None = None
    """The releases in which it shows, `>=3.3,<4.0`; in any other it excuses nothing. None: in all."""


class ListedBug(PlanModel):
    """A bug of some releases of a target, with its number, that random plans meet and do not report again.

    Unlike a `Difference` it need not show. With an `outcome`, a plan names it at the steps whose answers can show it;
    with a text that it `says`, every random plan does, and a finding that has the text is the bug.
    """

    id: BugId
    requirement: str
    message: str
    outcome: Outcome | None = None
    says: str | None = None
    releases: Releases | None = None

    @model_validator(mode="after")
    def _shows(self) -> Self:
        if (self.outcome is None) == (self.says is None):
            raise PydanticCustomError("listed_bug", "a known bug has either an `outcome` or a text that it `says`")
        return self


def _known_request(name: str) -> str:
    from fencepost.harness.plan import messages, paths  # loads kio, which few target files need

    try:
        messages.versions(name)
    except paths.MessageError as error:
        raise PydanticCustomError("request", "{error}", {"error": str(error)}) from None
    return name


RequestName = Annotated[str, AfterValidator(_known_request)]
"""The name of a request in snake case, as the key `api` of a plan has it."""
OneLine = Annotated[SettingValue, BeforeValidator(as_text)]
"""A value of a configuration, as `Text`, on one line."""


class RoleSettings(PlanModel):
    """Configuration of nodes by role, in addition to what the harness sets (ids, listeners, directories)."""

    all: dict[SettingKey, OneLine] = Field(default_factory=dict)
    controller: dict[SettingKey, OneLine] = Field(default_factory=dict)
    broker: dict[SettingKey, OneLine] = Field(default_factory=dict)

    @property
    def of_brokers(self) -> dict[str, str]:
        """Return the settings of each broker."""
        return self.all | self.broker


class TargetFile(PlanModel):
    """A target file: one shipped in `harness/targets`, of an installed package, or of a user."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
    title: str
    extends: str | None = None
    """Another target, by name: all keys that this file lacks are as in its file."""
    folder: Path = Path()
    """The folder that relative paths and modules of this file refer to. Default: the folder of the file itself."""
    driver: str = COMMAND
    """The driver, which configures and starts the nodes: `module:class`, a module beside this file included, or the
    name of an entry point in the group `fencepost.drivers`."""
    process: ProcessTemplate | None = None
    """How the driver `command` starts any program as a node."""
    running: Running | None = None
    """A cluster that runs elsewhere, which is not started here."""
    version: Text
    """The default version."""
    releases: Releases | None = None
    """The releases that can be run, `>=3.3,<4.4`; any other version is refused. None: any version is taken."""
    published: tuple[Text, ...] = ()
    """All published releases among them; another one is refused, and the nearest of these are named."""
    tested: tuple[Text, ...] = ()
    """The published releases that were run: `fencepost releases --check` fails for later ones of their lines."""
    features: dict[Feature, Releases] = Field(default_factory=dict)
    """Features that only some releases have; one that is not listed is in all. `pre-vote`: a voter that was cut off
    does not depose the controller when it comes back (KIP-996). `auto-join`: a controller without a vote asks for one
    (KIP-1186). `cordoned-directories`: log directories that take no new replica (KIP-1066). `misrouted-clients`: a
    client that names another cluster or node is notified (KIP-1242)."""
    commit: str = ""
    """The commit that the target was built from, if the file is made by its build. `FENCEPOST_TARGET_COMMIT` overrides
    it."""
    dialect: Dialect
    brokers: FixedBrokers = FixedBrokers()
    """The brokers of each cluster. Only `dialect: clients` takes others than three with the ids 4, 5 and 6."""
    one_listener: bool = False
    """A broker serves its peers at its port for clients, 9092, and has no other."""
    one_process: bool = False
    """The brokers of a cluster are one process: what ends or pauses one does it to all."""
    topics: Literal["by request", "by use"] = "by request"
    """`by use`: a topic comes into being when a client asks for its metadata, and not by CreateTopics."""
    administration: Literal["any broker", "controller"] | None = None
    """The brokers that take requests of administrators: each, or the one that Metadata names as controller, which
    clients have to ask. None: the controller where no control plane is visible, else any broker."""
    coordinators: Literal["find", "topics"] | None = None
    """The coordinator of a group is that which FindCoordinator names, or the leader of a partition of Kafka's internal
    topics. None: `find` where no control plane is visible, else `topics`."""
    log_files: Literal["kafka", "none"] = "kafka"
    """`none`: it writes no segment files as Apache Kafka does, so that no step and no rule reads them."""
    exit_codes: tuple[int, ...] = ()
    """The exit codes by which it ends on SIGTERM, beside 0 and 143."""
    security: PlannedSecurity = "plaintext"
    """How its listeners are secured where neither a plan nor `--security` says it. The driver `command` has no other
    security than this one."""
    health: Health | None = None
    """The sign of life that a broker is asked for. None: ApiVersions at the port for its peers."""
    services: dict[Name, Service] = Field(default_factory=dict)
    """Programs beside the brokers, by the names of their nodes; one of each in a cluster."""
    promises: Promises = Promises()
    """Its promises: no claim that does not follow from them is asked."""
    missing_requests: tuple[RequestName, ...] = ()
    """The requests of clients that its brokers lack, `end_txn`: what needs one is skipped before anything starts."""
    capabilities: frozenset[Capability]
    capability_releases: dict[Capability, Releases] = Field(default_factory=dict)
    """The releases that have a capability; one that is not listed is had by all."""
    workloads: dict[WorkloadKind, Releases | None] = Field(default_factory=dict)
    """The requests of clients beyond produce and fetch that it serves, each with the releases that have it; none: all
    of them."""
    topic_settings: tuple[Text, ...] = ()
    """The settings that a topic can have, of those that random plans change; none: all of them."""
    clusters_per_core: Annotated[float, Field(gt=0)]
    """Clusters of this target that one core runs side by side without missing protocol timeouts."""
    memory_mb: Annotated[int, Field(ge=1)] = 600
    """Memory that a run with one cluster takes, in MB: the nodes, the clients and the harness."""
    timeout_factor: Annotated[int, Field(ge=1)] = 1
    """Factor for all protocol timeouts, relative to the reference cluster. A JVM that shares two cores with a dozen
    others pauses longer."""
    timing: dict[str, tuple[SettingKey, ...]] = Field(default_factory=dict, validate_default=True)
    """The configuration keys that each timeout of a plan sets."""
    settings: RoleSettings = RoleSettings()
    levels: dict[str, dict[SettingKey, OneLine]] = Field(default_factory=dict)
    """Protocol levels, the lowest first, each with the settings that make a node behave as at that level."""
    level_releases: dict[str, Releases] = Field(default_factory=dict)
    """The releases that have a level; one that is not listed exists in all."""
    upgrade: UpgradeRules | None = None
    """Its nodes can be upgraded while the cluster runs; a version such as `3.9.2..4.4.0` names both releases."""
    restart: Literal["at once", "when unregistered"] = "at once"
    """`when unregistered`: a broker exits if it starts while ZooKeeper still has its earlier registration."""
    differences: tuple[Difference, ...] = ()
    known_bugs: tuple[ListedBug, ...] = ()
    """Bugs that random plans do not report again. The scenarios of `released_bugs` judge it all the same."""
    answers: tuple[ListedAnswer, ...] = ()
    """Answers that are known to differ from those of other targets, for `fencepost compare`."""
    answers_as: str | None = None
    """Another target, by name, whose `answers` are those of this one as well."""
    scenarios: tuple[str, ...] = ()
    """Further scenarios for this target: `module:name` of a tuple of them, a module beside this file included."""
    checkers: tuple[str, ...] = ()
    """Further checkers for its runs: `module:name` of a function from a history to a finding, or of several."""
    catalogues: tuple[Path, ...] = ()
    """Files with the requirements that these scenarios and checkers name."""

    @model_validator(mode="before")
    @classmethod
    def _that_runs_elsewhere(cls, keys: Any) -> Any:
        """Take the capabilities of a cluster that runs elsewhere from its commands."""
        if not isinstance(keys, dict) or not isinstance(keys.get("running"), dict):
            return keys
        commands = keys["running"].get("commands") or {}
        can = [capability.value for command, capability in CAPABILITIES.items() if command in commands]
        implied = {"capabilities": can, "clusters_per_core": _ONE_AT_A_TIME, "log_files": "none"}
        if wrong := [key for key in (*_OF_STARTED, *implied) if key in keys]:
            keys_, hint = "nothing", f"but `{wrong[0]}` is for clusters that are started here, and `running` is not"
            raise PydanticCustomError("missing_keys", "{keys}: {hint}", {"keys": keys_, "hint": hint})
        return {**keys, **implied}

    @model_validator(mode="after")
    def _has_a_process(self) -> Self:
        if self.running is not None:
            if "brokers" not in self.model_fields_set:
                keys, hint = "brokers", "list the ids of its brokers: {ids: [0, 1, 2]}"
                raise PydanticCustomError("missing_keys", "missing {keys}: {hint}", {"keys": keys, "hint": hint})
            return self
        if (self.driver == COMMAND) != (self.process is not None):
            keys, hint = "process", f"the driver `{COMMAND}` and the key `process` need each other"
            raise PydanticCustomError("missing_keys", "missing {keys}: {hint}", {"keys": keys, "hint": hint})
        return self

    @field_validator("timing")
    @classmethod
    def _has_every_timeout(cls, timing: dict[str, tuple[str, ...]], info: ValidationInfo) -> dict[str, tuple[str, ...]]:
        """Refuse a misspelt timeout, and a missing one: a timeout that no key sets is listed as `[]`.

        Those of a control plane that is not visible need no list.
        """
        for key in timing:
            if key not in Timing.model_fields:
                raise unknown_key(key, Timing.model_fields)
        missing = [name for name in Timing.model_fields if name not in timing]
        if missing and info.data.get("dialect") is not Dialect.CLIENTS:
            keys, hint = ", ".join(missing), "name the configuration keys that set each, or []"
            raise PydanticCustomError("missing_keys", "missing {keys}: {hint}", {"keys": keys, "hint": hint})
        return timing

    @model_validator(mode="after")
    def _fits_its_dialect(self) -> Self:
        if self.dialect.shows_decisions and (only := _OF_CLIENTS & self.model_fields_set):
            keys, hint = "nothing", f"but `{min(only)}` is a key of `dialect: {Dialect.CLIENTS}` only"
            raise PydanticCustomError("missing_keys", "{keys}: {hint}", {"keys": keys, "hint": hint})
        if self.one_process and self.promises.failover:
            keys, hint = "failover", "with `one_process` no other broker serves: say `promises: {failover: false}`"
            raise PydanticCustomError("missing_keys", "missing {keys}: {hint}", {"keys": keys, "hint": hint})
        return self

    _own_folder: Path = PrivateAttr(default=Path())
    _missing_features: frozenset[str] = PrivateAttr(default=frozenset())
    _release: str = PrivateAttr(default="")

    def placed(self, own: Path) -> Self:
        """Return the file as it was read from the folder `own`, with whole paths."""
        placed = self.model_copy(update={"folder": (own / self.folder).resolve()})
        placed._own_folder = own.resolve()
        return placed

    @property
    def beside(self) -> tuple[Path, ...]:
        """The folders of modules and catalogues: the file's own, which has copies of a run, and `folder`."""
        return tuple(dict.fromkeys([self._own_folder, self.folder]))

    @property
    def catalogue_files(self) -> tuple[Path, ...]:
        """The files of `catalogues`. Of one that does not exist it is the path where it should be."""
        places = [[folder / catalogue for folder in self.beside] for catalogue in self.catalogues]
        return tuple(next((path for path in paths if path.is_file()), paths[-1]) for paths in places)

    def properties(self, node: Node, timing: Timing) -> dict[str, str]:
        """Return the settings of this file for a node, with the timeouts of the plan."""
        properties = dict(self.settings.all)
        if node.is_controller:
            properties |= self.settings.controller
        if node.is_broker:
            properties |= self.settings.broker
        for name, keys in self.timing.items():
            properties |= dict.fromkeys(keys, str(getattr(timing, name)))
        properties |= self._level(node)
        return properties

    def at(self, version: str) -> Self:
        """Return the file for a version: with the differences and known bugs that it has, and its levels.

        Of two releases, one of them is enough; a level needs both. Raise UsageError if two releases are named, and
        nodes cannot be upgraded from one to the other.
        """
        listed = tuple(difference for difference in self.differences if within(version, difference.releases))
        known_bugs = tuple(bug for bug in self.known_bugs if within(version, bug.releases))
        releases = release_range(version)
        levels = {
            name: level
            for name, level in self.levels.items()
            if all(within(one, self.level_releases.get(name)) for one in releases or (version,))
        }
        if releases:
            if releases[0] == releases[1]:
                raise UsageError(
                    f"{self.name}:{version} names the release {releases[0]} twice: name the old and the new one"
                )
            levels |= self.upgrade_rules(version).levels(releases)
        capabilities = frozenset(
            capability for capability in self.capabilities if within(version, self.capability_releases.get(capability))
        )
        found = self.model_copy(
            update={
                "differences": listed,
                "known_bugs": known_bugs,
                "levels": levels,
                "capabilities": capabilities,
            }
        )
        found._release = version
        found._missing_features = frozenset(
            name
            for name, served_by in self.features.items()
            if not all(within(release, served_by) for release in releases or (version,))
        )
        return found

    @property
    def secured(self) -> Security:
        return spelled_out(self.security)

    @property
    def redirects(self) -> bool:
        """True if only the controller takes requests of administrators, and clients ask the one that is named."""
        return not self.dialect.shows_decisions if self.administration is None else self.administration == "controller"

    @property
    def finds_coordinators(self) -> bool:
        return not self.dialect.shows_decisions if self.coordinators is None else self.coordinators == "find"

    @property
    def release(self) -> str:
        """The version for which this file was read."""
        return self._release or self.version

    @property
    def missing_features(self) -> frozenset[str]:
        """The features that the release for which this file was read does not serve."""
        without_ids = "init_producer_id" in self.missing_requests
        return self._missing_features | ({"idempotence"} if without_ids else frozenset())

    def without_request(self, needed: Iterable[tuple[str, str]]) -> str | None:
        """Return why a plan with these `needed_requests` cannot be run; None if none of them is missing."""
        for request, what in needed:
            if request in self.missing_requests:
                return f"{what} needs {request}, which {self.name} lacks (`missing_requests` of its target file)"
        return None

    @property
    def usual_upgrade(self) -> str | None:
        """The upgrade to the target's release from that of the minor version before it; None if there is none."""
        old = line_before(self.version, self.published) if self.upgrade is not None else None
        return None if old is None else f"{self.name}:{old}..{self.version}"

    def upgrade_rules(self, version: str) -> UpgradeRules:
        """Return how nodes are upgraded. Raise UsageError if they cannot be."""
        if self.upgrade is None:
            raise UsageError(
                f"{self.name} has one release, {self.version}, so there is no upgrade {version}; "
                "a target file whose nodes can be upgraded has the key `upgrade`"
            )
        return self.upgrade

    def without_workload(self, kind: WorkloadKind, version: str) -> str | None:
        """Return why the target cannot have a workload of this kind; None if it can."""
        if kind not in self.workloads:
            return f"{self.name} does not list `{kind}` in `workloads`"
        if not within(version, self.workloads[kind]):
            return f"{self.name} {version} has no {kind}: {self.workloads[kind]}"
        return None

    def check_release(self, version: str, sources: str = "") -> None:
        """Raise UsageError if there is no such release. `sources` says where one is looked for."""
        if not within(version, self.releases):
            raise UsageError(f"{self.name} has no release {version!r}: its releases are {self.releases}{sources}")
        if self.published and version not in self.published and not is_build(version):
            near = nearest(version, self.published)
            neighbours = f"{'are' if len(near) > 1 else 'is'} {' and '.join(near)}"
            raise UsageError(f"{self.name} has no release {version!r}; the nearest known {neighbours}{sources}")

    def check_levels(self, plan: Plan) -> None:
        """Raise UsageError if the plan names a protocol level that this target does not have."""
        levels = [plan.level, *(node.level for node in plan.topology.nodes)]
        levels += [step.level for step in plan.steps if isinstance(step, Roll) and step.level is not None]
        for level in levels:
            if level is not None and level not in self.levels:
                names = ", ".join(self.levels) or "none"
                only = self.level_releases.get(level)
                why = f" here: it is one of the releases {only}, and of two releases both have to be" if only else ""
                raise UsageError(f"{self.name} has no protocol level {level!r}{why}; its levels: {names}")

    def _level(self, node: Node) -> Mapping[str, str]:
        if node.level is None:
            return {}
        return self.levels[node.level]


def workload_kinds(plan: Plan) -> Iterator[WorkloadKind]:
    """Yield the kinds of clients that the workload of a plan needs."""
    memberships = [each for consumer in plan.workload.consumers if (each := consumer.membership) is not None]
    if memberships:
        yield "groups"
    if any(membership.static for membership in memberships):
        yield "static-members"
    if any(membership.protocol == "consumer" for membership in memberships):
        yield "consumer-protocol"
    if any(producer.transactions for producer in plan.workload.producers):
        yield "transactions"
    if any(consumer.rack is not None for consumer in plan.workload.consumers):
        yield "racks"
