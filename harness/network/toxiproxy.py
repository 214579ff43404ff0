"""Client of a Toxiproxy's HTTP API: the few calls that links are made of, each with a timeout.

Every answer but 2xx, every refused connection and every timeout is LinksLost, since a fault that may or may not have
happened says nothing about the cluster. After one that hung, calls are given less time until one succeeds, so that
undoing many faults ends soon. The package toxiproxy-python makes the requests. It keeps the
server's address in a class, so each server here gets a class of its own; its proxy objects are left aside, since they
know no timeouts, ask again for what one call can do, and take a 503 for success.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import requests
from toxiproxy.api import APIConsumer
from toxiproxy.exceptions import InvalidToxic, NotFound, ProxyExists

from faults.capabilities import Harm, LinkState, Stream, Toxic
from harness.errors import LinksLost
from harness.network.addresses import Endpoint
from harness.network.layout import Proxy

_STREAMS = {Stream.REQUESTS: "upstream", Stream.REPLIES: "downstream"}
SENT = "toxiproxy_proxy_sent_bytes_total"
DIRECT = {"http": ""}
"""Past any proxy that the environment names; `no_proxy` would be set in the environment for a while by each thread."""
IMPATIENT = 2.0
"""Seconds for an answer from a server that did not give the last one."""
_KINDS = {
    Harm.STALL: ("bandwidth", "rate"),
    Harm.BLACKHOLE: ("timeout", "timeout"),
    Harm.LATENCY: ("latency", "latency"),
    Harm.BANDWIDTH: ("bandwidth", "rate"),
    Harm.RESET: ("reset_peer", "timeout"),
    Harm.LIMIT: ("limit_data", "bytes"),
}
"""Toxiproxy's name of each harm, and of the attribute that says how much. Stalled is what has a bandwidth of 0, and
dropped what times out never (0); a reset comes at once (0)."""


class Toxiproxy:
    """One Toxiproxy server. `timeout` (seconds) bounds every call; link changes take milliseconds when they work."""

    def __init__(self, api: Endpoint, timeout: float = 10.0) -> None:
        self.api = api
        self._consumer = type("Consumer", (APIConsumer,), {"host": api.host, "port": api.port})
        self._timeout = timeout
        self._hangs = False

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
                raise LinksLost(
                    f"Toxiproxy at {self.api} did not open {proxy.listen} for {name}: another process holds that "
                    f"address; see the toxiproxy log of this run"
                )

    def enable(self, name: str, enabled: bool) -> None:
        """Open a proxy, or close it: connections end, new ones are refused. Works on a paused receiver as well."""
        self._call("post", f"/proxies/{name}", json={"enabled": enabled})

    def add(self, name: str, toxic: Toxic) -> None:
        """Harm one stream, of open and of new connections. Harmless if it is so already.

        Hangs for 25 s, and then happens late, if the receiver is paused (SIGSTOP) under load.
        """
        self._call("post", f"/proxies/{name}/toxics", as_good=ProxyExists, json=described(toxic))

    def remove(self, name: str, toxic: Toxic) -> None:
        """Undo `add`. Harmless if it is not there."""
        self._call("delete", f"/proxies/{name}/toxics/{_name(toxic)}", as_good=NotFound)

    def state(self, name: str) -> LinkState:
        found = self._call("get", f"/proxies/{name}")
        return LinkState(found["enabled"], frozenset(map(_toxic, found["toxics"])))

    def sent(self, name: str) -> int:
        """Bytes of requests that were passed on, of connections that have ended. Needs `-proxy-metrics`."""
        lines = str(self._call("get", "/metrics")).splitlines()
        ours = (line for line in lines if line.startswith(SENT) and f'proxy="{name}"' in line)
        return int(sum(float(line.rsplit(" ", 1)[1]) for line in ours if 'direction="upstream"' in line))

    def _call(self, method: str, path: str, *, as_good: type[Exception] | None = None, **content: object) -> Any:
        """The decoded answer; None if there is none, or if it is `as_good`: what was asked for is so already."""
        asked = f"{method.upper()} {path}"
        timeout = min(self._timeout, IMPATIENT) if self._hangs else self._timeout
        try:
            response = getattr(self._consumer, method)(path, **content, timeout=timeout, proxies=DIRECT)
            self._hangs = False
        except requests.ConnectionError as error:
            raise LinksLost(f"Toxiproxy at {self.api} could not be asked to {asked}: it is gone ({error})") from error
        except requests.RequestException as error:
            self._hangs = True
            raise LinksLost(
                f"Toxiproxy at {self.api} did not answer {asked} within {timeout:g} s: a stopped receiver holds it up, "
                f"or it hangs ({error})"
            ) from error
        except (InvalidToxic, NotFound, ProxyExists) as error:
            if as_good is not None and isinstance(error, as_good):
                return None
            raise LinksLost(f"Toxiproxy at {self.api} refused {asked}: {error}") from error
        if not response.ok:
            raise LinksLost(
                f"Toxiproxy at {self.api} answered {response.status_code} to {asked}: {response.text.strip()}"
            )
        if not response.content:
            return None
        return response.text if path == "/metrics" else response.json()


def described(toxic: Toxic) -> dict[str, Any]:
    """The body of the request that adds it."""
    kind, attribute = _KINDS[toxic.harm]
    return {
        "name": _name(toxic),
        "type": kind,
        "stream": _STREAMS[toxic.stream],
        "attributes": {attribute: toxic.amount},
    }


def _name(toxic: Toxic) -> str:
    return f"{toxic.harm.value}-{toxic.stream.value}"


def _toxic(found: Mapping[str, Any]) -> Toxic:
    """What the server says of a toxic that `add` made."""
    harm, stream = str(found["name"]).split("-")
    _, attribute = _KINDS[Harm(harm)]
    return Toxic(Harm(harm), Stream(stream), found["attributes"][attribute])
