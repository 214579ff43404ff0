"""A snapshot that leaves out the racks of brokers (against K631-61: a BrokerRecord carries the rack; K631-23)."""

from __future__ import annotations

from dataclasses import replace

from fencepost.cluster_impl.designs.quorum import snapshot_records
from fencepost.cluster_impl.designs.quorum.image import BrokerRegistration
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-23", "K631-61"),
    scenarios=(),
    unit="tests/mutants/unknown/test_outlives.py::test_a_broker_keeps_its_rack_in_a_snapshot",
    kind=Kind.OUTLIVES,
)


def apply() -> None:
    honest = snapshot_records._broker

    def without_rack(broker: BrokerRegistration) -> m.BrokerRecord:
        return honest(replace(broker, rack=None))

    snapshot_records._broker = without_rack
