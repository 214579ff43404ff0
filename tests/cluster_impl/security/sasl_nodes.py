"""Users of clusters that require logins, and single requests in their names."""

from __future__ import annotations

import asyncio
from pathlib import Path

from fencepost.cluster_impl.security.jaas import LOGIN_MODULE
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.codec import R, RequestMessage
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.login import Access, PlainLogin
from fencepost.cluster_impl.wire.registry import QUORUM_CONTROLLER, ZK_BROKER
from tests.cluster_impl.processes import LIMIT

ALICE, BROKER = PlainLogin("alice", "her; secret"), PlainLogin("broker", "node's")


def between_nodes(folder: Path) -> dict[str, str]:
    """Settings of nodes that log in to one another as `broker`, the only user with the nodes' permission. `alice` may
    log in there, and clients need no login."""
    acls = folder / "acls"
    acls.write_text("User:broker Cluster ClusterAction Allow\n")
    return {
        "authorizer.acls": str(acls),
        "listener.security.protocol.map": "CLIENT:PLAINTEXT,INTERNAL:SASL_PLAINTEXT",
        "listener.name.internal.plain.sasl.jaas.config": module(ALICE, BROKER, login=BROKER),
    }


def module(*users: PlainLogin, login: PlainLogin | None = None, name: str = LOGIN_MODULE) -> str:
    """Lets these users in; the node itself logs in as `login`."""
    own = f'username="{login.username}" password="{login.password}" ' if login else ""
    return f"{name} required {own}" + " ".join(f'user_{u.username}="{u.password}"' for u in users) + ";"


def ask(host: str, port: int, login: PlainLogin | Access | None, request: RequestMessage[R], version: int) -> R:
    """Raises LoginRefused, ConnectionError or TimeoutError."""

    async def asked() -> R:
        registry = {**ZK_BROKER, **QUORUM_CONTROLLER}
        connection = await Connection.open(host, port, registry, "test", hosts=Hosts(), timeout=LIMIT, login=login)
        try:
            return await connection.request(request, version, timeout=LIMIT)
        finally:
            connection.close()

    return asyncio.run(asked())
