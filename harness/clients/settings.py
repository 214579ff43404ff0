"""How confluent-kafka's clients are set up: patient enough for a failover, too impatient to sit out a fault.

The timeouts follow the plan's own protocol timeouts, so that a story at another scale has clients at that scale.
"""

import logging
from typing import Any

from harness.plan.model import Timing

Settings = dict[str, Any]

BATCH = 100
"""Records: else all that was held up would go in one request, and not through a link that lets some bytes pass."""

UNHEARD = logging.Logger("fencepost.clients")
"""What goes wrong is told by errors and reports. The library's own lines would go over whatever a terminal shows."""
UNHEARD.addHandler(logging.NullHandler())


def common(bootstrap: str, timing: Timing, client_id: str) -> Settings:
    patience = max(1000, timing.lease_ms)
    return {
        "bootstrap.servers": bootstrap,
        "client.id": client_id,
        "log_level": 0,
        "logger": UNHEARD,
        "log.connection.close": False,
        "broker.address.family": "v4",
        "socket.timeout.ms": patience,
        "socket.connection.setup.timeout.ms": patience,
        "reconnect.backoff.ms": 20,
        "reconnect.backoff.max.ms": 200,
        "retry.backoff.ms": 50,
        "retry.backoff.max.ms": 200,
        "topic.metadata.refresh.interval.ms": 1000,
        "topic.metadata.refresh.fast.interval.ms": 50,
    }


def admin(bootstrap: str, timing: Timing, patience: float) -> Settings:
    """`patience` in seconds: brokers may carry a command out, all of it, before they answer."""
    return common(bootstrap, timing, "fencepost-admin") | {"socket.timeout.ms": int(patience * 1000)}


def producer(
    bootstrap: str, timing: Timing, name: str, *, acks: str, idempotent: bool, retry: bool, timeout_ms: int
) -> Settings:
    """`timeout_ms` bounds a record from `produce` to its report. Without `retry` its one attempt tells its fate."""
    settings = common(bootstrap, timing, name) | {
        "acks": acks,
        "enable.idempotence": idempotent,
        "linger.ms": 2,
        "batch.num.messages": BATCH,
        "message.timeout.ms": timeout_ms,
        "request.timeout.ms": max(1000, timing.lease_ms),
    }
    return settings if retry else settings | {"retries": 0}


def patience_ms(timing: Timing) -> int:
    """How long a record of the workload may take when nothing is broken any more: a lease, an election, and a retry."""
    return 4 * timing.lease_ms + 2 * timing.election_ms + 2000


def settle_seconds(timing: Timing) -> float:
    """After so long a healed partition shows all it has: who holds the high watermark back has left the ISR."""
    return 2 * timing.lag_ms / 1000 + 1.0


def consumer(bootstrap: str, timing: Timing, name: str) -> Settings:
    """A consumer that is told when its position is gone, in place of being moved in silence."""
    return common(bootstrap, timing, name) | {
        "group.id": f"fencepost-{name}",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "error",
        "fetch.wait.max.ms": 100,
        "fetch.error.backoff.ms": 50,
    }
