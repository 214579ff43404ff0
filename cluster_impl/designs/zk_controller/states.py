"""The states of KIP-343, which brokers ask for and the controller grants."""

from __future__ import annotations

from enum import IntEnum


class BrokerState(IntEnum):
    """KIP-343, BrokerState Enum. In a heartbeat INITIAL asks for nothing: the sender wants to know where it stands.

    The controller never holds a broker to be INITIAL; a broker is INITIAL until it is answered for the first time, and
    counts as fenced. UNKNOWN stands for every number that is not defined.
    """

    INITIAL = 0
    INACTIVE = 1
    ACTIVE = 2
    STOPPING = 3
    UNKNOWN = -1

    @property
    def is_live(self) -> bool:
        """Whether a broker in this state is part of the cluster: it is in the metadata and may hold a leadership."""
        return self in (BrokerState.ACTIVE, BrokerState.STOPPING)

    @classmethod
    def _missing_(cls, value: object) -> BrokerState:
        return cls.UNKNOWN
