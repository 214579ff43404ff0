"""Client of a Toxiproxy's HTTP API: the few calls that links are made of, each with a timeout.

Every answer but 2xx, every refused connection and every timeout is an InfrastructureError, since a fault that may or
may not have happened says nothing about the cluster. (The package toxiproxy-python keeps the server's address in a
class, knows no timeouts and cannot populate; two clusters in one process rule that out.)
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable
from typing import Any

from faults.capabilities import LinkState, Stream
from harness.errors import InfrastructureError
from harness.network.addresses import Endpoint
from harness.network.layout import Proxy

TOXIPROXY_NAMES = {Stream.REQUESTS: "upstream", Stream.REPLIES: "downstream"}


class Toxiproxy:
    """One Toxiproxy server. `timeout` (seconds) bounds every call; link changes take milliseconds when they work."""

    def __init__(self, api: Endpoint, timeout: float = 10.0) -> None:
        self.api = api
        self._timeout = timeout

    def version(self) -> str:
        return str(self._call("GET", "/version")["version"])

    def populate(self, proxies: Iterable[Proxy]) -> None:
        """Create all proxies in one call, then check the list: a proxy that could not bind is left out in silence."""
        wanted = {proxy.name: proxy for proxy in proxies}
        body = [
            {"name": proxy.name, "listen": str(proxy.listen), "upstream": str(proxy.upstream), "enabled": True}
            for proxy in wanted.values()
        ]
        self._call("POST", "/populate", body)
        there = self._call("GET", "/proxies")
        for name, proxy in wanted.items():
            found = there.get(name)
            if found is None or not found["enabled"] or found["listen"] != str(proxy.listen):
                raise InfrastructureError(
                    f"Toxiproxy at {self.api} did not open {proxy.listen} for {name}: another process holds that "
                    f"address; see the toxiproxy log of this run"
                )

    def enable(self, name: str, enabled: bool) -> None:
        """Open a proxy, or close it: connections end, new ones are refused. Works on a paused receiver as well."""
        self._call("POST", f"/proxies/{name}", {"enabled": enabled})

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
        self._call("POST", f"/proxies/{name}/toxics", toxic, also=http.client.CONFLICT)

    def flow(self, name: str, stream: Stream) -> None:
        """Undo `stall`: what was held back is delivered. Harmless if nothing was stalled."""
        self._call("DELETE", f"/proxies/{name}/toxics/{_toxic(stream)}", also=http.client.NOT_FOUND)

    def state(self, name: str) -> LinkState:
        found = self._call("GET", f"/proxies/{name}")
        names = {toxic["name"] for toxic in found["toxics"]}
        return LinkState(found["enabled"], frozenset(stream for stream in Stream if _toxic(stream) in names))

    def _call(self, method: str, path: str, body: object = None, *, also: int = 200) -> Any:
        """The decoded answer; `also` is a status besides 2xx that is as good."""
        connection = http.client.HTTPConnection(*self.api, timeout=self._timeout)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            response = connection.getresponse()
            text = response.read()
        except OSError as error:
            raise InfrastructureError(
                f"Toxiproxy at {self.api} did not answer {method} {path} within {self._timeout:g} s ({error}): "
                "it is gone, or a paused node holds it up"
            ) from error
        finally:
            connection.close()
        if response.status >= 300 and response.status != also:
            raise InfrastructureError(
                f"Toxiproxy at {self.api} answered {response.status} to {method} {path}: {text.decode().strip()}"
            )
        return json.loads(text) if text else None


def _toxic(stream: Stream) -> str:
    return f"stall-{stream.value}"
