"""Rolling upgrades and downgrades of a target with two releases, such as `apache-kafka:3.9.2..4.4.0`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from fencepost.suites import vocabulary as v

RELEASED = frozenset({v.Dialect.KRAFT}) | v.ZOOKEEPER_MODE
"""The designs that have releases."""
DEADLINE_MS = 600_000
"""Each of six nodes ends, starts and catches up, some of them twice."""


@v.fault_scenario(
    "rolling-upgrade",
    "A cluster that is upgraded node by node under load loses nothing, though a broker is killed in between",
    seconds=150,
    dialects=RELEASED,
    releases=2,
)
def rolling_upgrade(draft: v.Draft) -> v.Plan:
    """All nodes are upgraded under load, one at a time, a broker is killed in between, and the upgrade is finalized."""
    target = draft.target
    leader, follower, last = draft.roles
    steps: list[v.Step] = [
        *_rolled(_controllers(target), "new"),
        *_rolled([follower], "new"),
        v.inject("kill", v.KillParameters(nodes=leader)),
        v.goes_on("UPG-01"),
        v.Heal(as_="restart", fault="kill"),
        _in_sync("restarted", leader, "UPG-02"),
        *_early_finalization(target),
        *_rolled([last], "new"),
        *_rolled([leader], "new", how="kill"),
        *_finalization(target, [follower, leader, last]),
        v.WorkloadAcks(as_="finalized", more=20, expect=v.must("UPG-03")),
    ]
    return _plan(draft, steps, f"new-{leader}")


@v.fault_scenario(
    "downgrade",
    "Before an upgrade is finalized each node can go back to the old release, and nothing is lost",
    seconds=150,
    dialects=RELEASED,
    releases=2,
)
def downgrade(draft: v.Draft) -> v.Plan:
    """Some nodes are upgraded, one is paused meanwhile, and all go back to the old release: nothing was finalized."""
    leader, follower, _ = draft.roles
    upgraded = [*_controllers(draft.target), follower, leader]
    steps: list[v.Step] = [
        *_rolled(upgraded, "new"),
        v.inject("pause", v.PauseParameters(nodes=follower)),
        v.IsrIs(as_="left", partition="t-0", lacks=follower, expect=v.must("ISR-05")),
        v.goes_on("UPG-01"),
        v.Heal(as_="resume", fault="pause"),
        _in_sync("resumed", follower, "ISR-06"),
        *_rolled([leader], "old", how="kill"),
        *_rolled([follower, *_controllers(draft.target)], "old"),
    ]
    return _plan(draft, steps, f"old-{upgraded[0]}")


def _controllers(target: v.TargetFacts) -> list[str]:
    return [] if target.uses_zookeeper else [v.node_name(id) for id in v.CONTROLLER_IDS]


def _rolled(
    nodes: Sequence[str], release: v.Release, how: Literal["shutdown", "kill"] = "shutdown"
) -> Iterator[v.Step]:
    """Give nodes another release one after the other; each serves, and is in sync, before the next one ends."""
    for node in nodes:
        yield v.Roll(as_=f"{release}-{node}", node=node, release=release, how=how)
        if v.node_id(node) in v.BROKER_IDS:
            yield _in_sync(f"{release}-{node}-in-sync", node, "UPG-05" if release == "old" else "UPG-02")
        else:
            yield v.ActiveController(as_=f"{release}-{node}-quorum", expect=v.must("LIVE-02"))
        yield v.WorkloadAcks(as_=f"{release}-{node}-goes-on", more=5, expect=v.must("UPG-01"))


def _in_sync(name: str, broker: str, requirement: str) -> v.Step:
    return v.IsrIs(as_=name, partition="t-0", has=broker, expect=v.must(requirement))


def _early_finalization(target: v.TargetFacts) -> Iterator[v.Step]:
    """Ask for the features of the new release while a broker has the old one. ZooKeeper's brokers are not asked.

    The errors are INVALID_UPDATE_VERSION and FEATURE_UPDATE_FAILED.
    """
    if not target.uses_zookeeper:
        yield v.UpdateFeaturesProbe(
            as_="too-early", node="active-controller", timeout_ms=10_000, expect=v.answers("UPG-04", "error:[95,96]")
        )


def _finalization(target: v.TargetFacts, brokers: Sequence[str]) -> Iterator[v.Step]:
    """Finalize the upgrade: by a request, or where ZooKeeper holds the metadata by the configuration of each broker."""
    if not target.uses_zookeeper:
        yield from v.features_finalized(brokers[0])
        return
    for broker in brokers:
        yield v.Roll(as_=f"finalize-{broker}", node=broker, level="new")
        yield _in_sync(f"finalize-{broker}-in-sync", broker, "UPG-03")


def _plan(draft: v.Draft, steps: list[v.Step], last_roll: str) -> v.Plan:
    plan = draft.timed(lag_ms=3000).plan(
        steps,
        *(step.as_ for step in steps if isinstance(step, v.Roll) and step.as_),
        "whole",
        v.acknowledged(f"{last_roll}.ended"),
    )
    return plan.model_copy(update={"deadline_ms": DEADLINE_MS})
