"""A node around its design: hosts, security, connections to other nodes, listeners, and the order of closing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

from fencepost.cluster_impl.config.nodes import NodeConfig
from fencepost.cluster_impl.config.table import ConfigError
from fencepost.cluster_impl.security.configured import login_of, users_of
from fencepost.cluster_impl.security.tls import load_key, server_tls
from fencepost.cluster_impl.wire.client import Connect, connector
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import Registry
from fencepost.cluster_impl.wire.server import FeatureReport, Handler, Server

log = logging.getLogger(__name__)


class NodeShell:
    """`closing` gets each part as it is opened or started, and closes the latest first.

    Raises ConfigError for security that cannot be used.
    """

    def __init__(self, config: NodeConfig) -> None:
        self.hosts = Hosts.load(config.hosts_file)
        self.closing = AsyncExitStack()
        self._security = config.security
        self._listeners = [
            (at, users_of(config.security, at.name), server_tls(config.security, at.name)) for at in config.listeners
        ]
        self._max_request_bytes = config.max_request_bytes

    def connector(self, listener: str, registry: Registry, client_id: str, *, of_controllers: bool = False) -> Connect:
        """Return the way to connect to listeners of this name on other nodes. Raises ConfigError."""
        access = login_of(self._security, listener, of_controllers=of_controllers)
        return connector(registry, client_id, self.hosts, access)

    def server(
        self,
        registry: Registry,
        handlers: Mapping[int, Handler],
        features: Callable[[], FeatureReport] | None = None,
    ) -> Server:
        server = Server(registry, handlers, max_frame_bytes=self._max_request_bytes, features=features)
        self.closing.push_async_callback(server.close)
        return server

    async def listen(self, server_of: Callable[[str], Server]) -> None:
        """Open all listeners; `server_of` returns the server of a listener's name. Raises OSError with a message."""
        for at, users, tls in self._listeners:
            await server_of(at.name).listen(at.host, at.port, at.name, users, tls)

    def secure(self, settings: Mapping[str, str]) -> None:
        """Take up what run-time settings say of users and certificates, whose files are read again in any case.

        Connections that are open go on. What cannot be used is logged, and leaves the listener as it was.
        """
        security = self._security.at_run_time(settings)
        for at, users, tls in self._listeners:
            try:
                if tls is not None and (keystore := security.keystore_of(at.name)) is not None:
                    load_key(tls, security, keystore)
                if users is not None and (changed := users_of(security, at.name)) is not None:
                    users.mechanisms = changed.mechanisms
            except ConfigError as error:
                log.error("the listener %s stays as it was: %s", at.name, error)
