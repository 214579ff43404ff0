"""Random faults of disks."""

from __future__ import annotations

from fencepost.faults.generation import Aim, GeneratedFault, HealOrder, Resource
from fencepost.faults.parameters import FaultParameters


def processes_of(broker: str) -> Resource:
    return Resource("processes of brokers", broker)


def disks_of(broker: str) -> Resource:
    return Resource("disks", broker)


def directory_fails(broker: str, parameters: FaultParameters, title: str) -> GeneratedFault:
    """Return the generated fault of a disk whose errors the node meets.

    It gives its directory up then, or ends by itself, as its design has it, so it is restarted when the disk works.
    """
    return GeneratedFault(
        parameters=parameters,
        aim=Aim(broker, 1, "brokers", (broker,)),
        heal_order=HealOrder.MACHINES,
        resources=(processes_of(broker), disks_of(broker)),
        title=title,
        brokers=1,
        exclusive=True,
        restart_when_healed=True,
    )
