"""The levels of the inter-broker protocol, which all brokers and the controller support.

A double roll raises the software first and the level second (KIP-343, Compatibility), so every level that this
software knows must work beside every other one.
"""

from __future__ import annotations

from enum import Enum


class Ibp(Enum):
    """Values are what `inter.broker.protocol.version` accepts; each level contains those above it."""

    BASE = "2.0"
    """Leaders write the partitions' state znodes themselves; a broker is alive as long as its session."""
    HEARTBEATS = "2.1"
    """KIP-343: incarnations, heartbeats, self-fencing, ISR changes by way of the controller."""
    REPLICA_EVENTS = "2.6"
    """A failed log dir is reported to the controller by ReplicaStateEvent, not by a znode."""

    @property
    def has_heartbeats(self) -> bool:
        return self is not Ibp.BASE

    @property
    def has_replica_events(self) -> bool:
        return self is Ibp.REPLICA_EVENTS

    @property
    def broker_info_version(self) -> int:
        """The version of the JSON in /brokers/ids/N; it announces that the broker heartbeats."""
        return 5 if self.has_heartbeats else 4
