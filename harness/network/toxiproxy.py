"""Client of a Toxiproxy's HTTP API: the few calls that links are made of, each with a timeout.

Every answer but 2xx, every refused connection and every timeout is an InfrastructureError, since a fault that may or
may not have happened says nothing about the cluster. The package toxiproxy-python makes the requests. It keeps the
server's address in a class, so each server here gets a class of its own; its proxy objects are left aside, since they
know no timeouts, ask again for what one call can do, and take a 503 for success.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import requests
from toxiproxy.api import APIConsumer
from toxiproxy.exceptions import InvalidToxic, NotFound, ProxyExists

from faults.capabilities import LinkState, Stream
from harness.errors import InfrastructureError
from harness.network.addresses import Endpoint
from harness.network.layout import Proxy

TOXIPROXY_NAMES = {Stream.REQUESTS: "upstream", Stream.REPLIES: "downstream"}


class Toxiproxy:
    """One Toxiproxy server. `timeout` (seconds) bounds every call; link changes take milliseconds when they work."""

    def __init__(self, api: Endpoint, timeout: float = 10.0) -> None:
        self.api = api
        self._consumer = type("Consumer", (APIConsumer,), {"host": api.host, "port": api.port})
        self._options = {"timeout": timeout, "proxies": {"no_proxy": "*"}}

    def version(self) -> str:
        return str(self._call("get", "/version")["version"])

    def populate(self, proxies: Iterable[Proxy]) -> None:
        """Create all proxies in one call, then check the list: a proxy that could not bind is left out in silence."""
        wanted = {proxy.name: proxy for proxy in proxies}
        body = [
            {"name": proxy.name, "listen": str(proxy.listen), "upstream": str(proxy.upstream), "enabled": True}
            for proxy in wanted.values()
        ]
        self._call("post", "/populate", json=body)
        there = self._call("get", "/proxies")
        for name, proxy in wanted.items():
            found = there.get(name)
            if found is None or not found["enabled"] or found["listen"] != str(proxy.listen):
                raise InfrastructureError(
                    f"Toxiproxy at {self.api} did not open {proxy.listen} for {name}: another process holds that "
                    f"address; see the toxiproxy log of this run"
                )

    def enable(self, name: str, enabled: bool) -> None:
        """Open a proxy, or close it: connections end, new ones are refused. Works on a paused receiver as well."""
        self._call("post", f"/proxies/{name}", json={"enabled": enabled})

    def stall(self, name: str, stream: Stream) -> None:
        """Hold every byte of one stream back, on open and on new connections; nothing is lost, `flow` delivers it.

        Harmless if it is stalled already. Hangs for 25 s, and then happens late, if the receiver is paused
        (SIGSTOP) under load.
        """
        toxic = {
            "name": _toxic(stream),
            "type": "bandwidth",
            "stream": TOXIPROXY_NAMES[stream],
            "attributes": {"rate": 0},
        }
        self._call("post", f"/proxies/{name}/toxics", as_good=ProxyExists, json=toxic)

    def flow(self, name: str, stream: Stream) -> None:
        """Undo `stall`: what was held back is delivered. Harmless if nothing was stalled."""
        self._call("delete", f"/proxies/{name}/toxics/{_toxic(stream)}", as_good=NotFound)

    def state(self, name: str) -> LinkState:
        found = self._call("get", f"/proxies/{name}")
        names = {toxic["name"] for toxic in found["toxics"]}
        return LinkState(found["enabled"], frozenset(stream for stream in Stream if _toxic(stream) in names))

    def _call(self, method: str, path: str, *, as_good: type[Exception] | None = None, **content: object) -> Any:
        """The decoded answer; None if there is none, or if it is `as_good`: what was asked for is so already."""
        asked = f"{method.upper()} {path}"
        try:
            response = getattr(self._consumer, method)(path, **content, **self._options)
        except requests.RequestException as error:
            raise InfrastructureError(
                f"Toxiproxy at {self.api} did not answer {asked} within {self._options['timeout']:g} s ({error}): "
                "it is gone, or a paused node holds it up"
            ) from error
        except (InvalidToxic, NotFound, ProxyExists) as error:
            if as_good is not None and isinstance(error, as_good):
                return None
            raise InfrastructureError(f"Toxiproxy at {self.api} refused {asked}: {error}") from error
        if not response.ok:
            raise InfrastructureError(
                f"Toxiproxy at {self.api} answered {response.status_code} to {asked}: {response.text.strip()}"
            )
        return response.json() if response.content else None


def _toxic(stream: Stream) -> str:
    return f"stall-{stream.value}"
