"""ZooKeeper servers as nodes: their configuration, and where their jars come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.addresses import Addresses
from fencepost.harness.network.layout import Layout, Node, Role, site_names
from fencepost.harness.plan.model import Timing
from fencepost.harness.targets import kafka_zk, zookeeper_jars
from fencepost.harness.targets.registry import load_file
from fencepost.harness.targets.target import Installation
from fencepost.harness.targets.zookeeper import ZooKeeperServers, connect, serves, unready
from fencepost.harness.targets.zookeeper_jars import ZooKeeperJars, found_jars

ADDRESSES = Addresses(20)
SERVERS = ZooKeeperServers(ZooKeeperJars("nowhere", (Path("/jars/zookeeper.jar"),)))


def _installation(folder: Path, servers: int, session_ms: int = 1500) -> Installation:
    nodes = [Node(f"zk-{n}", n, n, frozenset({Role.ZOOKEEPER}), ADDRESSES.node(n)) for n in range(1, servers + 1)]
    layout = Layout(ADDRESSES, tuple(nodes), site_names([]))
    return Installation(layout, Timing(session_ms=session_ms), "cluster", folder)


def test_a_server_binds_its_own_address_and_names_its_peers(tmp_path: Path) -> None:
    installation = _installation(tmp_path, 3)
    properties = SERVERS.properties(installation.layout.node("zk-2"), installation)
    assert (properties["clientPortAddress"], properties["clientPort"]) == ("127.20.0.2", "2181")
    assert properties["quorumListenOnAllIPs"] == "false"
    assert properties["server.3"] == "zk-3:2888:3888"
    assert connect(installation.layout) == "zk-1:2181,zk-2:2181,zk-3:2181"


def test_a_server_alone_is_no_ensemble(tmp_path: Path) -> None:
    installation = _installation(tmp_path, 1)
    properties = SERVERS.properties(installation.layout.node("zk-1"), installation)
    assert not any(key.startswith("server.") for key in properties)


@pytest.mark.parametrize("session_ms", [500, 1500, 3000, 20_000])
def test_a_session_may_be_as_short_as_the_plan_says_and_ends_in_time(tmp_path: Path, session_ms: int) -> None:
    installation = _installation(tmp_path, 1, session_ms)
    properties = SERVERS.properties(installation.layout.node("zk-1"), installation)
    assert int(properties["minSessionTimeout"]) <= session_ms <= int(properties["maxSessionTimeout"])
    assert int(properties["tickTime"]) <= max(100, session_ms / 8)


def test_a_server_knows_its_number_and_resolves_names_by_its_own_table(tmp_path: Path) -> None:
    installation = _installation(tmp_path, 3)
    node = installation.layout.node("zk-2")
    installation.home(node).mkdir()
    SERVERS.format(node, installation)
    assert (installation.data(node) / "myid").read_text() == "2\n"
    argv = SERVERS.command(node, installation).argv
    assert f"-Djdk.net.hosts.file={installation.hosts(node)}" in argv
    assert argv[-1] == str(installation.properties(node))


def _touch(folder: Path, *names: str) -> None:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).touch()


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that has no jars yet."""
    monkeypatch.delenv("ZOOKEEPER_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(zookeeper_jars, "DEBIAN", tmp_path / "debian")
    monkeypatch.setattr(zookeeper_jars, "pyspark_jars", lambda: None)
    return tmp_path


def test_where_no_jars_are_none_are_found(nowhere: Path) -> None:
    assert found_jars() is None


def test_an_unpacked_release_comes_first(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _touch(nowhere / "debian", "zookeeper.jar")
    _touch(nowhere / "release" / "lib", "zookeeper-3.9.2.jar", "netty.jar")
    monkeypatch.setenv("ZOOKEEPER_HOME", str(nowhere / "release"))
    found = found_jars()
    assert found is not None
    assert {entry.name for entry in found.entries} == {"zookeeper-3.9.2.jar", "netty.jar"}


def test_a_home_without_zookeeper_is_refused(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOOKEEPER_HOME", str(nowhere))
    with pytest.raises(InfrastructureError, match=r"ZOOKEEPER_HOME=.* correct or unset it"):
        found_jars()


def test_debian_s_package_can_be_asked_for(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _touch(nowhere / "java", "zookeeper.jar", "zookeeper-3.8.0.jar")
    monkeypatch.setenv("ZOOKEEPER_HOME", str(nowhere / "java"))
    found = found_jars()
    assert found is not None
    assert (found.origin, [entry.name for entry in found.entries]) == ("Debian's package", ["zookeeper.jar"])


def test_debian_s_package_is_used_with_the_libraries_that_are_there(nowhere: Path) -> None:
    _touch(nowhere / "debian", "zookeeper.jar", "zookeeper-jute.jar", "slf4j-api.jar", "unrelated.jar")
    found = found_jars()
    assert found is not None
    assert [entry.name for entry in found.entries] == ["zookeeper.jar", "zookeeper-jute.jar", "slf4j-api.jar"]


@pytest.mark.parametrize(("version", "origin"), [("3.9.1", "Apache Kafka's jars"), ("2.8.2", "elsewhere")])
def test_servers_that_pass_addresses_around_links_are_not_used(
    version: str, origin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[str] = []

    def servers(jars: ZooKeeperJars) -> ZooKeeperServers:
        used.append(jars.origin)
        return SERVERS

    monkeypatch.setattr(kafka_zk, "kafka_jars", lambda version: Path("/jars"))
    monkeypatch.setattr(kafka_zk, "zookeeper_jars", lambda: ZooKeeperJars("elsewhere", ()))
    monkeypatch.setattr(kafka_zk, "ZooKeeperServers", servers)
    target = kafka_zk.ApacheKafkaZk(load_file("apache-kafka-zk"), version)
    installation = _installation(Path("/run"), 1)
    target.properties(installation.layout.node("zk-1"), installation)
    assert used == [origin]


@pytest.mark.integration
def test_the_jars_of_this_machine_make_a_server_that_serves(tmp_path: Path) -> None:
    jars = found_jars()
    if jars is None:
        pytest.skip("there are no jars of ZooKeeper here")
    with ZooKeeperServers(jars).standalone(tmp_path) as endpoint:
        assert serves(endpoint)
    assert not serves(endpoint)
    silent = Node("zk-1", 1, 1, frozenset({Role.ZOOKEEPER}), "127.0.0.1")
    assert unready([silent]) == "zk-1 accepts no sessions"
