"""The timeline of a run, put together from its lanes."""

from collections.abc import Sequence

from harness.checkers.history import read_history
from harness.plan.model import Plan
from harness.report.client_lanes import probe_lanes, producer_lanes
from harness.report.fault_lanes import bands, fault_lanes, step_lane
from harness.report.level_lanes import level_lanes
from harness.report.node_lanes import broker_lanes, controller_lanes
from harness.report.partition_lanes import partition_groups
from harness.report.shapes import Flag, Group, Timeline
from harness.report.state_change_lanes import move_lanes, queue_lanes
from harness.report.state_changes import StateChanges
from harness.report.zookeeper_lanes import staleness_lanes, zookeeper_lanes
from results.records.journal import Journal
from results.records.verdict import Finding


def build_timeline(plan: Plan, journal: Journal, numbered: Sequence[Finding], told: StateChanges) -> Timeline:
    """`numbered` are the findings to flag, the first as number 1."""
    history = read_history(journal)
    duration = max(journal.duration, 0.001)
    groups = [
        Group("story", (step_lane(plan, journal), *fault_lanes(journal))),
        Group("controllers", controller_lanes(plan, journal)),
        Group("ZooKeeper", zookeeper_lanes(plan, journal)),
        Group("brokers", (*broker_lanes(plan, journal), *level_lanes(plan, journal), *staleness_lanes(journal))),
        Group("state changes", (*queue_lanes(journal, told), *move_lanes(journal, told))),
        *partition_groups(plan, history, duration),
        Group("clients", (*producer_lanes(plan, history, duration), *probe_lanes(journal))),
    ]
    flags = tuple(
        Flag(
            finding.at,
            number,
            " ".join(filter(None, (finding.requirement, finding.title))),
            finding.difference is not None,
        )
        for number, finding in enumerate(numbered, start=1)
        if finding.at is not None
    )
    return Timeline(duration, tuple(group for group in groups if group.lanes), tuple(bands(journal)), flags)
