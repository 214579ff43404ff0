"""Every target, started for real: nodes behind links, ready as they say themselves, restarted, audited."""

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import permutations
from pathlib import Path
from uuid import UUID

import pytest
from kio.schema.describe_quorum.v2 import DescribeQuorumRequest, DescribeQuorumResponse
from kio.schema.describe_quorum.v2.request import PartitionData as RequestedPartition
from kio.schema.describe_quorum.v2.request import TopicData
from kio.schema.describe_quorum.v2.response import ReplicaState
from kio.schema.types import TopicName
from kio.static.primitive import i32

from fencepost.faults.capabilities import ProbeResult
from fencepost.faults.registry import build
from fencepost.harness.cli.interactive import interactive_plan
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.clients.zookeeper.server import ask_server
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan import topologies
from fencepost.harness.plan.model import Plan, Topology
from fencepost.harness.processes.command import no_name_tables
from fencepost.harness.targets.identity import META_PROPERTIES, read_properties
from fencepost.harness.targets.registry import VARIABLE, load, load_file, names
from fencepost.harness.targets.target import uuid_text
from fencepost.harness.targets.zookeeper import registration
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter, read_journal
from tests.harness.sample_target import VISIBLE
from tests.waiting import eventually

pytestmark = pytest.mark.integration


ZOOKEEPER_TARGETS = [name for name in names() if load_file(name).dialect.uses_zookeeper]


@contextmanager
def _up(plan: Plan, folder: Path) -> Iterator[Cluster]:
    """The cluster of a plan, serving. Skips where the target's program cannot be got."""
    target = load(plan.target)
    try:
        target.prepare()
    except InfrastructureError as error:
        pytest.skip(str(error))
    run = RunFolder.create_at(folder)
    with closing(JournalWriter(run.journal)) as journal, Cluster(plan, run, journal, target) as cluster:
        cluster.start([node.name for node in plan.topology.nodes if node.start == "now"])
        yield cluster


BY_COMMAND = str(Path(__file__).with_name("quorum-by-command.yaml"))
"""The reference cluster, started by the driver `command` alone."""
MOUNTS = pytest.mark.skipif(no_name_tables() is not None, reason=f"no name tables: {no_name_tables()}")


@pytest.mark.parametrize("name", [*VISIBLE, pytest.param(BY_COMMAND, marks=MOUNTS)], ids=lambda name: Path(name).stem)
def test_nodes_start_behind_links_and_a_killed_one_returns(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "")
    with _up(interactive_plan(name), tmp_path / "run") as cluster:
        others = {node.name for node in cluster.layout.nodes if not node.is_broker}
        assert cluster.processes.peers("node-4") & others
        assert all(cluster.links.reach("node-4", other, 5) is ProbeResult.ANSWERED for other in others)
        cluster.processes.kill("node-5")
        cluster.processes.start("node-5")
        cluster.await_serving(["node-5"])
        assert cluster.problems() == []


@pytest.mark.parametrize("first", [(1,), (1, 2, 3)], ids=["standalone", "initial-controllers"])
def test_the_first_voters_of_a_quorum_that_changes_are_formatted_with_the_ids_of_their_directories(
    first: tuple[int, ...], tmp_path: Path
) -> None:
    plan = interactive_plan("apache-kafka")
    nodes = [node for node in plan.topology.nodes if "controller" not in node.roles or node.id in first]
    joins = topologies.controllers([7], start="later")
    topology = Topology(nodes=(*nodes, *joins))
    with _up(plan.model_copy(update={"level": "dynamic", "topology": topology}), tmp_path / "run") as cluster:
        cluster.start(["node-7"])
        voters, observers = _quorum(cluster, first)
        stored = {
            id: read_properties(cluster.installation.data(cluster.layout.node(f"node-{id}")) / META_PROPERTIES)
            for id in (*first, 7)
        }
        assert voters == {id: stored[id]["directory.id"] for id in first}
        assert observers[7] == stored[7]["directory.id"]


def _quorum(cluster: Cluster, first: tuple[int, ...]) -> tuple[dict[int, str], dict[int, str]]:
    """Return the directories of voters and of nodes without a vote by their ids, once the leader knows node-7."""
    partition = RequestedPartition(partition_index=i32(0))
    request = DescribeQuorumRequest(
        topics=(TopicData(topic_name=TopicName("__cluster_metadata"), partitions=(partition,)),)
    )
    found: list[tuple[dict[int, str], dict[int, str]]] = []

    def described() -> bool:
        for id in first:
            with RawConnection(*cluster.layout.node(f"node-{id}").endpoint(Listener.CONTROLLER), 5) as connection:
                answer = connection.call(request, DescribeQuorumResponse)
            found.extend(
                (_directories(each.current_voters), _directories(each.observers))
                for topic in answer.topics
                for each in topic.partitions
                if not each.error_code
            )
        return bool(found) and 7 in found[-1][1]

    eventually(described, "the leader knows node-7")
    return found[-1]


def _directories(replicas: Iterable[ReplicaState]) -> dict[int, str]:
    return {int(each.replica_id): uuid_text(each.replica_directory_id or UUID(int=0)) for each in replicas}


@pytest.mark.parametrize("name", ZOOKEEPER_TARGETS)
def test_an_ensemble_talks_through_its_links_and_outlives_its_leader(name: str, tmp_path: Path) -> None:
    with _up(interactive_plan(name, servers=3), tmp_path / "run") as cluster:
        servers = [node.name for node in cluster.layout.zookeepers]
        for source, destination in permutations(servers, 2):
            assert cluster.links.reach(source, destination, 5) is ProbeResult.ANSWERED
        (leader,) = (node.name for node in cluster.layout.zookeepers if ask_server(node.front, 1).mode == "leader")
        cut = build("isolate", cluster, {"nodes": [leader], "from": [each for each in servers if each != leader]})
        cut.set_up()
        cut.inject()
        assert cut.verify().proven
        cut.recover()
        assert cut.verify_healed().proven
        kill = build("kill", cluster, {"nodes": [leader]})
        kill.inject()
        cluster.await_serving([*(each for each in servers if each != leader), "node-4", "node-5", "node-6"])
        kill.recover()
        assert kill.verify_healed().proven
        cluster.await_serving(servers)
        assert cluster.problems() == []


def test_apache_kafka_is_started_again_only_when_its_registration_is_gone(tmp_path: Path) -> None:
    with _up(interactive_plan("apache-kafka-zk"), tmp_path / "run") as cluster:
        cluster.processes.kill("node-5")
        cluster.processes.start("node-5")
        assert registration(cluster.layout, 5) is None
        cluster.await_serving(["node-4", "node-5", "node-6"])
    (note,) = read_journal(tmp_path / "run" / "journal.jsonl").of("note")
    assert note.data["what"] == "start postponed"
