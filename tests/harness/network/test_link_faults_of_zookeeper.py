"""Faults of links to, and between, real ZooKeeper servers: by what these lend themselves to."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from fencepost.faults.capabilities import CapabilityError, ProbeResult, Stream
from fencepost.faults.registry import build
from fencepost.harness.cli.interactive import interactive_plan
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.targets.registry import load
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter

pytestmark = pytest.mark.integration

BROKER, ZK, OTHER = "node-4", "zk-1", "zk-2"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    plan = interactive_plan("leader-driven", servers=3)
    target = load(plan.target)
    try:
        target.prepare()
    except InfrastructureError as error:
        pytest.skip(str(error))
    run = RunFolder.create_at(tmp_path_factory.mktemp("runs") / "run")
    with closing(JournalWriter(run.journal)) as journal, Cluster(plan, run, journal, target) as it:
        it.start([node.name for node in plan.topology.nodes if "zookeeper" in node.roles])
        yield it


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("stall", {"from": [BROKER], "to": [ZK]}),
        ("blackhole", {"from": [ZK], "to": [OTHER]}),
        ("blackhole", {"from": [BROKER], "to": [ZK], "streams": "replies"}),
        ("blackhole", {"from": [BROKER], "to": [ZK], "streams": "requests"}),
        ("one-way", {"from": [ZK], "to": [OTHER]}),
        ("one-way", {"from": [ZK], "to": [BROKER], "how": "blackhole"}),
        ("one-way", {"from": [ZK], "to": [BROKER], "how": "stall"}),
        ("reset", {"from": [BROKER, OTHER], "to": [ZK]}),
        ("slow", {"from": [BROKER], "to": [ZK], "latency_ms": 50, "rate_kb": 10}),
        ("slow", {"from": [ZK], "to": [OTHER], "latency_ms": 50}),
        ("cut-after-bytes", {"from": [BROKER], "to": [ZK], "after_bytes": 1000}),
        ("cut-after-bytes", {"from": [BROKER], "to": [ZK], "after_bytes": 50, "stream": "replies"}),
        ("flapping", {"nodes": [ZK], "from": [OTHER], "on_ms": 150, "off_ms": 1500, "count": 2}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_is_proven_and_healed(name: str, params: dict[str, Any], cluster: Cluster) -> None:
    fault = build(name, cluster, params)
    fault.set_up()
    fault.inject()
    evidence = fault.verify()
    fault.recover()
    assert evidence.proven, evidence
    healed = fault.verify_healed()
    assert healed.proven, healed


def test_what_the_servers_say_among_themselves_is_not_counted(cluster: Cluster) -> None:
    for params in ({"name": "slow", "rate_kb": 10}, {"name": "cut-after-bytes", "after_bytes": 100}):
        fault = build(str(params.pop("name")), cluster, {"from": [ZK], "to": [OTHER], **params})
        with pytest.raises(CapabilityError, match="bytes between servers of an ensemble cannot be counted"):
            fault.set_up()


def test_counting_at_one_server_does_not_end_the_connections_of_the_others(cluster: Cluster) -> None:
    with ThreadPoolExecutor(16) as threads:
        counted = [threads.submit(cluster.links.transfer, BROKER, ZK, Stream.REQUESTS, 2000, 10.0) for _ in range(400)]
    assert {each.result().reach for each in counted} == {ProbeResult.ANSWERED}
