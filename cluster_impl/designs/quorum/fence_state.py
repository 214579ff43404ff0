"""The states in a heartbeat, with their numbers on the wire (KIP-631, BrokerHeartbeat and The Broker State Machine)."""

from __future__ import annotations

from enum import IntEnum


class FenceState(IntEnum):
    """A state of KIP-631's broker state machine. `UNKNOWN` stands for numbers that this software does not know."""

    UNKNOWN = 0
    INITIAL = 1
    FENCED = 2
    ACTIVE = 3
    SHUTDOWN = 4

    @classmethod
    def _missing_(cls, value: object) -> FenceState:
        return cls.UNKNOWN
