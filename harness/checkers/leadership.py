"""Leadership as the nodes described it: one leader for each epoch, growing epochs, a lawful ISR, one controller.

Each checker reads the journal's `state` events alone, and is linear in them. The views are samples, taken when
something changed: a state between two samples is not judged. A view that is compared with no other one is not judged
either, and nothing is judged to hold where no decision was seen: what brokers say of leaders is then all there is.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import Need, checker
from fencepost.harness.checkers.control import (
    DECIDED,
    ControlHistory,
    ControllerObservation,
    PartitionObservation,
    TopicPartition,
    named_observer,
)
from fencepost.harness.checkers.topics_at_end import TopicsAtEnd
from fencepost.harness.plan.dialect import Dialect
from fencepost.results.records.verdict import Basis, Finding

ONE_LEADER = Check("one-leader", "A leader epoch had two leaders", "ISR-01", Basis.PRESENCE)
EPOCHS_GROW = Check("leader-epochs-grow", "A leader epoch went back", "ISR-02", Basis.PRESENCE)
EPOCHS_OUTLIVE = Check(
    "epochs-outlive-topics", "A topic made again began at an earlier leader epoch", "D631-17", Basis.PRESENCE
)
LAWFUL_ISR = Check("lawful-isr", "An ISR held an unassigned replica, or lacked its leader", "ISR-03", Basis.PRESENCE)
ONE_CONTROLLER = Check("one-controller", "A controller epoch had two active controllers", "CTRL-01", Basis.PRESENCE)
ONE_CONTROLLER_IN_ZOOKEEPER = replace(ONE_CONTROLLER, requirement="INT-01", also=(ONE_CONTROLLER.requirement,))
"""The same on designs with ZooKeeper, whose document states it as well."""


@checker(ONE_LEADER, rank=70, needs=[Need.FENCING], every_run=True, rests_on=["state:partition"])
def one_leader(control: ControlHistory) -> Finding:
    """Judge that each leader epoch had one leader. A view without a leader (-1) contradicts none."""
    first: dict[tuple[TopicPartition, tuple[int, int]], PartitionObservation] = {}
    views = 0
    wrong: list[tuple[PartitionObservation, PartitionObservation]] = []
    for view in control.partitions:
        if view.leader < 0 or not view.has_epoch:
            continue
        views += 1
        known = first.setdefault((view.partition, view.version), view)
        if known.leader != view.leader:
            wrong.append((known, view))
    if not wrong:
        message = f"Each of {len(first)} leader epochs seen had one leader ({views} views)."
        return ONE_LEADER.held(views - len(first) if control.shows_decisions else 0, message)
    _, view = wrong[0]
    return ONE_LEADER.broken(
        len(first),
        f"Two leaders of {_name(view)} were named for epoch {view.leader_epoch}.",
        ("partition", "leader epoch", "leader", "named by", "at", "other leader", "named by", "at"),
        [(_name(b), b.leader_epoch, a.leader, *_seen(a), b.leader, *_seen(b)) for a, b in wrong],
        at=wrong[0][1].t,
    )


@checker(EPOCHS_GROW, rank=71, needs=[Need.FENCING], every_run=True, rests_on=["state:partition"])
def leader_epochs_grow(control: ControlHistory) -> Finding:
    """Judge that leader epochs grow in the views of one process of one node; a restarted process may know less."""
    last: dict[tuple[str, int, TopicPartition], PartitionObservation] = {}
    wrong: list[tuple[PartitionObservation, PartitionObservation]] = []
    views = [view for view in control.partitions if view.has_epoch]
    for view in views:
        key = (view.observer, control.incarnation(view.observer, view.t), view.partition)
        before = last.get(key)
        if before and view.version < before.version:
            wrong.append((before, view))
        last[key] = view
    if not wrong:
        message = f"No leader epoch went back in {len(views)} views of partitions."
        return EPOCHS_GROW.held(len(views) - len(last) if control.shows_decisions else 0, message)
    before, after = wrong[0]
    where = named_observer(after.observer) if after.observer == DECIDED else f"the views of {after.observer}"
    return EPOCHS_GROW.broken(
        len(views),
        f"The leader epoch of {_name(after)} went back from {before.leader_epoch} to {after.leader_epoch} in {where}.",
        ("partition", "seen by", "leader epoch", "at", "then", "at"),
        [
            (_name(b), named_observer(b.observer), a.leader_epoch, f"{a.t:.2f} s", b.leader_epoch, f"{b.t:.2f} s")
            for a, b in wrong
        ],
        at=after.t,
    )


@checker(EPOCHS_OUTLIVE, rank=71, needs=[Need.DECISIONS], rests_on=["state:partition"])
def epochs_outlive_topics(
    control: ControlHistory, topics: TopicsAtEnd, dialect: Dialect = Dialect.KIP_631
) -> list[Finding]:
    """Judge, on the draft, that a topic made again under a name begins above the decided epochs of the earlier ones.

    Other designs begin with 0 again: their clients tell the topics apart by their ids.
    """
    if dialect is not Dialect.KIP_631:
        return []
    highest: dict[str, PartitionObservation] = {}
    begun: set[tuple[TopicPartition, int]] = set()
    rows: list[tuple[PartitionObservation, PartitionObservation]] = []
    earlier: dict[tuple[str, int], PartitionObservation] = {}
    judged = 0
    for view in control.partitions:
        topic = view.partition[0]
        if view.observer != DECIDED or not view.has_epoch:
            continue
        known = highest.get(topic)
        if known is not None and known.life < view.life:
            earlier.setdefault((topic, view.life), known)
        before = earlier.get((topic, view.life))
        if before is not None and (view.partition, view.life) not in begun:
            judged += 1
            if view.leader_epoch <= before.leader_epoch:
                rows.append((before, view))
        begun.add((view.partition, view.life))
        if known is None or view.leader_epoch > known.leader_epoch:
            highest[topic] = view
    if not rows:
        return [EPOCHS_OUTLIVE.held(judged, f"Each of {judged} partitions of topics made again began at a new epoch.")]
    if topics.forgotten_by:
        return [EPOCHS_OUTLIVE.unjudged(f"The fault {topics.forgotten_by} took away what a voter had decided.")]
    first, then = rows[0]
    return [
        EPOCHS_OUTLIVE.broken(
            judged,
            f"{_name(then)} of a topic made again began at leader epoch {then.leader_epoch} at {then.t:.2f} s; "
            f"{_name(first)} of the earlier topic had reached {first.leader_epoch}.",
            ("partition", "begins at leader epoch", "at", "earlier partition", "leader epoch", "at"),
            [(_name(b), b.leader_epoch, f"{b.t:.2f} s", _name(a), a.leader_epoch, f"{a.t:.2f} s") for a, b in rows],
            at=then.t,
        )
    ]


@checker(
    LAWFUL_ISR,
    rank=72,
    needs=[Need.DECISIONS],
    every_run=True,
    rests_on=["state:partition"],
    counts=["state:partition"],
)
def lawful_isr(
    control: ControlHistory,
    assigned: Mapping[TopicPartition, tuple[int, ...]],
    dialect: Dialect = Dialect.KIP_631,
) -> Finding:
    """Judge that each ISR holds its leader, and assigned replicas only.

    If a view does not describe the assignment, each replica that ever was assigned is lawful: in `assigned`, from the
    plan, or in another view.

    Where there are no controllers, a reassignment ends with the ISR still holding the old leader, and the next leader's
    first own ISR is without it ("write (RAR + ISR) as the new ISR", replication design V2,
    completePartitionReassignment). So a replica that was assigned and in the ISR may stay in it for a while. It may not
    come back, and not be in the last ISR under a leader.
    """
    may_outlast = not dialect.has_controllers
    ever: dict[TopicPartition, set[int]] = {partition: set(replicas) for partition, replicas in assigned.items()}
    for view in control.partitions:
        if view.replicas is not None:
            ever.setdefault(view.partition, set()).update(view.replicas)
    rows: list[tuple[Any, ...]] = []
    first: list[float] = []
    judged = 0
    staying: dict[TopicPartition, set[int]] = {}
    last = {view.partition: view for view in control.partitions if view.observer == DECIDED}
    for view in control.partitions:
        replicas = view.replicas if view.replicas is not None else ever.get(view.partition)
        if view.leader < 0 and replicas is None:
            continue
        judged += 1
        unassigned = set(view.isr) - set(replicas) if replicas is not None else set()
        if may_outlast and view.observer == DECIDED:
            outlasting = unassigned & staying.get(view.partition, set())
            staying[view.partition] = set(view.isr) - (unassigned - outlasting)
            if view is not last[view.partition] or view.leader < 0:
                unassigned -= outlasting
        leader_outside_isr = view.leader >= 0 and view.leader not in view.isr
        if unassigned or leader_outside_isr:
            why = f"{', '.join(map(str, sorted(unassigned)))} not assigned" if unassigned else "without the leader"
            isr = ", ".join(map(str, view.isr))
            rows.append((_name(view), view.leader, view.leader_epoch, isr, why, *_seen(view)))
            first.append(view.t)
    if not rows:
        message = f"Each of {judged} ISRs seen held its leader and assigned replicas only."
        return LAWFUL_ISR.held(judged if control.shows_decisions else 0, message)
    return LAWFUL_ISR.broken(
        judged,
        f"{len(rows)} of {judged} ISRs seen hold an unassigned replica or lack their leader.",
        ("partition", "leader", "leader epoch", "ISR", "wrong", "seen by", "at"),
        rows,
        at=min(first),
    )


@checker(ONE_CONTROLLER, rank=73, needs=[Need.QUORUM], every_run=True, rests_on=["state:controller"])
def one_controller(control: ControlHistory) -> Finding:
    """Judge that each controller epoch had one active controller. In two epochs, two may be active side by side."""
    return _one_controller(control, ONE_CONTROLLER)


@checker(ONE_CONTROLLER_IN_ZOOKEEPER, rank=73, needs=[Need.ZOOKEEPER], every_run=True, rests_on=["state:controller"])
def one_controller_in_zookeeper(control: ControlHistory) -> Finding:
    """Judge that each epoch of an election in ZooKeeper had one active controller."""
    return _one_controller(control, ONE_CONTROLLER_IN_ZOOKEEPER)


def _one_controller(control: ControlHistory, check: Check) -> Finding:
    first: dict[int, ControllerObservation] = {}
    wrong: list[tuple[ControllerObservation, ControllerObservation]] = []
    for view in control.controllers:
        if view.active < 0:
            continue
        known = first.setdefault(view.epoch, view)
        if known.active != view.active:
            wrong.append((known, view))
    if not wrong:
        return check.held(len(first), f"Each of {len(first)} controller epochs seen had one active controller.")
    return check.broken(
        len(first),
        f"Two active controllers were named for epoch {wrong[0][1].epoch}.",
        ("epoch", "active", "named by", "at", "other", "named by", "at"),
        [(b.epoch, a.active, *_seen(a), b.active, *_seen(b)) for a, b in wrong],
        at=wrong[0][1].t,
    )


def _seen(view: PartitionObservation | ControllerObservation) -> tuple[str, str]:
    """Return the cells for the observer and the time of a view."""
    return named_observer(view.observer), f"{view.t:.2f} s"


def _name(view: PartitionObservation) -> str:
    topic, number = view.partition
    return f"{topic}-{number}"
