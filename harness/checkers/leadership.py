"""Leadership as the nodes told it: one leader for each epoch, epochs that only grow, a lawful ISR, one controller.

Each looks at the journal's `state` events alone, and is linear in them. What nobody saw, nobody judged: the views are
samples, taken when something changed.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.checkers.check import Check
from harness.checkers.control import DECIDED, ControlHistory, ControllerView, PartitionView, TopicPartition
from results.records.verdict import Basis, Finding

ONE_LEADER = Check("one-leader", "Two leaders in one leader epoch", "ISR-01", Basis.PRESENCE)
EPOCHS_GROW = Check("leader-epochs-grow", "A leader epoch went back", "ISR-02", Basis.PRESENCE)
LAWFUL_ISR = Check("lawful-isr", "An ISR with a stranger, or without its leader", "ISR-03", Basis.PRESENCE)
ONE_CONTROLLER = Check("one-controller", "Two active controllers in one epoch", "CTRL-01", Basis.PRESENCE)


def one_leader(history: ControlHistory) -> Finding:
    """A view without a leader (-1) contradicts none."""
    first: dict[tuple[TopicPartition, tuple[int, int]], PartitionView] = {}
    wrong: list[tuple[PartitionView, PartitionView]] = []
    for view in history.partitions:
        if view.leader < 0:
            continue
        known = first.setdefault((view.partition, view.version), view)
        if known.leader != view.leader:
            wrong.append((known, view))
    if not wrong:
        return ONE_LEADER.held(len(first), f"Each of {len(first)} leader epochs seen had one leader.")
    _, view = wrong[0]
    return ONE_LEADER.broken(
        len(first),
        f"Two leaders of {_name(view)} were named for epoch {view.leader_epoch}.",
        ("partition", "leader epoch", "leader", "named by", "at", "other leader", "named by", "at"),
        [
            (_name(b), b.leader_epoch, a.leader, a.observer, f"{a.t:.2f} s", b.leader, b.observer, f"{b.t:.2f} s")
            for a, b in wrong
        ],
        at=wrong[0][1].t,
    )


def leader_epochs_grow(history: ControlHistory) -> Finding:
    """In the sight of one process of one node; a restarted one may have to learn again."""
    last: dict[tuple[str, int, TopicPartition], PartitionView] = {}
    wrong: list[tuple[PartitionView, PartitionView]] = []
    for view in history.partitions:
        key = (view.observer, history.incarnation(view.observer, view.t), view.partition)
        before = last.get(key)
        if before and view.version < before.version:
            wrong.append((before, view))
        last[key] = view
    if not wrong:
        sentence = f"No leader epoch went back in {len(history.partitions)} views of partitions."
        return EPOCHS_GROW.held(len(history.partitions), sentence)
    return EPOCHS_GROW.broken(
        len(history.partitions),
        f"The leader epoch of {_name(wrong[0][1])} went back in the sight of {wrong[0][1].observer}.",
        ("partition", "seen by", "leader epoch", "at", "then", "at"),
        [(_name(b), b.observer, a.leader_epoch, f"{a.t:.2f} s", b.leader_epoch, f"{b.t:.2f} s") for a, b in wrong],
        at=wrong[0][1].t,
    )


def lawful_isr(
    history: ControlHistory, assigned: Mapping[TopicPartition, tuple[int, ...]], *, may_outlast: bool = False
) -> Finding:
    """Where a view does not say itself which replicas are assigned, each that ever was is lawful, `assigned` or not.

    `may_outlast`: a move ends with the ISR still holding the old leader, and the next leader's first own ISR is without
    it ("write (RAR + ISR) as the new ISR", replication design V2, completePartitionReassignment). So who was assigned
    and in the ISR may stay in it for a while. It may not come back, and not be there at the end under a leader.
    """
    ever: dict[TopicPartition, set[int]] = {partition: set(replicas) for partition, replicas in assigned.items()}
    for view in history.partitions:
        if view.replicas is not None:
            ever.setdefault(view.partition, set()).update(view.replicas)
    rows: list[tuple[Any, ...]] = []
    first: list[float] = []
    judged = 0
    staying: dict[TopicPartition, set[int]] = {}
    last = {view.partition: view for view in history.partitions if view.observer == DECIDED}
    for view in history.partitions:
        replicas = view.replicas if view.replicas is not None else ever.get(view.partition)
        if view.leader < 0 and replicas is None:
            continue
        judged += 1
        strangers = set(view.isr) - set(replicas) if replicas is not None else set()
        if may_outlast and view.observer == DECIDED:
            outlasting = strangers & staying.get(view.partition, set())
            staying[view.partition] = set(view.isr) - (strangers - outlasting)
            if view is not last[view.partition] or view.leader < 0:
                strangers -= outlasting
        headless = view.leader >= 0 and view.leader not in view.isr
        if strangers or headless:
            why = f"{', '.join(map(str, sorted(strangers)))} not assigned" if strangers else "without the leader"
            isr = ", ".join(map(str, view.isr))
            rows.append((_name(view), view.leader, view.leader_epoch, isr, why, view.observer, f"{view.t:.2f} s"))
            first.append(view.t)
    if not rows:
        return LAWFUL_ISR.held(judged, f"Each of {judged} ISRs seen held its leader and assigned replicas only.")
    return LAWFUL_ISR.broken(
        judged,
        f"{len(rows)} of {judged} ISRs seen hold a stranger or lack their leader.",
        ("partition", "leader", "leader epoch", "ISR", "wrong", "seen by", "at"),
        rows,
        at=min(first),
    )


def one_controller(history: ControlHistory, requirement: str = ONE_CONTROLLER.requirement) -> Finding:
    """Two may think so at one time, under a partition; never in one epoch. `requirement`: of the document at hand."""
    check = replace(ONE_CONTROLLER, requirement=requirement)
    first: dict[int, ControllerView] = {}
    wrong: list[tuple[ControllerView, ControllerView]] = []
    for view in history.controllers:
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
        [(b.epoch, a.active, a.observer, f"{a.t:.2f} s", b.active, b.observer, f"{b.t:.2f} s") for a, b in wrong],
        at=wrong[0][1].t,
    )


def _name(view: PartitionView) -> str:
    topic, number = view.partition
    return f"{topic}-{number}"
