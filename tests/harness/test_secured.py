"""Secured clusters of both targets: clients without the right are refused, which is more than not to reach a node."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Producer
from confluent_kafka.admin import AdminClient

from fencepost.faults.capabilities import ProbeResult
from fencepost.harness.clients.login import Access, connect
from fencepost.harness.clients.settings import ClientSettings
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.model import Plan
from fencepost.harness.targets.certificates import Authority
from fencepost.harness.targets.registry import load
from fencepost.harness.targets.security import access
from fencepost.harness.wire.no_answer import NoAnswer, NotReached, Refused
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter

pytestmark = pytest.mark.integration

WITHIN = 20.0
NODES = [
    {"name": "node-1", "id": 1, "index": 1, "roles": ["controller"]},
    {"name": "node-4", "id": 4, "index": 4, "roles": ["broker"]},
]


@pytest.fixture(scope="module", params=["quorum", "apache-kafka:4.4.0"])
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A controller and a broker with `security: tls-scram`."""
    plan = Plan.model_validate(
        {
            "scenario": "s",
            "title": "s",
            "document": "d",
            "seed": 1,
            "target": request.param,
            "security": "tls-scram",
            "topology": {"nodes": NODES},
        }
    )
    target = load(plan.target)
    try:
        target.prepare()
    except InfrastructureError as error:
        pytest.skip(str(error))
    run = RunFolder.create_at(tmp_path_factory.mktemp("secured") / "run")
    with closing(JournalWriter(run.journal)) as journal, Cluster(plan, run, journal, target) as cluster:
        cluster.start([node.name for node in plan.topology.nodes])
        yield cluster


LISTENERS = [("node-4", Listener.CLIENT), ("node-4", Listener.INTERNAL), ("node-1", Listener.CONTROLLER)]


@pytest.mark.parametrize(("node", "listener"), LISTENERS)
def test_a_listener_refuses_connections_without_tls_without_the_authority_and_without_the_password(
    cluster: Cluster, node: str, listener: Listener, tmp_path: Path
) -> None:
    at, known = cluster.probe_address(node, listener), access(listener, cluster.installation)
    assert known.credentials is not None
    connect(at, WITHIN, known).close()
    with pytest.raises(NoAnswer):  # it is no request that the node could refuse
        connect(at, WITHIN, known._replace(tls=None))
    with pytest.raises(Refused, match="CERTIFICATE_VERIFY_FAILED"):
        connect(at, WITHIN, Access(tls=Authority(tmp_path).trusting))
    for wrong in (known.credentials._replace(password="wrong"), known.credentials._replace(user="unknown")):
        with pytest.raises(Refused, match=f"does not let {wrong.user} log in: sasl_authentication_failed"):
            connect(at, WITHIN, known._replace(credentials=wrong))


def test_a_node_that_is_not_reached_does_not_count_as_one_that_refuses(cluster: Cluster) -> None:
    known = access(Listener.CLIENT, cluster.installation)
    cluster.links.cut("site:main", "node-4")
    try:
        with pytest.raises(NotReached):
            connect(cluster.layout.link("site:main", "node-4").listen, WITHIN, known)
    finally:
        cluster.links.restore("site:main", "node-4")


def test_links_are_measured_over_tls(cluster: Cluster) -> None:
    for source, destination in (("site:main", "node-4"), ("node-1", "node-4"), ("node-4", "node-1")):
        assert cluster.links.reach(source, destination, WITHIN) is ProbeResult.ANSWERED
    assert cluster.problems() == []


def first_error(settings: ClientSettings) -> int:
    """Return the first error of a client that is not about a connection alone; 0 if it learns of the cluster."""
    errors: list[int] = []
    client = Producer({**settings, "error_cb": lambda error: errors.append(error.code()), "log_level": 0})
    deadline = time.monotonic() + WITHIN
    while time.monotonic() < deadline:
        client.poll(0.1)
        if telling := [each for each in errors if each in (KafkaError._SSL, KafkaError._AUTHENTICATION)]:
            return telling[0]
    return 0


def test_the_library_of_the_workload_gets_in_with_the_settings_of_the_cluster_and_not_with_others(
    cluster: Cluster, tmp_path: Path
) -> None:
    settings = cluster.client_settings()
    assert set(AdminClient({**settings, "log_level": 0}).list_topics(timeout=WITHIN).brokers) == {4}
    other = Authority(tmp_path).certificate
    assert first_error({**settings, "ssl.ca.location": str(other)}) == KafkaError._SSL
    assert first_error({**settings, "sasl.password": "wrong"}) == KafkaError._AUTHENTICATION
