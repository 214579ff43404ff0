"""The plan that asks one target all probes: the smallest cluster, one broker, so that each broker can be asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from fencepost.harness.comparison.answers import PREPARES
from fencepost.harness.comparison.catalogue import Ask, Probe, Probes, shipped_probes
from fencepost.harness.errors import UsageError
from fencepost.harness.plan import topologies
from fencepost.harness.plan.model import NodeSettings, Plan, Timing, Topology
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.registry import load_file, reference_of

BROKER = "$broker"
"""Stands for the id of the broker in the body of a probe."""
ANSWER_MS = 5000
READY_MS = 20_000
"""Time for what prepares a probe to be served: coordinators of a new cluster need seconds."""
DEADLINE_MS = 900_000
LEASE_MS = 6000
"""Longer than in scenarios: no probe waits for the end of a lease."""


def questions(target: str, only: Sequence[str] = ()) -> Plan:
    """Return the plan for a target, with all probes or those with names like `only`. Raise UsageError if there is no
    such target, or no such probe.
    """
    reference, file = reference_of(target), load_file(target)
    [broker] = topologies.brokers(file.brokers.ids[:1])
    asked = _chosen(shipped_probes(), only) if only else shipped_probes()
    return Plan(
        scenario="compare",
        title="The probes of every request of the protocol",
        document="none",
        seed=0,
        target=reference,
        timing=Timing(
            lease_ms=LEASE_MS, session_ms=LEASE_MS, fence_ms=2 * LEASE_MS, lag_ms=LEASE_MS, fetch_ms=LEASE_MS
        ),
        settings=_alone(file),
        deadline_ms=DEADLINE_MS,
        topology=Topology(nodes=(*_deciders(file), broker)),
        steps=tuple(_steps(asked, broker.name, broker.id)),
    )


def _chosen(all_probes: tuple[Probes, ...], only: Sequence[str]) -> tuple[Probes, ...]:
    """Return the files with the probes that a pattern fits, and those before them, which may prepare them."""
    chosen = []
    for probes in all_probes:
        places = [place for place, probe in enumerate(probes.probes) if _fits(name_of(probes, probe), only)]
        if places:
            chosen.append(probes.model_copy(update={"probes": probes.probes[: places[-1] + 1]}))
    if not chosen:
        raise UsageError(f"no probe has a name like {' or '.join(only)}: `fencepost compare --help` has examples")
    return tuple(chosen)


def _fits(name: str, only: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in only)


def name_of(probes: Probes, probe: Probe) -> str:
    """Return the name of a probe in plans and tables: `create-topics.no-name`."""
    return f"{probes.api.replace('_', '-')}.{probe.name}"


def _deciders(file: TargetFile) -> tuple[Any, ...]:
    services = topologies.services(file.services)
    if file.dialect.uses_zookeeper:
        return (*services, *topologies.zookeeper_servers(1))
    return (*services, *(topologies.controllers([1]) if file.dialect.has_controllers else ()))


def _alone(file: TargetFile) -> NodeSettings | None:
    """Return what a broker without others needs: one replica of each internal topic."""
    copies = ("replication.factor", "min.isr")
    settings = {key: "1" for key in file.settings.broker if key.endswith(copies)}
    return NodeSettings(broker=settings) if settings else None


def _steps(asked: tuple[Probes, ...], node: str, broker: int) -> Iterator[ApiProbe]:
    topics = {name: count for probes in asked for name, count in probes.topics.items()}
    yield from _created(topics, node)
    for probes in asked:
        prefix = probes.api.replace("_", "-")
        for number, ask in enumerate(probes.before):
            yield _step(f"{PREPARES}{prefix}.{number}", ask, probes, node, broker, within_ms=READY_MS)
        for probe in probes.probes:
            name = name_of(probes, probe)
            for number, ask in enumerate(probe.before):
                yield _step(f"{PREPARES}{name}.{number}", ask, probes, node, broker, within_ms=READY_MS)
            yield _step(name, probe, probes, node, broker)


def _created(topics: Mapping[str, int], node: str) -> Iterator[ApiProbe]:
    """Yield the requests that create the topics of all probes, and wait until each partition has its leader."""
    if not topics:
        return
    of_topics = [
        {"name": name, "num_partitions": count, "replication_factor": 1, "assignments": [], "configs": []}
        for name, count in topics.items()
    ]
    asked = [
        {"name": name, "partitions": [{"partition_index": place, "timestamp": -1} for place in range(count)]}
        for name, count in topics.items()
    ]
    creation = {"topics": of_topics, "timeout": ANSWER_MS, "validate_only": False}
    led = {"replica_id": -1, "isolation_level": 0, "topics": asked}
    for name, api, version, body in (("topics", "create_topics", 4, creation), ("led", "list_offsets", 2, led)):
        yield ApiProbe(
            as_=f"{PREPARES}{name}",
            node=node,
            api=api,
            version=version,
            body=body,
            timeout_ms=ANSWER_MS,
            within_ms=READY_MS,
            until="final",
        )


def _step(name: str, ask: Ask, probes: Probes, node: str, broker: int, within_ms: int = 0) -> ApiProbe:
    own = ask.api is None or ask.api == probes.api
    body = {**probes.body, **ask.body} if own else ask.body
    return ApiProbe(
        as_=name,
        node=node,
        api=ask.api or probes.api,
        version=ask.version if ask.version is not None or not own else probes.version,
        body=_placed(body, broker),
        binds=ask.binds,
        timeout_ms=ANSWER_MS,
        within_ms=within_ms,
        until="final",
    )


def _placed(value: Any, broker: int) -> Any:
    """Return the body with the id of the broker, as a number, or as a text where `$broker` stands in quotes twice."""
    match value:
        case Mapping():
            return {key: _placed(each, broker) for key, each in value.items()}
        case list():
            return [_placed(each, broker) for each in value]
        case str() if value == BROKER:
            return broker
        case str() if value == f"'{BROKER}'":
            return str(broker)
    return value
