"""A bug of a released Apache Kafka, and the plan that shows it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from fencepost.harness.plan import topologies
from fencepost.harness.plan.file import load_plan
from fencepost.suites import vocabulary as v

DOCUMENT = "Released bugs"
ISSUES = "https://issues.apache.org/jira/browse/"

Kind = Literal[
    "replication", "controllers", "ISR", "groups", "transactions", "disks", "administration", "upgrade"
]  # fmt: skip

OWN_PLAN = "its own plan"
FOUND = Path(__file__).parent / "found"
"""The random plans that found bugs, as the planner of campaigns made them: `kafka-14417.yaml`."""

ONE_BROKER = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
"""The settings by which a single broker can hold the internal topics."""


Build = Callable[[v.Draft], v.Plan]


def _unbuilt(draft: v.Draft) -> v.Plan:
    raise NotImplementedError(f"{draft.scenario.slug} decorates no function")


@dataclass(frozen=True, kw_only=True)
class ReleasedBug:
    """One bug: its plan ends with a violation of `rule` on the affected release, and passes on the fixed one.

    `found_by` is the generic scenario or the claim that found it, or OWN_PLAN; `wanted` is then the draw or the claim
    with which a random plan would find it. A bug that a random plan found has it in the folder FOUND.
    """

    number: str = field(kw_only=False)
    """The number of the issue: `KAFKA-14616`."""
    title: str = field(kw_only=False)
    kind: Kind
    loses: str
    """The loss for a user, as one line."""
    releases: tuple[str, str]
    """The affected target, and the release of it with the fix: `("apache-kafka:3.6.2", "3.7.1")`."""
    rule: str
    build: Build = _unbuilt
    found_by: str = OWN_PLAN
    wanted: str = ""
    seconds: int = 30

    def __call__(self, build: Build) -> Build:
        """Declare the decorated function, which makes a plan of a draft, as this bug's."""
        DECLARED[build.__module__].append(replace(self, build=build))
        return build

    @property
    def affected(self) -> str:
        return self.releases[0]

    @property
    def fixed(self) -> str:
        name, _, _ = self.affected.partition(":")
        return f"{name}:{self.releases[1]}"

    @property
    def slug(self) -> str:
        return self.number.lower()

    @property
    def random_plan(self) -> Path | None:
        """The file of the random plan that found it, if one did."""
        file = FOUND / f"{self.slug}.yaml"
        return file if file.is_file() else None

    @property
    def origin(self) -> str:
        """The finder of the bug, in words."""
        if self.random_plan is None:
            return self.found_by
        return f"random plan {load_plan(self.random_plan).seed}"

    @property
    def generic(self) -> bool:
        """True if something found it that was not made for it."""
        return self.random_plan is not None or self.found_by != OWN_PLAN

    @property
    def url(self) -> str:
        return ISSUES + self.number

    @property
    def scenario(self) -> v.Scenario:
        """Return the bug as a scenario, which every command can run."""
        return v.Scenario(
            slug=self.slug,
            title=self.title,
            requirements=(self.rule,),
            seconds=self.seconds,
            build=self.build,
            document=DOCUMENT,
            dialects=frozenset({v.Dialect.KRAFT, v.Dialect.ZOOKEEPER}),
        )

    def plan(self, target: str, seed: int = 1) -> v.Plan:
        """Return the plan for one of the two releases."""
        return self.scenario.plan(v.TargetFacts.of(target), seed)


DECLARED: defaultdict[str, list[ReleasedBug]] = defaultdict(list)
"""The bugs of each module, in their order there."""


def small_cluster(target: v.TargetFacts, brokers: int = 1, *, log_dirs: int = 1) -> v.Topology:
    """Return one controller, or one ZooKeeper server, and so many brokers."""
    first = topologies.zookeeper_servers(1) if target.uses_zookeeper else topologies.controllers((1,))
    return v.Topology(nodes=(*first, *topologies.brokers(v.BROKER_IDS[:brokers], log_dirs=log_dirs)))


def one_broker(**settings: str) -> v.NodeSettings:
    """Return the settings of a cluster with a single broker; `_` stands for the dot of a key."""
    return v.NodeSettings(broker=ONE_BROKER | {key.replace("_", "."): value for key, value in settings.items()})


def asking(
    draft: v.Draft,
    steps: Sequence[v.Step],
    *,
    partitions: int = 1,
    config: dict[str, str] | None = None,
    brokers: int = 1,
    log_dirs: int = 1,
    settings: v.NodeSettings | None = None,
) -> v.Plan:
    """Return the plan of a bug that requests alone show: a small cluster, the topic t, and no workload.

    Each partition has all brokers as replicas, the first as leader.
    """
    replicas = tuple(v.BROKER_IDS[:brokers])
    topic = v.TopicSpec(name="t", assignments=(replicas,) * partitions, config=config or {})
    return draft.plan(
        steps,
        "whole",
        topology=small_cluster(draft.target, brokers, log_dirs=log_dirs),
        topics=[topic],
        workload=None,
        settings=settings or (one_broker() if brokers == 1 else None),
    )
