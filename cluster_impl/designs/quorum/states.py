"""The states that a heartbeat names (KIP-631, BrokerHeartbeat), with their numbers on the wire."""

from __future__ import annotations

from enum import IntEnum


class BrokerState(IntEnum):
    """`UNKNOWN` only translates a number that this software is too old to know."""

    UNKNOWN = 0
    INITIAL = 1
    FENCED = 2
    ACTIVE = 3
    SHUTDOWN = 4

    @classmethod
    def _missing_(cls, value: object) -> BrokerState:
        return cls.UNKNOWN
