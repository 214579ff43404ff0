"""Controllers that stop to make snapshots of the metadata."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fencepost.harness.checkers.control import read_control
from fencepost.harness.checkers.snapshots import snapshots_go_on
from fencepost.harness.checkers.stability import Stability
from fencepost.harness.checkers.topics_at_end import TopicsAtEnd
from fencepost.harness.judge import judge
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import Plan
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

pytestmark = pytest.mark.requirement("K631-25")

NODES = [{"name": f"node-{id}", "id": id, "index": id, "roles": ["controller"]} for id in (1, 2, 3)]
EACH_FOUR = {"all": {"metadata.snapshot.max.lag.records": "4"}}


def with_snapshots(settings: dict[str, Any] = EACH_FOUR) -> Plan:
    broker = {"name": "node-4", "id": 4, "index": 4, "roles": ["broker"]}
    return plan(topology={"nodes": [*NODES, broker]}, topics=[{"name": "t", "assignments": [[4]]}], settings=settings)


def run(*, begin: int = 40) -> JournalBuilder:
    """From 1 s on controller 1 leads; records up to offset `begin` are seen at 2 s, and nothing happens till 30 s."""
    builder = JournalBuilder().event("run", "r", "begin").at(1.0).controller(1, 1)
    builder.event("step", "work", "begin", {"do": "workload"}).event("step", "work", "end", {"do": "workload"})
    data = {"what": "partition", "topic": "t", "partition": 0, "leader": 4, "leader_epoch": 0, "isr": [4]}
    return builder.at(2.0).event("state", "log", "seen", data | {"offset": begin})


def judged(
    nodes: Path,
    builder: JournalBuilder,
    *snapshots: tuple[str, int],
    its_plan: Plan | None = None,
    dialect: Dialect = Dialect.KIP_631,
    topics: TopicsAtEnd | None = None,
) -> list[Finding]:
    for node, end in snapshots:
        folder = nodes / node / "data" / "__kafka_metadata-0"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{end:020}-{1:010}.checkpoint").touch()
    its_plan, journal = its_plan or with_snapshots(), builder.at(30.0).event("run", "r", "end").journal()
    stability = Stability(its_plan, dialect, journal, read_control(journal))
    return snapshots_go_on(its_plan, nodes, stability, topics or TopicsAtEnd())


def test_a_cluster_that_stops_to_make_snapshots_is_seen(tmp_path: Path) -> None:
    [finding] = judged(tmp_path, run(), ("node-1", 12), ("node-3", 33))
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.VIOLATION, 1)
    assert "The newest snapshot of any controller ends at offset 33" in finding.message
    verdict = judge(with_snapshots(), run().at(30.0).event("run", "r", "end").journal(), tmp_path)
    assert any(each.requirement == "K631-25" and each.verdict is Verdict.VIOLATION for each in verdict.findings)


def test_a_cluster_without_any_snapshot_is_seen(tmp_path: Path) -> None:
    [finding] = judged(tmp_path, run())
    assert finding.verdict is Verdict.VIOLATION


def test_a_controller_that_is_dead_all_the_time_is_no_excuse(tmp_path: Path) -> None:
    [finding] = judged(tmp_path, run().event("node", "node-3", "killed"))
    assert finding.verdict is Verdict.VIOLATION


@pytest.mark.parametrize(
    ("builder", "end"),
    [
        (run(), 34),
        (run().at(10.0).event("fault", "f", "intent", {"fault": "pause", "nodes": ["node-2"]}), 0),
        (run().at(10.0).controller(2, 2).at(20.0).controller(1, 3), 0),
        (run().at(10.0).event("node", "node-3", "exited").at(20.0).event("node", "node-3", "exited"), 0),
        (run(begin=6), 0),
        (run().at(4).event("node", "node-3", "killed").event("node", "node-2", "killed"), 0),
    ],
    ids=["a-newer-one", "a-fault", "failovers", "deaths", "not-overdue", "no-majority"],
)
def test_a_snapshot_that_was_made_or_that_nothing_promises_passes(
    tmp_path: Path, builder: JournalBuilder, end: int
) -> None:
    snapshots = [("node-2", end)] if end else []
    [finding] = judged(tmp_path, builder, *snapshots)
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, int(end > 0))


def test_what_the_document_does_not_say_is_not_judged(tmp_path: Path) -> None:
    assert judged(tmp_path, run(), its_plan=with_snapshots({})) == []
    assert judged(tmp_path, run(), dialect=Dialect.KRAFT) == []
    assert judged(tmp_path, run(), topics=TopicsAtEnd(forgotten_by="wiped")) == []
