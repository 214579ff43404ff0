"""The requests that the brokers of a cluster offer, held against those that its plan cannot do without."""

from __future__ import annotations

from contextlib import suppress

from fencepost.harness.clients.login import connect
from fencepost.harness.clients.raw import NoAnswer
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan import messages
from fencepost.harness.plan.needed_requests import needed_requests
from fencepost.harness.targets.security import access

ASK_SECONDS = 5.0


def check_offered(cluster: Cluster) -> None:
    """Raise InfrastructureError if a broker lacks a request that the plan needs.

    Only where no control plane is visible: the other targets have features, releases and levels for that.
    """
    if cluster.target.file.dialect.shows_decisions:
        return
    needed: dict[str, str] = {}
    for request, what in needed_requests(cluster.plan, topics_by_use=cluster.target.file.topics == "by use"):
        needed.setdefault(request, what)
    name = next(node.name for node in cluster.plan.topology.nodes if "broker" in node.roles and node.start == "now")
    with (
        suppress(NoAnswer),  # a broker that is not up is the business of readiness
        connect(
            cluster.probe_address(name, Listener.CLIENT), ASK_SECONDS, access(Listener.CLIENT, cluster.installation)
        ) as connection,
    ):
        offered = connection.offered()
        if lacks := [request for request in needed if messages.APIS.get(request) not in offered]:
            named = ", ".join(f"{request}, which {needed[request]} needs" for request in lacks)
            raise InfrastructureError(
                f"{name} lacks {named}. Write `missing_requests: [{', '.join(lacks)}]` into the target file of "
                f"{cluster.target.file.name}: what needs them is skipped then, before anything starts"
            )
