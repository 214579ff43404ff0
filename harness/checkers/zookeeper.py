"""Rules on ZooKeeper's tree over time: elections take new epochs, and no old controller writes.

Each checker reads the journal's `state` events alone, and is linear in them.
"""

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import Need, checker
from fencepost.harness.checkers.control import (
    DECIDED,
    ControlHistory,
    ControllerObservation,
    PartitionObservation,
    TopicPartition,
)
from fencepost.results.records.verdict import Basis, Finding

ELECTIONS = Check(
    "controller-epochs-grow", "A controller epoch was taken twice, or went back", "INT-64", Basis.PRESENCE
)
WRITES = Check("old-controller-wrote", "An older controller wrote after a newer one", "DINT-04", Basis.PRESENCE)


@checker(ELECTIONS, rank=74, needs=[Need.ZOOKEEPER], every_run=True, rests_on=["state:controller"])
def controller_epochs_grow(control: ControlHistory) -> Finding:
    """Judge that each election takes an epoch above the one before, also if the same broker is elected again."""
    wrong: list[tuple[ControllerObservation, ControllerObservation]] = []
    last: ControllerObservation | None = None
    elections, vacant = 0, True
    for view in control.controllers:
        if view.observer != DECIDED:
            continue
        if view.active < 0:
            vacant = True
            continue
        if vacant or last is None or (view.active, view.epoch) != (last.active, last.epoch):
            elections += 1
            if last is not None and (view.epoch < last.epoch or (vacant and view.epoch == last.epoch)):
                wrong.append((last, view))
        last, vacant = view, False
    if not wrong:
        return ELECTIONS.held(max(0, elections - 1), f"Each of {elections} elections seen took a new controller epoch.")
    before, after = wrong[0]
    return ELECTIONS.broken(
        elections,
        f"Controller {after.active} was elected at epoch {after.epoch} after an election at epoch {before.epoch}.",
        ("epoch", "controller", "at", "then epoch", "controller", "at"),
        [(a.epoch, a.active, f"{a.t:.2f} s", b.epoch, b.active, f"{b.t:.2f} s") for a, b in wrong],
        at=after.t,
    )


@checker(WRITES, rank=75, needs=[Need.ZOOKEEPER], every_run=True, rests_on=["state:partition"])
def no_old_controller_writes(control: ControlHistory) -> Finding:
    """Judge that the controller epoch in a partition's state never goes back.

    A leader that writes the state itself (below KIP-343's level) uses the epoch that it received, and its write fails
    once a newer controller has written.
    """
    last: dict[TopicPartition, PartitionObservation] = {}
    wrong: list[tuple[PartitionObservation, PartitionObservation]] = []
    judged = 0
    for view in control.partitions:
        if view.observer != DECIDED or view.controller_epoch < 0:
            continue
        before = last.get(view.partition)
        if before and before.life == view.life:
            judged += 1
            if view.controller_epoch < before.controller_epoch:
                wrong.append((before, view))
        last[view.partition] = view
    if not wrong:
        return WRITES.held(judged, f"None of {judged} new states of partitions was of an older controller.")
    topic, number = wrong[0][1].partition
    return WRITES.broken(
        judged,
        f"The state of {topic}-{number} went back to controller epoch {wrong[0][1].controller_epoch}.",
        ("partition", "controller epoch", "at", "then", "at", "leader", "leader epoch"),
        [
            (
                "-".join(map(str, b.partition)),
                a.controller_epoch,
                f"{a.t:.2f} s",
                b.controller_epoch,
                f"{b.t:.2f} s",
                b.leader,
                b.leader_epoch,
            )
            for a, b in wrong
        ],
        at=wrong[0][1].t,
    )
