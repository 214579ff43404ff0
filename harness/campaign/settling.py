"""The moves after which a cluster has to describe what it described before: failover, restarts, a snapshot read back.

State that an acknowledged request changed has to outlive them. They come once all is healed, with nothing broken, so
that nothing excuses what is missing then.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from fencepost.harness.campaign.features import Feature, FeatureKind
from fencepost.harness.plan.base import Expect, Level
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.bind import Bind
from fencepost.harness.plan.steps.describe import Describe
from fencepost.harness.plan.steps.shutdown import Shutdown
from fencepost.harness.plan.steps.start import Start

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

SETTLED = 0.8
"""The fraction of plans with such a move, of those that claim that everything comes back."""
HOW = {"another controller": 3, "brokers restarted": 2, "all restarted": 6}
_WITHOUT_SNAPSHOTS: Mapping[str, str] = {
    Dialect.ZOOKEEPER: "it has no snapshots of its metadata",
    Dialect.LEADER_DRIVEN: "it has no snapshots of its metadata",
}


class FrequentSnapshots(Feature):
    """Controllers write a snapshot of the metadata after each few records, so that restarts read state from it."""

    kind = FeatureKind.SETTINGS
    name = "frequent-snapshots"
    left_out: Mapping[str, str] = {**_WITHOUT_SNAPSHOTS, Dialect.KIP_631: "its setting for that has another name"}
    settings: Mapping[str, str] = {"metadata.log.max.record.bytes.between.snapshots": "200"}


class FrequentSnapshotsOfTheDraft(Feature):
    """The same in the draft of KIP-631, which counts records."""

    kind = FeatureKind.SETTINGS
    name = "frequent-snapshots-of-the-draft"
    left_out: Mapping[str, str] = {**_WITHOUT_SNAPSHOTS, Dialect.KRAFT: "its setting for that has another name"}
    settings: Mapping[str, str] = {"metadata.snapshot.max.lag.records": "4"}


def settling(rng: random.Random, script: Script) -> Iterator[Step]:
    """Yield a look at the whole cluster, and one move after which the next look has to show the same."""
    how = rng.choices(list(HOW), weights=list(HOW.values()))[0]
    cluster = script.cluster
    within_ms = cluster.liveness_timeout_ms
    if how == "another controller" and not cluster.target.dialect.has_controllers:
        how = "brokers restarted"
    yield Converged(as_=script.name("whole"), within_ms=within_ms, expect=_comes_back())
    yield Describe(as_=script.name("healed"))
    if not cluster.outlives_restarts:
        return
    if how == "another controller":
        yield from controller_restarted(script)
    elif how == "brokers restarted":
        for broker in cluster.brokers:
            yield from broker_restarted(script, broker)
            yield Converged(as_=script.name("whole"), within_ms=within_ms, expect=_comes_back())
    else:
        yield from all_restarted(script)


def all_restarted(script: Script) -> Iterator[Step]:
    """Yield that all brokers stop, then all controllers, and start again the other way round."""
    cluster = script.cluster
    controllers = () if cluster.uses_zookeeper else tuple(set(cluster.quorum) - set(cluster.brokers))
    groups = [each for each in (cluster.brokers, tuple(sorted(controllers))) if each]
    for nodes in groups:
        yield Shutdown(as_=script.name("stopped"), nodes=nodes, within_ms=2 * cluster.liveness_timeout_ms)
    for nodes in reversed(groups):
        yield Start(as_=script.name("restarted"), nodes=nodes)


def controller_restarted(script: Script) -> Iterator[Step]:
    """Yield that the active controller is restarted, so that another one goes on with what it decided."""
    bound = script.name("controller")
    yield Bind(as_=bound, node="active-controller")
    yield Shutdown(as_=script.name("stopped"), nodes=f"${bound}", within_ms=script.cluster.liveness_timeout_ms)
    yield Start(as_=script.name("restarted"), nodes=f"${bound}")


def broker_restarted(script: Script, broker: str) -> Iterator[Step]:
    """Yield that one broker is restarted."""
    yield Shutdown(as_=script.name("stopped"), nodes=broker, within_ms=script.cluster.liveness_timeout_ms)
    yield Start(as_=script.name("restarted"), nodes=broker)


def restarted(script: Script, node: str) -> Iterator[Step]:
    """Yield a restart of the node that has a role now, and the wait for a whole cluster."""
    within_ms, bound = script.cluster.liveness_timeout_ms, script.name("restarts")
    yield Bind(as_=bound, node=node)
    yield Shutdown(as_=script.name("ended"), nodes=f"${bound}", within_ms=within_ms)
    yield Start(as_=script.name("started"), nodes=f"${bound}")
    yield Converged(as_=script.name("whole"), within_ms=within_ms, expect=_comes_back())


def _comes_back() -> Expect:
    return Expect(level=Level.MUST, requirement="LIVE-01")
