"""The timeline of a run, assembled from its lanes."""

from collections.abc import Mapping, Sequence

from fencepost.harness.checkers.history import History
from fencepost.harness.plan.model import Plan
from fencepost.harness.report.client_lanes import probe_lanes, producer_lanes
from fencepost.harness.report.fault_lanes import bands, fault_lanes, step_lane
from fencepost.harness.report.level_lanes import level_lanes, release_lanes
from fencepost.harness.report.node_lanes import broker_lanes, controller_lanes
from fencepost.harness.report.partition_lanes import partition_groups
from fencepost.harness.report.shapes import Flag, Group, Timeline
from fencepost.harness.report.state_change_lanes import move_lanes, queue_lanes
from fencepost.harness.report.state_changes import StateChanges
from fencepost.harness.report.zookeeper_lanes import staleness_lanes, zookeeper_lanes
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Finding


def build_timeline(
    plan: Plan,
    journal: Journal,
    history: History,
    numbered: Sequence[Finding],
    state_changes: StateChanges,
    titles: Mapping[str, str],
    decisive: int | None = None,
) -> Timeline:
    """Return the timeline. `numbered` are the findings to flag, the first as number 1; `titles` are those of steps."""
    duration = max(journal.duration, 0.001)
    groups = [
        Group("scenario", (step_lane(plan, journal, titles), *fault_lanes(journal), *release_lanes(plan, journal))),
        Group("controllers", controller_lanes(plan, journal)),
        Group("ZooKeeper", zookeeper_lanes(plan, journal)),
        Group(
            "brokers",
            (
                *broker_lanes(plan, journal),
                *level_lanes(plan, journal),
                *staleness_lanes(journal),
            ),
        ),
        Group("state changes", (*queue_lanes(journal, state_changes), *move_lanes(journal, state_changes))),
        *partition_groups(plan, history, duration, numbered),
        Group("clients", (*producer_lanes(plan, history, duration), *probe_lanes(journal))),
    ]
    flags = tuple(
        Flag(
            finding.at,
            number,
            " ".join(filter(None, (finding.requirement, titles.get(finding.evidence.get("step", ""), finding.title)))),
            known=finding.difference is not None,
            is_decisive=number == decisive,
        )
        for number, finding in enumerate(numbered, start=1)
        if finding.at is not None
    )
    return Timeline(duration, tuple(group for group in groups if group.lanes), tuple(bands(journal)), flags)
