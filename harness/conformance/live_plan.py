"""The plan of a test's own cluster before the test has done anything: nodes, topic, clients and timeouts."""

from __future__ import annotations

import random

from fencepost.faults.capabilities import Capability
from fencepost.harness.campaign.deviations import deviations
from fencepost.harness.cluster.availability import unavailable_reason
from fencepost.harness.errors import UsageError
from fencepost.harness.plan import topologies
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import (
    ConsumerSpec,
    Plan,
    ProducerSpec,
    TopicSpec,
    Topology,
    WorkloadSpec,
)
from fencepost.harness.plan.timing import scaled_timing
from fencepost.harness.plan.topologies import BROKER_IDS, node_name
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.registry import find

TOPIC = "t"
MOST_REPLICAS = 3
"""Replicas of a partition, where brokers replicate at all."""
PRODUCER, CONSUMER = "p1", "c1"
MAY_LOSE = "LF-01"
"""The listed difference of a target that may lose acknowledged records."""


def live_plan(
    target: str,
    *,
    name: str = "test",
    title: str = "A test",
    document: str = "tests",
    seed: int = 1,
    partitions: int = 1,
    min_isr: int = 2,
    rate: float = 100,
    needs: tuple[str, ...] = (),
    duplicate: str | None = None,
    lease_ms: int = 1500,
    seconds: float = 300,
) -> Plan:
    """Return the plan of three brokers with three controllers or one ZooKeeper server, as the target's design has it.

    Of a target that shows no control plane it has the target's brokers alone.
    The topic `t` has so many partitions of three replicas; the seed decides which broker leads which. One idempotent
    producer at acks=all sends `rate` records a second, one consumer follows it. `needs` are capabilities: with `disks`
    the brokers' disks can be broken, with `clock` their clocks, with `log-dirs` each has two log directories.
    `duplicate` names a broker or controller for whose id a second process, named `node-4b`, can be started. `lease_ms`
    is multiplied by the target's timeout factor. The run must be over within `seconds`. UsageError if there is no such
    target, capability or node.
    """
    loaded, version = find(target)
    file = loaded.file
    topology = _topology(file, _capabilities(needs), duplicate)
    ids = file.brokers.ids
    replicas = min(len(ids), MOST_REPLICAS) if file.promises.replication == "isr" else 1
    order = random.Random(f"{seed}/{name}").sample(ids, len(ids))
    config = {"min.insync.replicas": str(min(min_isr, replicas))} if replicas > 1 else {}
    return Plan(
        scenario=name,
        title=title,
        document=document,
        seed=seed,
        target=f"{file.name}:{version}",
        timing=scaled_timing(
            file.timeout_factor, leader_driven=file.dialect is Dialect.LEADER_DRIVEN, lease_ms=lease_ms
        ),
        deadline_ms=round(seconds * 1000),
        shared=True,
        topology=topology,
        topics=(
            TopicSpec(
                name=TOPIC,
                assignments=tuple(
                    (*order[place % len(ids) :], *order[: place % len(ids)])[:replicas] for place in range(partitions)
                ),
                config=config,
            ),
        ),
        workload=WorkloadSpec(
            producers=(ProducerSpec(name=PRODUCER, topic=TOPIC, rate=rate, idempotent=not _may_lose(file)),),
            consumers=(ConsumerSpec(name=CONSUMER, topic=TOPIC),),
        ),
        deviations=deviations(file, topology),
    )


def unavailable(target: str, backend: str, needs: tuple[str, ...]) -> str | None:
    """Return why this target, or this backend on this machine, cannot do what a test needs; None if it can.

    UsageError if there is no such target or capability.
    """
    wanted, file = _capabilities(needs), find(target)[0].file
    of_containers = {Capability.NETWORK, Capability.RESOURCES}  # they do not depend on what runs in a container
    if missing := sorted(each.value for each in wanted - file.capabilities - of_containers):
        return f"{file.name} is not capable of {', '.join(missing)}"
    reasons = (unavailable_reason(backend, each) for each in sorted(wanted, key=lambda each: each.value))
    return next((reason for reason in reasons if reason is not None), None)


def _capabilities(needs: tuple[str, ...]) -> frozenset[Capability]:
    known = [each.value for each in Capability]
    for unknown in (each for each in needs if each not in known):
        raise UsageError(f"no capability is called {unknown!r}: the capabilities are {', '.join(known)}")
    return frozenset(map(Capability, needs))


def _may_lose(file: TargetFile) -> bool:
    """An idempotent producer is refused for good once the log has lost its last sequence number."""
    return any(difference.id == MAY_LOSE for difference in file.differences)


def _topology(file: TargetFile, needs: frozenset[Capability], duplicate: str | None) -> Topology:
    brokers = topologies.brokers(
        file.brokers.ids,
        log_dirs=2 if Capability.LOG_DIRS in needs else 1,
        disk="breakable" if Capability.DISKS in needs else "plain",
        clock="own" if Capability.CLOCK in needs else "machine",
    )
    brokers = topologies.with_front_ends(brokers, file.brokers.front_ends)
    nodes = (*topologies.services(file.services), *topologies.deciders(file.dialect), *brokers)
    if duplicate is not None and duplicate not in (names := [node.name for node in nodes]):
        raise UsageError(f"no node is called {duplicate!r}: the nodes are {', '.join(names)}")
    copies = tuple(topologies.duplicate_of(node) for node in nodes if node.name == duplicate)
    elected = node_name(BROKER_IDS[-1]) if file.dialect is Dialect.ZOOKEEPER else None
    return Topology(nodes=(*nodes, *copies), controller=elected)
