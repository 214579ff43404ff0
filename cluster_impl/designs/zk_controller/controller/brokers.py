"""The registered brokers: /brokers/ids, read whole each time (003, ControllerContext and ReplicaStateMachine)."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from cluster_impl.coordination.steps import Found, Get, Steps, names, run
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.znodes import BrokerInfo

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Registration:
    """A znode below /brokers/ids. `epoch` is its czxid: broker epoch and incarnation id (KIP-343)."""

    broker_id: int
    epoch: int
    info: BrokerInfo


def read_registrations() -> Steps[dict[int, Registration]]:
    """All of them, with a watch on the list.

    A registration never changes: who comes back makes a new znode, which the list tells. One that goes while this reads
    is left out, one that nobody can read as well: the broker stays unknown rather than half known.
    """
    listed = yield from names(znodes.BROKER_IDS, watch=True)
    ids = sorted(int(name) for name in listed if name.isdecimal())
    outcomes = yield from run([Get(znodes.broker(broker_id)) for broker_id in ids])
    registrations = {}
    for broker_id, outcome in zip(ids, outcomes, strict=True):
        if not isinstance(outcome, Found):
            continue
        try:
            info = znodes.read_broker(broker_id, outcome.data)
        except MalformedZnode as problem:
            log.error("broker %d is treated as not registered: %s", broker_id, problem)
            continue
        registrations[broker_id] = Registration(broker_id, outcome.stat.czxid, info)
    return registrations
