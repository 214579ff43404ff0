"""A leader that writes its ISR without a compare-and-set (against decision DLD-04)."""

from __future__ import annotations

from dataclasses import replace

from fencepost.cluster_impl.coordination.steps import ANY_VERSION, Done, SetData, Steps
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.partition import isr_change
from fencepost.cluster_impl.designs.leader_driven.znodes import IsrState
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.mutants.defect import LEADER_DRIVEN, Defect

DEFECT = Defect(
    __name__,
    designs=(LEADER_DRIVEN,),
    rules=("DLD-04", "ISR-02"),
    scenarios=("v2-leader-replaced-unheard", "v2-leader-paused"),
    unit="tests/mutants/test_leader_driven_guarantees.py::test_an_isr_is_not_written_over_another_version",
)


def apply() -> None:
    isr_change.write_once = _overwrite


def _overwrite(partition: TopicPartition, wanted: IsrState) -> Steps[IsrState | None]:
    [outcome] = yield [SetData(znodes.isr(partition), znodes.write_isr(wanted), ANY_VERSION)]
    return replace(wanted, version=outcome.version) if isinstance(outcome, Done) else None
