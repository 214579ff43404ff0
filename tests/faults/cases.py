"""The parameters with which each fault is tested: one entry for each fault of the registry.

- `fake`: on the fake cluster of `tests/faults/fake.py`, with nodes 1, 2, 4 and 5, as plans write them.
- `real`: on the small real cluster of `tests/faults/real.py`.
- `links`: on real links between four idle nodes; faults of links have them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fencepost.harness.backends import DOCKER, PROCESS
from fencepost.harness.plan.security import SecurityName

CONTROLLER, ORIGINAL, BROKEN, OTHER = "node-1", "node-4", "node-5", "node-6"
"""The nodes of the small real cluster."""
DUPLICATE = "node-4b"
BASE = (CONTROLLER, ORIGINAL, BROKEN, OTHER)
A, B, C, D = "node-1", "node-2", "node-3", "node-4"
"""The four idle nodes."""


@dataclass(frozen=True)
class Case:
    """`idle`: the parameters that shorten the wait for an effect that will not come.

    `ends`: the node may notice a moment later, and end by itself. `security`: that of the real cluster.
    """

    fake: Mapping[str, Any]
    real: Mapping[str, Any]
    links: Mapping[str, Any] | None = None
    idle: Mapping[str, Any] = field(default_factory=dict)
    backends: tuple[str, ...] = (PROCESS, DOCKER)
    ends: bool = False
    security: SecurityName = "plaintext"

    @property
    def without_effect(self) -> Mapping[str, Any]:
        return {**self.real, **self.idle}


_FAKE_LINKS = {"from": ["node-4"], "to": ["node-1", "node-2"]}
_FAKE_NODES = {"nodes": ["node-4", "node-5"]}
_REAL_LINK = {"from": [BROKEN], "to": [OTHER]}
_REAL_NODE = {"nodes": [BROKEN]}
_LINK = {"from": [A], "to": [B]}
_FAKE_MESSAGES = {**_FAKE_LINKS, "api": "fetch", "within_ms": 0}
_REAL_MESSAGES = {"from": [BROKEN], "to": [CONTROLLER], "api": "kip_631_broker_heartbeat"}
SECURED: SecurityName = "tls-scram"
_NONE_COMES = {"within_ms": 300}

CASES: Mapping[str, Case] = {
    "cut": Case(_FAKE_LINKS, _REAL_LINK, _LINK),
    "stall": Case(_FAKE_LINKS, _REAL_LINK, {**_LINK, "streams": "replies"}),
    "blackhole": Case(_FAKE_LINKS, _REAL_LINK, _LINK),
    "one-way": Case(_FAKE_LINKS, _REAL_LINK, {**_LINK, "how": "blackhole"}),
    "reset": Case(_FAKE_LINKS, _REAL_LINK, _LINK),
    "slow": Case(
        {"from": ["node-4"], "to": ["node-1"], "latency_ms": 20, "rate_kb": 10},
        {**_REAL_LINK, "latency_ms": 50},
        {**_LINK, "latency_ms": 60, "rate_kb": 1},
    ),
    "cut-after-bytes": Case(
        {"from": ["node-4"], "to": ["node-1"], "after_bytes": 100},
        {**_REAL_LINK, "after_bytes": 1000},
        {**_LINK, "after_bytes": 20_001},
    ),
    "isolate": Case(
        {"nodes": ["node-4"], "from": ["node-1", "node-2"]},
        {"nodes": [BROKEN], "from": [OTHER]},
        {"nodes": [A, "site:main"], "from": [B], "how": "blackhole"},
    ),
    "bridge": Case(
        {"nodes": ["node-4", "node-5"], "from": ["node-1", "node-5"], "over": "node-5"},
        {"nodes": [BROKEN, CONTROLLER], "from": [OTHER, CONTROLLER], "over": CONTROLLER},
        {"nodes": [A, B], "from": [C, D], "over": B},
    ),
    "ring": Case(
        {"nodes": ["node-4", "node-1", "node-5", "node-2"]},
        {"nodes": list(BASE)},
        {"nodes": [A, B, C, D], "how": "stall"},
    ),
    "flapping": Case(
        {"nodes": ["node-4"], "from": ["node-1"], "on_ms": 1, "off_ms": 1, "count": 2},
        {"nodes": [BROKEN], "from": [OTHER], "on_ms": 500, "off_ms": 500, "count": 2},
        {"nodes": [A], "from": [B], "on_ms": 150, "off_ms": 150, "count": 2},
    ),
    "lost-request": Case(_FAKE_MESSAGES, _REAL_MESSAGES, idle=_NONE_COMES),
    "lost-answer": Case(_FAKE_MESSAGES, _REAL_MESSAGES, idle=_NONE_COMES),
    "late-request": Case(_FAKE_MESSAGES, {**_REAL_MESSAGES, "held_ms": 300}, idle=_NONE_COMES),
    "repeated-request": Case(_FAKE_MESSAGES, {**_REAL_MESSAGES, "nth": 2, "count": 3}, idle=_NONE_COMES),
    "kill": Case(_FAKE_NODES, _REAL_NODE),
    "pause": Case(_FAKE_NODES, _REAL_NODE),
    "terminate": Case({**_FAKE_NODES, "within_ms": 0}, {**_REAL_NODE, "within_ms": 60_000}, idle={"within_ms": 200}),
    "late-bytes": Case(
        {"node": "node-4", "to": ["node-1", "node-2"], "queued_ms": 0},
        {"node": BROKEN, "to": [CONTROLLER], "queued_ms": 1000},
    ),
    "crash-loop": Case({"node": "node-4", "lives_ms": [0, 1]}, {"node": BROKEN, "lives_ms": [100, 100]}),
    "rolling-restart": Case(_FAKE_NODES, _REAL_NODE),
    "emptied": Case(_FAKE_NODES, _REAL_NODE),
    "restored": Case({"node": "node-4", "age_ms": 0}, {"node": BROKEN, "age_ms": 1000}),
    "swapped": Case(_FAKE_NODES, {"nodes": [BROKEN, OTHER]}),
    "foreign-cluster": Case({"node": "node-4"}, {"node": BROKEN}),
    "changed-id": Case({"node": "node-4"}, {"node": BROKEN}),
    "expired-certificate": Case({"node": "node-4"}, {"node": BROKEN}, security=SECURED),
    "foreign-certificate": Case({"node": "node-4"}, {"node": BROKEN}, security=SECURED),
    "renewed-certificate": Case({"node": "node-4"}, {"node": BROKEN}, security=SECURED),
    "changed-password": Case({"user": "client"}, {"user": "client"}, security=SECURED),
    "removed-user": Case({"user": "alice"}, {"user": "client"}, security=SECURED),
    "duplicate": Case({"node": "node-4b"}, {"node": DUPLICATE}),
    "log-dir": Case({"node": "node-4", "dir": 1}, {"node": BROKEN, "dir": 0}, ends=True),
    "disk-error": Case(
        {"node": "node-4", "operations": ["read", "write", "fsync"]},
        {"node": BROKEN, "operations": ["fsync"], "files": "elsewhere/*"},
    ),
    "disk-slow": Case(
        {"node": "node-4", "ms": 200, "files": "t-0/*.log"}, {"node": BROKEN, "ms": 100, "files": "elsewhere/*"}
    ),
    "disk-full": Case({"node": "node-4"}, {"node": BROKEN, "files": "elsewhere/*"}),
    "disk-read-only": Case({"node": "node-4", "dir": 0}, {"node": BROKEN}, ends=True),
    "rename-error": Case({"node": "node-4"}, {"node": BROKEN, "files": "elsewhere/*"}),
    "torn-write": Case({"node": "node-4", "bytes": 100}, {"node": BROKEN, "bytes": 10, "files": "elsewhere/*"}),
    "power-loss": Case(_FAKE_NODES, _REAL_NODE),
    "damaged-file": Case(
        {"node": "node-4", "file": "replication-offset-checkpoint"},
        {"node": BROKEN, "file": "t-0/leader-epoch-checkpoint"},
    ),
    "bit-flip": Case({"node": "node-4", "file": "t-0/*.log", "bit": 3}, {"node": BROKEN, "file": "t-0/*.log"}),
    "stale-blocks": Case(
        {"node": "node-4", "file": "t-0/*.log", "count": 2},
        {"node": BROKEN, "file": "t-0/*.log", "age_ms": 500},
    ),
    "clock-jump": Case({**_FAKE_NODES, "ms": -3_600_000}, {**_REAL_NODE, "ms": -3_600_000}),
    "clock-skew": Case({**_FAKE_NODES, "ppm": 100_000}, {**_REAL_NODE, "ppm": 100_000}),
    "disconnect": Case(_FAKE_NODES, _REAL_NODE, backends=(DOCKER,)),
    "memory": Case({**_FAKE_NODES, "mb": 128}, {**_REAL_NODE, "mb": 256}, backends=(DOCKER,)),
    "cpu": Case({**_FAKE_NODES, "cpus": 0.1}, {**_REAL_NODE, "cpus": 0.05}, backends=(DOCKER,)),
}
