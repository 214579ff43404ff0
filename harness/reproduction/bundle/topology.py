"""The cluster of a plan as services of a compose file, with every file that its nodes read.

Addresses, links and ports are those of the Docker backend: a pod for each node, whose Toxiproxy carries every link that
begins there; one more Toxiproxy for the client sites, published on loopback addresses of the machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fencepost.harness.backends.docker.commands import ContainerCommand, NoImage, contained
from fencepost.harness.backends.docker.environment import PodAddresses, links_from
from fencepost.harness.backends.docker.images import Image, NamedImage, pod_image
from fencepost.harness.cluster.cluster import lay_out
from fencepost.harness.network.addresses import ACCEPT_DELAY_PORT, FIRST_K, LAST_K, Endpoint
from fencepost.harness.network.layout import PROBE_SITE, Layout, Listener, Node, Proxy, hosts_file
from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.plan.model import Plan
from fencepost.harness.targets.certificates import Authority
from fencepost.harness.targets.target import Installation, Target, new_uuid, write_configuration

INSIDE = Path("/fencepost")
"""The folder of the files of nodes and pods in the images."""
API_PORTS = 18400
"""The API of a pod's Toxiproxy is at this port of 127.0.0.1, plus the index of its node; that of the sites at it."""
SITE_PORTS = 20000
"""Inside the container of the sites: plus hundreds for the site, plus the index of the node."""


@dataclass(frozen=True)
class Service:
    """A node, with its pod."""

    node: Node
    contained: ContainerCommand
    environment: dict[str, str]
    hosts: dict[str, str]
    later: bool

    @property
    def api(self) -> int:
        return API_PORTS + self.node.index


@dataclass(frozen=True)
class Entry:
    """An address for clients: `published` on the machine leads to a port of the container of the sites."""

    name: str
    published: Endpoint
    port: int
    upstream: Endpoint


@dataclass(frozen=True)
class Topology:
    installation: Installation
    """As the nodes see it."""
    subnet: str
    """The first three numbers of its addresses."""
    services: tuple[Service, ...]
    entries: tuple[Entry, ...]

    @property
    def layout(self) -> Layout:
        return self.installation.layout

    @property
    def images(self) -> dict[str, Image]:
        """By kind, that of the pods included."""
        images = {service.contained.image.kind: service.contained.image for service in self.services}
        return {"pod": pod_image(), **images}

    @property
    def bootstrap(self) -> str:
        return self.layout.bootstrap()

    def links(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """The names of the proxies that each link consists of; a site's links begin at `site:main`."""
        found = {
            (source.name, peer.name): tuple(proxy.name for proxy in self.layout.proxies(source.name, peer.name))
            for source in self.layout.nodes
            for peer in self.layout.nodes
            if source != peer
        }
        for entry in self.entries:
            _, site, node = entry.name.split("-", 2)
            found[f"site:{site}", node] = (entry.name,)
        return found


def topology(plan: Plan, target: Target, security: Path) -> Topology:
    """Return the topology. NoImage if the program of a node has none whose files are known.

    With TLS it has an authority of its own, whose certificate is in the folder `security`.
    """
    k = FIRST_K + int(plan_hash(plan)[:8], 16) % (LAST_K - FIRST_K)
    addresses = PodAddresses(k, f"10.213.{k}")
    layout = lay_out(plan, addresses)
    authority = Authority(security) if plan.secured.has_tls else None
    installation = Installation(
        layout, plan.timing, new_uuid(), INSIDE / "nodes", plan.secured, authority, plan.settings
    )
    later = {spec.name for spec in plan.topology.nodes if spec.start == "later"}
    services = []
    for node in layout.nodes:
        command = target.command(node, installation)
        hosts = {name: at for name, at in _hosts(layout, node).items() if name != "localhost"}
        inside = contained(command, fetch=False)
        if isinstance(inside.image, NamedImage):
            raise NoImage(f"the files of the image {inside.image.title} are unknown")
        services.append(Service(node, inside, dict(command.environment), hosts, node.name in later))
    return Topology(installation, addresses.range, tuple(services), tuple(_entries(layout)))


def write_nodes(target: Target, topology: Topology, into: Path) -> None:
    """Write `NAME/` with configuration, name table and formatted directories, as at `INSIDE/nodes` in the image."""
    inside, here = topology.installation, replace(topology.installation, nodes=into)
    for service in topology.services:
        node = service.node
        here.home(node).mkdir(parents=True)
        here.hosts(node).write_text(hosts_file(_hosts(topology.layout, node)))
        write_configuration(target, node, inside, here.home(node))
        if node.directory != "same":
            target.format(node, here)


def write_links(topology: Topology, into: Path) -> None:
    """Write the proxies that each Toxiproxy opens when it starts: `NODE.json` and `sites.json`."""
    into.mkdir(parents=True, exist_ok=True)
    for service in topology.services:
        proxies = [_opened(proxy) for proxy in links_from(topology.layout, service.node)]
        (into / f"{service.node.name}.json").write_text(json.dumps(proxies, indent=1) + "\n")
    sites = [
        {"name": entry.name, "listen": f"0.0.0.0:{entry.port}", "upstream": str(entry.upstream), "enabled": True}
        for entry in topology.entries
    ]
    (into / "sites.json").write_text(json.dumps(sites, indent=1) + "\n")


def _opened(proxy: Proxy) -> dict[str, Any]:
    """Return the port of a link's upstream, without the accept-delay proxy: elections then take seconds longer."""
    upstream = proxy.upstream
    if upstream.port == ACCEPT_DELAY_PORT:
        upstream = Endpoint(upstream.host, Listener.QUORUM.port)
    return {"name": proxy.name, "listen": str(proxy.listen), "upstream": str(upstream), "enabled": True}


def _hosts(layout: Layout, node: Node) -> dict[str, str]:
    """Return the names that a node resolves, without that of the packing machine: a pod has the name of its node."""
    own = {node.name, "localhost", *(peer.name for peer in layout.nodes)}
    return {name: at for name, at in layout.hosts_of(node).items() if name in own}


def _entries(layout: Layout) -> Iterator[Entry]:
    for number, site in enumerate(layout.sites):
        if site == PROBE_SITE:
            continue
        for node in layout.brokers:
            proxy = layout.link(f"site:{site}", node.name)
            yield Entry(proxy.name, proxy.listen, SITE_PORTS + 100 * number + node.index, proxy.upstream)
