"""A rolling upgrade shows as a step from level to level, node by node."""

from __future__ import annotations

from harness.report.level_lanes import level_lanes
from tests.harness.checkers.story import Story
from tests.harness.report.test_zookeeper_lanes import drawn, zookeeper_plan


def started(story: Story, t: float, node: str, level: str | None) -> Story:
    return story.at(t).event("node", node, "started", {"level": level}, node)


def test_each_process_is_shown_at_its_level() -> None:
    story = started(started(started(Story(), 1.0, "zk-1", None), 1.5, "node-4", "base"), 2.0, "node-5", "base")
    story.at(4.0).event("node", "node-4", "stopped", {"exit_code": 0}, "node-4")
    started(story, 5.0, "node-4", "heartbeats").at(9.0).event("run", "r", "end")
    (rows,) = level_lanes(zookeeper_plan(), story.journal())
    assert [(label, drawn(segments)) for label, segments in rows.rows] == [
        ("4", [(1.5, 4.0, "standby", "base"), (5.0, 9.0, "active", "heartbeats")]),
        ("5", [(2.0, 9.0, "standby", "base")]),
    ]


def test_a_cluster_at_one_level_needs_no_such_lane() -> None:
    story = started(started(Story(), 1.0, "node-4", "base"), 2.0, "node-5", "base")
    assert level_lanes(zookeeper_plan(), story.journal()) == ()
