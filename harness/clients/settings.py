"""The settings of confluent-kafka's clients: timeouts that outlast a failover, but not a fault.

The timeouts follow the plan's own protocol timeouts, so that a scenario at another scale has clients at that scale.
"""

import logging
from typing import Any

from fencepost.harness.plan.model import MembershipSpec, Timing

ClientSettings = dict[str, Any]

BATCH = 100
"""Records: else all that was held up would go in one request, and not through a link that lets some bytes pass."""

MOST_BYTES = 1_000_000_000
"""The limit of the client library."""

UNHEARD = logging.Logger("fencepost.clients")
"""Discards the log lines of the library, which would disturb the terminal; errors and reports have the facts."""
UNHEARD.addHandler(logging.NullHandler())


def common(cluster: ClientSettings, timing: Timing, client_id: str) -> ClientSettings:
    """`cluster` are the settings by which it is reached: bootstrap servers and security."""
    timeout = max(1000, timing.lease_ms)
    return cluster | {
        "client.id": client_id,
        "log_level": 0,
        "logger": UNHEARD,
        "log.connection.close": False,
        "broker.address.family": "v4",
        "socket.timeout.ms": timeout,
        "socket.connection.setup.timeout.ms": timeout,
        "reconnect.backoff.ms": 20,
        "reconnect.backoff.max.ms": 200,
        "retry.backoff.ms": 50,
        "retry.backoff.max.ms": 200,
        "topic.metadata.refresh.interval.ms": 1000,
        "topic.metadata.refresh.fast.interval.ms": 50,
    }


def admin(cluster: ClientSettings, timing: Timing, timeout: float) -> ClientSettings:
    """`timeout` in seconds: brokers may carry a command out, all of it, before they answer."""
    return common(cluster, timing, "fencepost-admin") | {"socket.timeout.ms": int(timeout * 1000)}


def producer(
    cluster: ClientSettings, timing: Timing, name: str, *, acks: str, idempotent: bool, retry: bool, timeout_ms: int
) -> ClientSettings:
    """`timeout_ms` bounds a record from `produce` to its report. Without `retry` its one attempt tells its fate."""
    settings = common(cluster, timing, name) | {
        "acks": acks,
        "enable.idempotence": idempotent,
        "linger.ms": 2,
        "batch.num.messages": BATCH,
        "message.timeout.ms": timeout_ms,
        "request.timeout.ms": max(1000, timing.lease_ms),
    }
    return settings if retry else settings | {"retries": 0}


def large(producer: ClientSettings) -> ClientSettings:
    """Return the settings of a producer that leaves it to the broker whether a record is too large."""
    return producer | {"message.max.bytes": MOST_BYTES}


def record_timeout_ms(timing: Timing) -> int:
    """Return the time that a workload record may take in a healthy cluster: a lease, an election, and a retry."""
    return 4 * timing.lease_ms + 2 * timing.election_ms + 2000


def settle_seconds(timing: Timing) -> float:
    """Return the seconds after which a healed partition shows all records: lagging replicas have left the ISR."""
    return 2 * timing.lag_ms / 1000 + 1.0


def transactional(producer: ClientSettings, transactional_id: str, timeout_ms: int) -> ClientSettings:
    """Return the settings of a transactional producer. A record waits no longer than its transaction may last."""
    return producer | {
        "transactional.id": transactional_id,
        "transaction.timeout.ms": timeout_ms,
        "message.timeout.ms": timeout_ms,
        # The library refuses a request that may outlast the transaction.
        "socket.timeout.ms": min(producer["socket.timeout.ms"], timeout_ms),
    }


def member(consumer: ClientSettings, membership: MembershipSpec, name: str) -> ClientSettings:
    """Return the settings of a consumer that is a member of a group."""
    settings = consumer | {
        "group.id": membership.group,
        "group.protocol": membership.protocol,
        "max.poll.interval.ms": 2 * membership.session_ms,  # a rebalance waits so long for a member
    }
    if membership.static:
        settings |= {"group.instance.id": name}
    if membership.protocol == "consumer":
        return settings | {"group.remote.assignor": membership.strategy}
    return settings | {
        "session.timeout.ms": membership.session_ms,
        "heartbeat.interval.ms": membership.session_ms // 10,
        "partition.assignment.strategy": membership.strategy,
    }


def consumer(cluster: ClientSettings, timing: Timing, name: str, isolation: str = "read_committed") -> ClientSettings:
    """Return the settings of a consumer that gets an error when its position is lost, in place of a silent reset."""
    return common(cluster, timing, name) | {
        "isolation.level": isolation,
        "group.id": f"fencepost-{name}",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "error",
        "fetch.wait.max.ms": 100,
        "fetch.error.backoff.ms": 50,
    }
