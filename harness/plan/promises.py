"""The promises of a target about its records and its cluster: no claim that does not follow from them is asked."""

from __future__ import annotations

from typing import Final, Literal

from fencepost.faults.parameters import PlanModel

Blow = Literal["nothing", "pause", "stop", "kill", "power-loss"]
"""A blow to the process of a broker. Each is harder than the one before."""
BLOWS: Final[tuple[Blow, ...]] = ("nothing", "pause", "stop", "kill", "power-loss")
_OF_FAULTS: Final[dict[str, Blow]] = {
    "pause": "pause",
    "terminate": "stop",
    "rolling-restart": "stop",
    "kill": "kill",
    "crash-loop": "kill",
    "power-loss": "power-loss",
}
"""The blow that each fault of processes deals."""


class Promises(PlanModel):
    """The promises of a target. Without them it promises what Apache Kafka does."""

    replication: Literal["none", "isr", "storage"] = "isr"
    """`isr`: a partition has the replicas that a client asks for, and the in-sync ones hold what is acknowledged.
    `storage`: a service beside the brokers holds the records. `none`: one broker holds a record."""
    failover: bool = True
    """While a broker is away, another one serves its partitions."""
    fencing: bool = True
    """A leader epoch has one leader, and an old leader is refused."""
    survives: Blow = "power-loss"
    """The hardest blow to a broker after which acknowledged records are there: `pause` for one that keeps all in its
    memory, `stop` if SIGTERM makes it save them, `kill`, `power-loss`."""

    def unpromised(self, fault: str) -> str | None:
        """Return why acknowledged records need not outlive a fault; None if they have to."""
        blow = _OF_FAULTS.get(fault, "nothing")
        if BLOWS.index(blow) <= BLOWS.index(self.survives):
            return None
        return f"`{fault}` is more than it promises to survive (`promises: survives: {self.survives}`)"
