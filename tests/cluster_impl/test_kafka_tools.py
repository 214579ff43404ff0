"""Apache Kafka's own command line tools against real clusters of every design.

Each run of a tool is a JVM, and all of them take minutes, so that the nightly run has them and `make test` has not.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from fencepost.harness.targets.jars import kafka_jars
from fencepost.harness.targets.maven import fetched
from tests.cluster_impl import leader_driven_processes, processes, zk_processes
from tests.cluster_impl.leader_driven_processes import LeaderDrivenCluster
from tests.cluster_impl.processes import BROKERS, ProcessCluster
from tests.cluster_impl.zk_processes import ZkCluster
from tests.waiting import eventually

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(
        "FENCEPOST_TEST_KAFKA_TOOLS" not in os.environ,
        reason="it fetches Apache Kafka and starts fifty JVMs: set FENCEPOST_TEST_KAFKA_TOOLS=1",
    ),
]

VERSION = "4.3.1"
WITHIN = 120
"""Seconds of one run, most of which are the start of the JVM on a busy machine."""
TOPICS = "org.apache.kafka.tools.TopicCommand"
PRODUCER = "org.apache.kafka.tools.ConsoleProducer"
CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
OFFSETS = "org.apache.kafka.tools.GetOffsetShell"
CONFIGS = "kafka.admin.ConfigCommand"
ELECTIONS = "org.apache.kafka.tools.LeaderElectionCommand"
REASSIGNMENT = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
QUORUM = "org.apache.kafka.tools.MetadataQuorumCommand"
LOG_DIRS = "org.apache.kafka.tools.LogDirsCommand"
ACLS = "org.apache.kafka.tools.AclCommand"
DELETE_RECORDS = "org.apache.kafka.tools.DeleteRecordsCommand"
PRODUCER_PERFORMANCE = "org.apache.kafka.tools.ProducerPerformance"
CONSUMER_PERFORMANCE = "org.apache.kafka.tools.ConsumerPerformance"
OPEN = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
VALUES = [f"value {number}" for number in range(20)]


def started(design: str, folder: Path) -> AbstractContextManager[ProcessCluster | ZkCluster | LeaderDrivenCluster]:
    match design:
        case "quorum":
            return processes.running(folder, **OPEN)
        case "zk-controller":
            return zk_processes.running(folder, "2.6")
    return leader_driven_processes.running(folder)


@pytest.fixture(scope="module")
def class_path() -> str:
    artifacts = [("org.apache.kafka", "kafka-tools", VERSION)]
    tools = fetched(f"kafka-tools-{VERSION}", artifacts, "the tools of Apache Kafka")
    return os.pathsep.join(f"{folder}/*" for folder in (kafka_jars(VERSION), tools))


class Tools:
    """Runs the tools through all brokers of a cluster."""

    def __init__(self, class_path: str, bootstrap: str) -> None:
        self._java = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx128m"]
        self._class_path = class_path
        self._bootstrap = bootstrap

    def run(self, tool: str, *arguments: str, sent: str = "") -> str:
        """Return what it wrote; it has to end with 0."""
        command = [*self._java, "-cp", self._class_path, tool, "--bootstrap-server", self._bootstrap, *arguments]
        ended = subprocess.run(command, input=sent, capture_output=True, text=True, timeout=WITHIN)
        assert ended.returncode == 0, f"{tool} {arguments}: {ended.stdout}{ended.stderr}"
        return ended.stdout


@pytest.fixture(scope="module", params=["quorum", "zk-controller", "leader-driven"])
def design(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def tools(design: str, tmp_path_factory: pytest.TempPathFactory, class_path: str) -> Iterator[Tools]:
    with started(design, tmp_path_factory.mktemp(design)) as cluster:
        made = Tools(class_path, cluster.bootstrap)
        made.run(TOPICS, "--create", "--topic", "t", "--partitions", "2", "--replication-factor", "2")
        yield made


def replicas(described: str) -> dict[int, list[int]]:
    """The replicas by partition, as the tool for topics shows them."""
    found = re.findall(r"Partition: (\d+)\s+Leader: \d+\s+Replicas: ([\d,]+)", described)
    return {int(index): [int(each) for each in ids.split(",")] for index, ids in found}


def test_records_and_groups_of_the_console(tools: Tools) -> None:
    tools.run(PRODUCER, "--topic", "t", sent="".join(f"{value}\n" for value in VALUES))
    read = tools.run(CONSUMER, "--topic", "t", "--group", "g", "--from-beginning", "--max-messages", str(len(VALUES)))
    assert sorted(read.splitlines()) == sorted(VALUES)
    assert re.search(r"^g\s+t\s+\d", tools.run(GROUPS, "--describe", "--group", "g"), re.MULTILINE)
    ends = re.findall(r"^t:\d:(\d+)$", tools.run(OFFSETS, "--topic", "t"), re.MULTILINE)
    assert sum(map(int, ends)) == len(VALUES)


def test_a_group_and_its_offsets_are_deleted(tools: Tools) -> None:
    offsets = ("--group", "g", "--topic", "t")
    assert "Successful" in tools.run(GROUPS, "--delete-offsets", *offsets)
    tools.run(CONSUMER, "--topic", "t", "--group", "h", "--from-beginning", "--max-messages", "1")
    assert "was successful" in tools.run(GROUPS, "--delete", "--group", "h")
    assert "h" not in tools.run(GROUPS, "--list").split()


def test_records_are_deleted(tools: Tools, tmp_path: Path) -> None:
    wanted = tmp_path / "offsets.json"
    wanted.write_text(json.dumps({"partitions": [{"topic": "t", "partition": 0, "offset": -1}]}))
    assert "low_watermark" in tools.run(DELETE_RECORDS, "--offset-json-file", str(wanted))


def test_partitions_are_added_moved_and_led(tools: Tools, tmp_path: Path) -> None:
    tools.run(TOPICS, "--alter", "--topic", "t", "--partitions", "3")
    before = replicas(tools.run(TOPICS, "--describe", "--topic", "t"))
    assert sorted(before) == [0, 1, 2]
    target = [broker for broker in BROKERS if broker != before[0][1]]
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": target}]}))
    started = tools.run(REASSIGNMENT, "--execute", "--reassignment-json-file", str(plan))
    assert "Successfully started partition reassignment for t-0" in started
    eventually(lambda: replicas(tools.run(TOPICS, "--describe", "--topic", "t"))[0] == target, within=WITHIN)
    eventually(lambda: "No partition reassignments found." in tools.run(REASSIGNMENT, "--list"), within=WITHIN)
    tools.run(ELECTIONS, "--election-type", "preferred", "--all-topic-partitions")


def test_log_dirs_are_described(tools: Tools) -> None:
    described = tools.run(LOG_DIRS, "--describe", "--topic-list", "t")
    found = json.loads(next(line for line in described.splitlines() if line.startswith("{")))
    assert {each["broker"] for each in found["brokers"]} == set(BROKERS)
    partitions = [one for each in found["brokers"] for at in each["logDirs"] for one in at["partitions"]]
    assert {one["partition"] for one in partitions} >= {"t-0", "t-1"}


def test_records_are_sent_and_read_at_speed(tools: Tools) -> None:
    sent = tools.run(
        PRODUCER_PERFORMANCE, "--topic", "t", "--num-records", "2000", "--record-size", "100", "--throughput", "-1"
    )
    assert "2000 records sent" in sent
    read = tools.run(CONSUMER_PERFORMANCE, "--topic", "t", "--num-records", "1000")
    assert re.search(r"^\d{4}-\d\d-\d\d ", read, re.MULTILINE)


def test_settings_are_changed_and_described(tools: Tools) -> None:
    entity = ("--entity-type", "topics", "--entity-name", "t")
    tools.run(CONFIGS, *entity, "--alter", "--add-config", "max.message.bytes=100000")
    assert "max.message.bytes=100000" in tools.run(CONFIGS, *entity, "--describe")
    all_brokers = ("--entity-type", "brokers", "--entity-default")
    tools.run(CONFIGS, *all_brokers, "--alter", "--add-config", "log.retention.ms=700000000")
    assert "log.retention.ms=700000000" in tools.run(CONFIGS, *all_brokers, "--describe")


def test_the_quorum_and_access_control_entries_where_the_design_has_them(tools: Tools, design: str) -> None:
    if design != "quorum":
        pytest.skip("designs with ZooKeeper have neither")
    lines = tools.run(QUORUM, "describe", "--replication").splitlines()
    roles = Counter(line.split()[-1] for line in lines if line.split() and line.split()[0].isdecimal())
    assert roles == {"Leader": 1, "Follower": 2, "Observer": len(BROKERS)}
    tools.run(ACLS, "--add", "--allow-principal", "User:alice", "--operation", "Read", "--topic", "t")
    assert "principal=User:alice" in tools.run(ACLS, "--list", "--topic", "t")
