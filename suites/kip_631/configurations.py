"""Configurations with which no node starts: each has one mistake, and the message of the node names it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fencepost.suites import vocabulary as v

FIRST_INDEX = 11
CANNOT_START = 2
Roles = tuple[Literal["controller", "broker"], ...]
BROKER: Roles = ("broker",)
CONTROLLER: Roles = ("controller",)


@dataclass(frozen=True)
class Mistake:
    """One configuration: the rules that refuse it, what is changed in it, and a part of the message."""

    name: str
    rules: tuple[str, ...]
    roles: Roles
    settings: Mapping[str, str | None]
    says: str


MISTAKES = (
    Mistake(
        "id-of-a-controller", ("K631-07",), BROKER, {"broker.id": str(v.CONTROLLER_IDS[0])}, "node ids are one space"
    ),
    Mistake("negative-id", ("K631-07",), BROKER, {"broker.id": "-1"}, "broker.id=-1 must"),
    Mistake("no-id", ("K631-08",), BROKER, {"broker.id": None}, "the key broker.id is missing"),
    Mistake("no-roles", ("K631-46",), BROKER, {"process.roles": None}, "one of nodes with process.roles"),
    Mistake("both-modes", ("K631-46",), BROKER, {"zookeeper.connect": "zk:2181"}, "one of nodes without process.roles"),
    Mistake(
        "no-controllers",
        ("K631-48", "K631-04"),
        BROKER,
        {"controller.connect": None},
        "the key controller.connect is missing",
    ),
    Mistake("two-log-dirs", ("D631-27",), BROKER, {"log.dirs": "one,two"}, "must name exactly one directory"),
    Mistake("no-cluster", ("D631-35",), BROKER, {"cluster.id": None}, "the key cluster.id is missing"),
    Mistake(
        "one-listener-for-both",
        ("K631-09",),
        ("broker", "controller"),
        {"controller.listeners": "INTERNAL"},
        "the broker needs one of its own",
    ),
    Mistake(
        "no-listener",
        ("K631-47",),
        CONTROLLER,
        {"controller.listeners": None},
        "the key controller.listeners is missing",
    ),
    Mistake("no-controller-id", ("K631-49",), CONTROLLER, {"controller.id": None}, "the key controller.id is missing"),
    Mistake("negative-controller-id", ("K631-49",), CONTROLLER, {"controller.id": "-1"}, "controller.id=-1 must"),
)


@v.scenario(
    "refused-configurations",
    "A node whose configuration has a mistake ends at once, and names it",
    seconds=10,
    dialects=frozenset({v.Dialect.KIP_631}),
)
def build(draft: v.Draft) -> v.Plan:
    """All nodes with a mistake are started beside a cluster that serves on, and each ends with its message."""
    leader = draft.leader
    nodes = [_node(mistake, FIRST_INDEX + place) for place, mistake in enumerate(MISTAKES)]
    steps: list[v.Step] = [
        *_defaults(leader),
        v.Start(as_="start", nodes=tuple(node.name for node in nodes), until="running"),
        *(step for mistake, node in zip(MISTAKES, nodes, strict=True) for step in _refused(mistake, node.name)),
    ]
    return draft.plan(
        steps,
        *(f"{mistake.name}-ended" for mistake in MISTAKES),
        v.acknowledged("start.ended"),
        topology=v.quorum_cluster(more=nodes),
    )


def _node(mistake: Mistake, index: int) -> v.NodeSpec:
    both = len(mistake.roles) > 1
    return v.NodeSpec(
        name=v.node_name(index),
        id=index,
        index=index,
        roles=mistake.roles,
        controller_id=index + 100 if both else None,
        start="later",
        settings=dict(mistake.settings),
    )


def _refused(mistake: Mistake, node: str) -> list[v.Step]:
    name, claim, within_ms = mistake.name, v.must(*mistake.rules), v.LIVENESS_TIMEOUT_MS
    return [
        v.NodeExited(as_=f"{name}-ended", node=node, code=CANNOT_START, within_ms=within_ms, expect=claim),
        v.Logged(as_=f"{name}-named", node=node, says=mistake.says, within_ms=within_ms, expect=claim),
    ]


def _defaults(broker: str) -> list[v.Step]:
    """Ask a broker for its interval of heartbeats and its lease, and for what they are where nothing is set."""
    keys = {"registration.heartbeat.interval.ms": "2000", "registration.lease.timeout.ms": "20000"}
    resource = {"resource_type": 4, "resource_name": str(v.node_id(broker)), "configuration_keys": list(keys)}
    answer = {f"results[0].configs[name={key}].synonyms[source=5].value": default for key, default in keys.items()}
    body = {"resources": [resource], "include_synonyms": True}
    return [v.ask("defaults", broker, "describe_configs", body, v.serves("K631-50", "K631-51"), answer=answer)]
