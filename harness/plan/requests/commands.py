"""The common parts of the commands that a controller sends to a broker.

Besides the epochs under test they carry the state that ZooKeeper holds, so that a command that is accepted changes
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked
from fencepost.harness.plan.base import NodeRef, Value
from fencepost.harness.plan.requests.request import KafkaRequest


@dataclass(frozen=True)
class Sender:
    """The controller in whose name a command is sent, and the epoch of the broker that receives it."""

    controller: int
    controller_epoch: int
    broker_epoch: int

    @property
    def sent(self) -> dict[str, object]:
        """Return the epochs that are sent, for the journal."""
        return asdict(self)

    @property
    def fields(self) -> dict[str, object]:
        """Return the fields with which each command begins."""
        return {
            "controller_id": self.controller,
            "controller_epoch": self.controller_epoch,
            "broker_epoch": self.broker_epoch,
        }


class OfController(KafkaRequest):
    """A request in the name of the controller `controller`, to a broker's INTERNAL listener."""

    controller: NodeRef = "active-controller"
    controller_epoch: Value = "current"
    broker_epoch: Value = "current"
    """The epoch of the registration of the broker that receives the request."""

    def sent_by(self, run: Asked) -> Sender:
        """Return the sender that the plan names, with its epochs as numbers."""
        return Sender(
            run.id(self.controller),
            run.controller_epoch(self.controller_epoch),
            run.broker_epoch(self.broker_epoch, run.receiver),
        )


def first_error(whole: int, partitions: Sequence[int], sent: Mapping[str, object]) -> ProbeAnswer:
    """Return the error of the whole request, else that of its partition. `of` says which it is."""
    if whole:
        return answered(whole, of="the request", sent=sent)
    error = next((each for each in partitions if each), 0)
    return answered(error, of="the partition", sent=sent) if error else answered(error, sent=sent)
