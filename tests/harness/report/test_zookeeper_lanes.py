"""Lanes of ZooKeeper: servers, the controller, outdated metadata."""

from __future__ import annotations

from fencepost.harness.judge import judge
from fencepost.harness.plan.model import Plan
from fencepost.harness.report.node_lanes import broker_lanes
from fencepost.harness.report.page import render
from fencepost.harness.report.shapes import Bars, Segment
from fencepost.harness.report.zookeeper_lanes import staleness_lanes, zookeeper_lanes
from fencepost.results.records.journal import Journal
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

SERVER = {"name": "zk-1", "id": 1, "index": 1, "roles": ["zookeeper"]}
BROKERS = [{"name": f"node-{id}", "id": id, "index": id, "roles": ["broker"]} for id in (4, 5)]
DUPLICATE = BROKERS[0] | {"name": "node-4b", "index": 14, "start": "later", "duplicate_of": "node-4"}


def zookeeper_plan() -> Plan:
    return plan(topology={"nodes": [SERVER, *BROKERS, DUPLICATE]})


class Tale(JournalBuilder):
    """Times as given; the rest as a journal has it."""

    def process(self, t: float, node: str, phase: str) -> Tale:
        self.at(t).event("node", node, phase, None, node)
        return self

    def seen(self, t: float, what: str, by: str | None = None, **data: object) -> Tale:
        self.at(t).event("state", by or "log", "seen", {"what": what, **data}, by)
        return self

    def registered(self, t: float, state: str, epoch: int, node: str = "node-4") -> Tale:
        return self.seen(t, "broker", node=node, id=4, state=state, epoch=epoch, version=5)

    def end(self, t: float) -> Journal:
        self.at(t).event("run", "r", "end")
        return self.journal()


def as_tuples(segments: tuple[Segment, ...]) -> list[tuple[float, float, str, str]]:
    return [(each.start, each.end, each.kind, each.labels[0] if each.labels else "") for each in segments]


def lane(lanes: tuple[Bars, ...], name: str) -> list[tuple[float, float, str, str]]:
    return as_tuples(next(each.segments for each in lanes if each.name == name))


def test_a_server_is_shown_by_its_mode_and_by_what_became_of_it() -> None:
    tale = Tale().process(1.0, "zk-1", "started").process(2.0, "zk-1", "ready")
    tale.seen(3.0, "server", "zk-1", mode="leader").seen(3.1, "answer", "zk-1", state="serving")
    tale.seen(5.0, "server", "zk-1", mode="").seen(5.1, "answer", "zk-1", state="refusing")
    tale.process(6.0, "zk-1", "paused").process(7.0, "zk-1", "resumed").process(8.0, "zk-1", "killed")
    assert lane(zookeeper_lanes(zookeeper_plan(), tale.end(9.0)), "zk-1") == [
        (1.0, 2.0, "starting", "starting"),
        (2.0, 3.0, "standby", ""),
        (3.0, 5.0, "ensemble", "leads the ensemble"),
        (5.0, 6.0, "fenced", "no quorum"),
        (6.0, 7.0, "paused", "paused"),
        (7.0, 8.0, "fenced", "no quorum"),
    ]


def test_the_controller_is_shown_while_it_holds_the_znode_and_a_server_tells() -> None:
    tale = Tale().seen(1.0, "controller", active=4, epoch=1).seen(3.0, "controller", active=-1, epoch=1)
    tale.seen(4.0, "controller", active=5, epoch=2).seen(6.0, "ensemble", answers=False)
    tale.seen(8.0, "ensemble", answers=True)
    assert lane(zookeeper_lanes(zookeeper_plan(), tale.end(9.0)), "controller") == [
        (1.0, 3.0, "controller", "node-4 · epoch 1"),
        (3.0, 4.0, "starting", "none"),
        (4.0, 6.0, "controller", "node-5 · epoch 2"),
        (6.0, 8.0, "silent", "no server answers"),
        (8.0, 9.0, "controller", "node-5 · epoch 2"),
    ]


def test_a_broker_is_shown_as_zookeeper_and_the_controller_have_it() -> None:
    tale = Tale().process(1.0, "node-4", "started").process(1.5, "node-4", "ready")
    tale.registered(2.0, "inactive", 17).registered(3.0, "active", 17).registered(5.0, "gone", 17)
    tale.registered(6.0, "active", 4294967313)
    assert lane(broker_lanes(zookeeper_plan(), tale.end(9.0)), "node-4") == [
        (1.0, 1.5, "starting", "starting"),
        (1.5, 2.0, "starting", "not active yet"),
        (2.0, 3.0, "fenced", "inactive"),
        (3.0, 5.0, "active", "active · epoch 0x11"),
        (5.0, 6.0, "fenced", "not registered"),
        (6.0, 9.0, "active", "active · epoch 0x100000011"),
    ]


def test_an_id_that_its_duplicate_registered_is_shown_at_both() -> None:
    tale = Tale().process(1.0, "node-4", "ready").process(1.1, "node-4b", "ready")
    tale.registered(2.0, "active", 17).registered(3.0, "gone", 17).registered(4.0, "active", 18, node="node-4b")
    lanes = broker_lanes(zookeeper_plan(), tale.end(6.0))
    assert lane(lanes, "node-4")[1:] == [
        (2.0, 3.0, "active", "active · epoch 0x11"),
        (3.0, 4.0, "fenced", "not registered"),
        (4.0, 6.0, "fenced", "node-4b has its id"),
    ]
    assert lane(lanes, "node-4b") == [
        (1.1, 4.0, "duplicate", "runs with the same id"),
        (4.0, 6.0, "active", "active · epoch 0x12"),
    ]


def test_old_metadata_is_shown_for_as_long_as_it_is_handed_out() -> None:
    tale = Tale().registered(1.0, "active", 17).seen(1.1, "answer", "node-4", id=4, state="serving")
    tale.seen(1.2, "listed", "node-4", brokers=[4])
    assert staleness_lanes(tale.journal()) == ()
    tale.seen(3.0, "broker", node="node-5", id=5, state="active", epoch=18)
    (rows,) = staleness_lanes(tale.seen(6.0, "listed", "node-4", brokers=[4, 5]).end(9.0))
    assert [(label, as_tuples(segments)) for label, segments in rows.rows] == [
        ("4", [(3.0, 6.0, "stale", "up to 3.0 s old")])
    ]


def test_the_page_names_brokers_with_outdated_metadata() -> None:
    tale = Tale().registered(1.0, "active", 17).seen(1.1, "answer", "node-4", id=4, state="serving")
    tale.seen(1.2, "listed", "node-4", brokers=[4])
    fresh = tale.journal()
    tale.seen(3.0, "broker", node="node-5", id=5, state="active", epoch=18)
    old = tale.seen(6.0, "listed", "node-4", brokers=[4, 5]).end(9.0)
    made = zookeeper_plan()
    assert "Outdated metadata" not in render(made, fresh, judge(made, fresh), replay="fencepost replay r")
    page = render(made, old, judge(made, old), replay="fencepost replay r")
    assert "Outdated metadata" in page
    assert "brokers [4], [4, 5] since 3.00 s" in page
