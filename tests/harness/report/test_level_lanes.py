"""A rolling upgrade shows as a step from level to level, node by node."""

from __future__ import annotations

from fencepost.harness.report.node_lanes import level_lanes, node_marks, release_lanes
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.report.test_zookeeper_lanes import as_tuples, zookeeper_plan


def started(builder: JournalBuilder, t: float, node: str, level: str | None) -> JournalBuilder:
    return builder.at(t).event("node", node, "started", {"level": level}, node)


def test_each_process_is_shown_at_its_level() -> None:
    builder = started(
        started(started(JournalBuilder(), 1.0, "zk-1", None), 1.5, "node-4", "base"), 2.0, "node-5", "base"
    )
    builder.at(4.0).event("node", "node-4", "stopped", {"exit_code": 0}, "node-4")
    started(builder, 5.0, "node-4", "heartbeats").at(9.0).event("run", "r", "end")
    (rows,) = level_lanes(zookeeper_plan(), builder.journal())
    assert [(label, as_tuples(segments)) for label, segments in rows.rows] == [
        ("4", [(1.5, 4.0, "standby", "base"), (5.0, 9.0, "active", "heartbeats")]),
        ("5", [(2.0, 9.0, "standby", "base")]),
    ]


def test_each_process_is_shown_with_its_release() -> None:
    builder = JournalBuilder().at(1.0).event("node", "node-4", "started", {"release": "3.9.1"}, "node-4")
    builder.at(4.0).event("node", "node-4", "stopped", {"exit_code": 0}, "node-4")
    builder.at(5.0).event("node", "node-4", "started", {"release": "4.3.1"}, "node-4").at(9.0).event("run", "r", "end")
    plan, journal = zookeeper_plan(), builder.journal()
    (rows,) = release_lanes(plan, journal)
    assert [(label, as_tuples(segments)) for label, segments in rows.rows] == [
        ("4", [(1.0, 4.0, "standby", "3.9.1"), (5.0, 9.0, "active", "4.3.1")])
    ]
    assert [(mark.t, mark.label) for mark in node_marks(plan.node("node-4"), journal)] == [(4.0, ""), (5.0, "4.3.1")]


def test_a_cluster_at_one_level_needs_no_such_lane() -> None:
    builder = started(started(JournalBuilder(), 1.0, "node-4", "base"), 2.0, "node-5", "base")
    assert level_lanes(zookeeper_plan(), builder.journal()) == ()
