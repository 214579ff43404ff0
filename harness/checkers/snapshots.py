"""Snapshots go on: while records come, some controller makes the next snapshot of the metadata (KIP-631).

The active controller notifies one controller after the other once a snapshot lies too far behind. If none makes one,
though the active controller and a majority are left alone for long, the metadata log grows without end.

The name of the newest snapshot on the disks of all controllers says since when there was none: each ends where the
committed log ended when it was begun. A fault that took such files away leaves nothing to judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Final

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import Need, checker
from fencepost.harness.checkers.stability import Stability
from fencepost.harness.checkers.topics_at_end import TopicsAtEnd
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import Plan
from fencepost.results.records.verdict import Basis, Finding

GO_ON: Final = Check("snapshots-go-on", "No controller made the next snapshot of the metadata", "K631-25", Basis.FAULT)
MAX_LAG: Final = "metadata.snapshot.max.lag.records"
WITHIN: Final = 12.0
"""Seconds in which one is made for certain: 6.5 for a controller that may be gone, a heartbeat of 2, and some more."""
_HEARTBEAT: Final = 2.0
_FILES: Final = "*/__kafka_metadata-0/*-*.checkpoint"


@checker(GO_ON, rank=89, needs=[Need.QUORUM, Need.LOGS], rests_on=["state:controller"])
def snapshots_go_on(plan: Plan, nodes: Path, stability: Stability, topics: TopicsAtEnd) -> list[Finding]:
    """Judge, on the draft, that a snapshot was made within `WITHIN` of the record with which one was overdue.

    Linear in the disturbances, times the seconds of the run.
    """
    settings = plan.settings.of(controller=True, broker=False) if plan.settings else {}
    setting = settings.get(MAX_LAG) or ""
    if stability.dialect is not Dialect.KIP_631 or not setting.isdigit() or topics.forgotten_by:
        return []
    controllers = [node.name for node in plan.topology.nodes if "controller" in node.roles]
    ends = {name: max(_ends(nodes / name), default=0) for name in controllers}
    newest = max(ends.values())
    offsets = [
        (event.t, int(event.data["offset"]))
        for event in stability.journal.of("state")
        if not event.node and "offset" in event.data
    ]
    due = min((t for t, offset in offsets if offset + 1 - newest >= 2 * int(setting)), default=inf)
    quiet = next(_quiet(stability.undisturbed_by_requests, controllers, due), None)
    if quiet is None:
        return [GO_ON.held(int(newest > 0), f"Controllers made snapshots; the newest ends at offset {newest}.")]
    last = max(offset for _, offset in offsets)
    return [
        GO_ON.broken(
            1,
            f"The newest snapshot of any controller ends at offset {newest}, and at {due:.2f} s the log was "
            f"{2 * int(setting)} records ahead. None was made, although nothing disturbed the active controller and a "
            f"majority for {WITHIN:g} s from {quiet:.2f} s on.",
            ("controller", "its newest snapshot ends at", "last record seen", MAX_LAG),
            [(name, end, last, setting) for name, end in ends.items()],
            at=quiet + WITHIN,
        )
    ]


def _ends(node: Path) -> Iterator[int]:
    """Yield where the snapshots on the disk of a node end (KIP-630: `<end offset>-<epoch>.checkpoint`)."""
    return (int(each.name.partition("-")[0]) for each in node.glob(_FILES))


def _quiet(stability: Stability, controllers: list[str], due: float) -> Iterator[float]:
    """Yield the begin of each time of `WITHIN` in which nothing kept controllers from a snapshot; some may be dead."""
    deaths = [
        event.t for event in stability.journal.of("node", "exited", "killed", "stopped") if event.id in controllers
    ]
    begin = max(due, stability.disturbances.begun)
    while (end := begin + WITHIN) <= stability.journal.duration:
        active = stability.controllers(begin, end)
        if (
            len(active) == 1
            and not any(begin <= death <= end for death in deaths)
            and not any(stability.disturbances.of_node(each, begin, end, fatal=False) for each in controllers)
            and stability.holds_majority(active[0], begin, end)
            and not stability.disturbances.of_processors(controllers, begin, end, _HEARTBEAT)
        ):
            yield begin
        begin += 1.0
