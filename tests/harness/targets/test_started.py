"""Both targets, started for real: six nodes behind links, ready as they say themselves, restarted, audited."""

from contextlib import closing
from pathlib import Path

import pytest

from faults.capabilities import Reach
from harness.cli.byhand import plan_by_hand
from harness.cluster import Cluster
from harness.errors import InfrastructureError
from harness.targets.target import load, names
from results.records.folder import RunFolder
from results.records.journal import JournalWriter

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("name", names())
def test_six_nodes_start_behind_links_and_a_killed_one_returns(name: str, tmp_path: Path) -> None:
    target = load(name)
    try:
        target.prepare()
    except InfrastructureError as error:
        pytest.skip(str(error))
    plan = plan_by_hand(name)
    folder = RunFolder.create_at(tmp_path / "run")
    with closing(JournalWriter(folder.journal)) as journal, Cluster(plan, folder, journal, target) as cluster:
        cluster.start([node.name for node in plan.topology.nodes if node.start == "now"])
        controllers = {node.name for node in cluster.layout.controllers}
        assert cluster.processes.peers("node-4") & controllers
        assert cluster.links.reach("node-4", "node-1", 5) is Reach.ANSWERED
        cluster.processes.kill("node-5")
        cluster.processes.start("node-5")
        cluster.await_serving(["node-5"])
        assert cluster.problems() == []
