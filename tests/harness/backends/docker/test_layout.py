"""The layout of a cluster of containers: that of processes, but for the nodes' own addresses."""

from __future__ import annotations

from fencepost.harness.backends.docker.environment import PodAddresses, links_from, on_this_machine
from fencepost.harness.cluster.cluster import lay_out
from fencepost.harness.network.addresses import Addresses
from tests.harness.sample_target import sample_plan

PODS = lay_out(sample_plan(), PodAddresses(60, "10.213.60"))
PROCESSES = lay_out(sample_plan(), Addresses(60))


def test_a_node_is_where_its_pod_is() -> None:
    assert [node.address for node in PODS.nodes] == [
        node.address.replace("127.60.0.", "10.213.60.") for node in PROCESSES.nodes
    ]


def test_links_listen_where_they_do_among_processes_and_lead_to_pods() -> None:
    for ours, theirs in zip(PODS.links(), PROCESSES.links(), strict=True):
        assert (ours.name, ours.listen) == (theirs.name, theirs.listen)
        assert ours.upstream.host.startswith("10.213.60.")


def test_name_tables_differ_in_a_nodes_own_address_alone() -> None:
    for ours, theirs in zip(PODS.nodes, PROCESSES.nodes, strict=True):
        assert {**PODS.hosts_of(ours), ours.name: ""} == {**PROCESSES.hosts_of(theirs), theirs.name: ""}


def test_clients_do_not_know_the_difference() -> None:
    assert PODS.bootstrap() == PROCESSES.bootstrap()


def test_every_link_lives_either_in_the_pod_of_its_source_or_on_this_machine() -> None:
    inside = {proxy.name for node in PODS.nodes for proxy in links_from(PODS, node)}
    outside = set(on_this_machine(PODS))
    assert all((proxy.listen in outside) is (proxy.name not in inside) for proxy in PODS.links())
    assert all(endpoint.host.startswith("127.60.") for endpoint in outside)
