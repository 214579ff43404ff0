"""The broker states of KIP-343: brokers request them, the controller grants them."""

from __future__ import annotations

from enum import IntEnum


class BrokerState(IntEnum):
    """KIP-343, BrokerState Enum.

    A broker is INITIAL, and fenced, until its first response. In a heartbeat INITIAL requests no state; the sender
    wants to learn its present one. The controller never records a broker as INITIAL. UNKNOWN is every undefined number.
    """

    INITIAL = 0
    INACTIVE = 1
    ACTIVE = 2
    STOPPING = 3
    UNKNOWN = -1

    @property
    def is_live(self) -> bool:
        """Return whether a broker in this state is in the metadata and may lead partitions."""
        return self in (BrokerState.ACTIVE, BrokerState.STOPPING)

    @classmethod
    def _missing_(cls, value: object) -> BrokerState:
        return cls.UNKNOWN
