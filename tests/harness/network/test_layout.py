"""The addresses of a cluster: a pure function of the plan and one number."""

from itertools import pairwise

import pytest

from fencepost.harness.errors import UsageError
from fencepost.harness.network.addresses import Addresses, Endpoint
from fencepost.harness.network.layout import Layout, Listener, Node, Role, hosts_file, site_names

ADDRESSES = Addresses(20)


def _node(name: str, index: int, role: Role, duplicate_of: str | None = None) -> Node:
    return Node(name, index % 10, index, frozenset({role}), ADDRESSES.node(index), duplicate_of)


LAYOUT = Layout(
    ADDRESSES,
    (
        _node("node-1", 1, Role.CONTROLLER),
        _node("node-4", 4, Role.BROKER),
        _node("node-5", 5, Role.BROKER),
        _node("node-4b", 14, Role.BROKER, duplicate_of="node-4"),
    ),
    site_names(["main", "away"]),
)


def test_every_directed_pair_of_nodes_has_a_link_of_its_own() -> None:
    pairs = [proxy for proxy in LAYOUT.links() if proxy.name.startswith("link-")]
    assert len({proxy.listen for proxy in pairs}) == len(pairs) == 4 * 3


def test_a_link_leads_from_the_source_s_address_for_it_to_the_destination_itself() -> None:
    link = LAYOUT.link("node-4", "node-1")
    assert (link.listen, link.upstream) == (Endpoint("127.20.104.1", 9090), Endpoint("127.20.0.1", 9090))
    assert LAYOUT.link("node-4b", "node-1").listen == Endpoint("127.20.114.1", 9090)


def test_no_two_things_listen_at_one_address() -> None:
    listeners = sorted(LAYOUT.listeners())
    assert all(one != other for one, other in pairwise(listeners))


def test_a_node_s_name_table_leads_peers_through_its_own_links() -> None:
    table = LAYOUT.hosts_of(LAYOUT.node("node-4"))
    assert table["node-4"] == "127.20.0.4"
    assert table["node-1"] == "127.20.104.1"
    assert table["node-4b"] == "127.20.104.14"
    assert "127.20.104.1 node-1\n" in hosts_file(table)


def test_sites_are_numbered_main_and_probe_first() -> None:
    assert LAYOUT.sites == ("main", "probe", "away")
    assert LAYOUT.link("site:main", "node-4").listen == Endpoint("127.20.200.4", 9092)
    assert LAYOUT.link("site:away", "node-5").listen == Endpoint("127.20.202.5", 9092)


def test_only_probes_reach_controllers_and_internal_listeners() -> None:
    names = {proxy.name for proxy in LAYOUT.links()}
    assert "site-probe-node-1" in names
    assert "site-main-node-1" not in names
    assert LAYOUT.probe_link("node-1", Listener.CONTROLLER).upstream == Endpoint("127.20.0.1", 9090)
    assert LAYOUT.probe_link("node-4", Listener.CLIENT).upstream == Endpoint("127.20.0.4", 9092)
    assert LAYOUT.probe_link("node-4", Listener.INTERNAL).upstream == Endpoint("127.20.0.4", 9090)


def test_clients_are_not_pointed_at_duplicates() -> None:
    assert LAYOUT.bootstrap() == "127.20.200.4:9092,127.20.200.5:9092"


ENSEMBLE = Layout(
    ADDRESSES,
    (
        _node("zk-1", 1, Role.ZOOKEEPER),
        _node("zk-2", 2, Role.ZOOKEEPER),
        _node("node-4", 4, Role.BROKER),
    ),
    site_names([]),
)


def test_a_link_between_zookeeper_servers_has_a_proxy_for_each_of_their_ports() -> None:
    proxies = ENSEMBLE.proxies("zk-1", "zk-2")
    assert [proxy.upstream for proxy in proxies] == [Endpoint("127.20.0.2", 3888), Endpoint("127.20.0.2", 2887)]
    assert [proxy.listen for proxy in proxies] == [Endpoint("127.20.101.2", 3888), Endpoint("127.20.101.2", 2888)]
    assert {proxy.name for proxy in proxies} <= {proxy.name for proxy in ENSEMBLE.links()}


def test_a_door_stands_before_the_port_of_the_leader_of_an_ensemble_only() -> None:
    assert ENSEMBLE.accept_delay_proxies()[Endpoint("127.20.0.2", 2887)] == Endpoint("127.20.0.2", 2888)
    alone = Layout(ADDRESSES, ENSEMBLE.nodes[1:], ENSEMBLE.sites)
    assert (len(ENSEMBLE.accept_delay_proxies()), alone.accept_delay_proxies(), LAYOUT.accept_delay_proxies()) == (
        2,
        {},
        {},
    )


def test_brokers_and_probes_reach_zookeeper_where_it_takes_sessions() -> None:
    link = ENSEMBLE.link("node-4", "zk-1")
    assert (link.listen, link.upstream) == (Endpoint("127.20.104.1", 2181), Endpoint("127.20.0.1", 2181))
    assert ENSEMBLE.ensemble() == "127.20.201.1:2181,127.20.201.2:2181"
    assert ENSEMBLE.probe_link("zk-1", Listener.ZOOKEEPER).listen == Endpoint("127.20.201.1", 2181)
    assert ENSEMBLE.bootstrap() == "127.20.200.4:9092"


def test_no_two_things_of_an_ensemble_listen_at_one_address() -> None:
    listeners = sorted(ENSEMBLE.listeners())
    assert all(one != other for one, other in pairwise(listeners))


@pytest.mark.parametrize(
    ("source", "destination", "message"),
    [
        ("node-9", "node-1", "there is no node 'node-9'"),
        ("node-1", "node-1", "no link to itself"),
        ("site:moon", "node-4", "there is no client site 'moon'"),
    ],
)
def test_a_link_that_cannot_be_is_refused_with_a_message(source: str, destination: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        LAYOUT.link(source, destination)


def test_a_listener_that_a_node_lacks_is_refused() -> None:
    with pytest.raises(UsageError, match="no listener CLIENT"):
        LAYOUT.probe_link("node-1", Listener.CLIENT)


@pytest.mark.parametrize("index", [0, 100])
def test_an_index_without_an_address_is_refused(index: int) -> None:
    with pytest.raises(ValueError, match="has no address"):
        ADDRESSES.node(index)


def test_a_site_without_an_address_is_refused() -> None:
    with pytest.raises(ValueError, match="has no address"):
        ADDRESSES.site(55, 1)


COMBINED = Layout(
    ADDRESSES,
    tuple(
        Node(f"node-{id}", id, id, frozenset({Role.BROKER, Role.CONTROLLER}), ADDRESSES.node(id), controller_id=id - 3)
        for id in (4, 5)
    ),
    site_names([]),
)


def test_a_node_of_two_roles_has_a_link_to_each_of_them_from_every_peer() -> None:
    proxies = COMBINED.proxies("node-4", "node-5")
    assert [proxy.upstream for proxy in proxies] == [Endpoint("127.20.0.5", 9090), Endpoint("127.20.0.5", 9091)]
    assert [proxy.listen for proxy in proxies] == [Endpoint("127.20.104.5", 9090), Endpoint("127.20.104.5", 9091)]
    assert {proxy.name for proxy in proxies} <= {proxy.name for proxy in COMBINED.links()}


def test_probes_reach_each_role_of_a_node_at_a_port_of_its_own() -> None:
    ports = {
        listener: COMBINED.probe_link("node-4", listener).upstream.port
        for listener in (Listener.CONTROLLER, Listener.INTERNAL, Listener.CLIENT)
    }
    assert ports == {Listener.CONTROLLER: 9091, Listener.INTERNAL: 9090, Listener.CLIENT: 9092}
    names = {proxy.name for proxy in COMBINED.links()}
    assert {COMBINED.probe_link("node-4", listener).name for listener in ports} <= names
    assert len({proxy.listen for proxy in COMBINED.links()}) == len(list(COMBINED.links()))


def test_no_two_things_of_nodes_of_two_roles_listen_at_one_address() -> None:
    listeners = sorted(COMBINED.listeners())
    assert all(one != other for one, other in pairwise(listeners))


def test_a_node_of_two_roles_has_an_id_for_each() -> None:
    node = COMBINED.node("node-4")
    assert (node.id, node.quorum_id, node.is_combined) == (4, 1, True)
    assert (LAYOUT.node("node-1").quorum_id, LAYOUT.node("node-1").is_combined) == (1, False)
