"""Client of a Toxiproxy's HTTP API: the few calls that links are made of, each with a timeout.

Every answer but 2xx, every refused connection and every timeout is LinksLost, since a fault that may or may not have
happened says nothing about the cluster. After one that hung, calls are given less time until one succeeds, so that
undoing many faults ends soon. The package toxiproxy-python checks the answers. Its consumer has no timeouts, and keeps
the address of one server in a class; its proxies repeat requests, and take a 503 for success. So the requests are sent
here, on connections that stay.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import requests
from toxiproxy.api import validate_response
from toxiproxy.exceptions import InvalidToxic, NotFound, ProxyExists

from fencepost.faults.capabilities import Harm, LinkState, Stream, Toxic
from fencepost.harness.errors import InfrastructureError, LinksLost
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.network.layout import Proxy
from fencepost.harness.network.program import RELEASE

UPSTREAM = "upstream"
MESSAGES = "message-requests"
"""The toxic that has the rule for messages of a proxy. The proxies of our own server have it from their beginning."""
_STREAMS = {Stream.REQUESTS: UPSTREAM, Stream.REPLIES: "downstream"}
TAKEN, REFUSED = '"message":"Accepted client"', '"message":"Could not write to destination"'
"""Lines of its log: of each connection at its beginning, and of one whose receiver did not take all."""
IMPATIENT = 2.0
"""Seconds for an answer from a server that did not give the last one."""


class _Part(NamedTuple):
    """A toxic of Toxiproxy that a harm is made of. `amount`: the value of its attribute; None for that of the harm."""

    kind: str
    attribute: str
    amount: int | None = None


_HELD_END = _Part("slow_close", "delay", 10**9)
"""The end of a stream waits for longer than any run lasts (milliseconds), or until this part is removed."""
_PARTS: Mapping[Harm, tuple[_Part, ...]] = {
    Harm.STALL: (_Part("bandwidth", "rate"), _HELD_END),
    Harm.BLACKHOLE: (_Part("timeout", "timeout"), _HELD_END),
    Harm.LATENCY: (_Part("latency", "latency"),),
    Harm.BANDWIDTH: (_Part("bandwidth", "rate"),),
    Harm.RESET: (_Part("reset_peer", "timeout"), _Part("timeout", "timeout", 1)),
    Harm.LIMIT: (_Part("limit_data", "bytes"),),
}
"""The toxics that make up each harm, in the order in which they are added; they are removed in the other.

Stalled is what has a bandwidth of 0, and dropped what times out never (0). Both let the end of a stream through at
once, so a slow close follows; behind them it never holds bytes that are not taken, for which its removal would wait. A
reset comes with the next bytes (0), so a connection that is idle times out, after a millisecond."""
_HOLDING = frozenset({Harm.STALL, Harm.BANDWIDTH, Harm.LATENCY})
"""The harms that hold bytes back."""
_RENEWALS = 3
"""Renewals that let one chunk of each connection through, until Toxiproxy knows that the receiver has closed it: the
first is answered by a reset, the second fails, and the third is spare."""
_UNTIL_WRITTEN = 0.02
"""Seconds in which Toxiproxy writes a chunk, or finds that the receiver has closed the connection."""


class WrongRelease(InfrastructureError):
    """The server is of a release that cannot be used."""


class Toxiproxy:
    """One Toxiproxy server. `timeout` (seconds) bounds every call; link changes take milliseconds when they work.

    `log` is the file of what the server prints; None if it is not read.
    """

    def __init__(self, api: Endpoint, timeout: float = 10.0, log: Path | None = None) -> None:
        self.api = api
        self._log = log
        self._timeout = timeout
        self._hangs = False
        self._session = requests.Session()
        self._session.trust_env = False  # a proxy of the environment does not lead to this machine

    def version(self) -> str:
        """Return the version that the server names. Raise WrongRelease if it is too old to answer in JSON."""
        try:
            return str(self._call("get", "/version")["version"])
        except requests.JSONDecodeError as error:
            raise WrongRelease(
                f"the server at {self.api} answers {error.doc.strip()!r} when it is asked for its version, as release "
                f"2.5.0 does, which `go install ...@latest` gives with some module proxies: release {RELEASE} is needed"
            ) from error

    def populate(self, proxies: Iterable[Proxy]) -> None:
        """Create all proxies in one call, then check the list: a proxy that could not bind is left out in silence."""
        by_name = {proxy.name: proxy for proxy in proxies}
        body = [
            {"name": proxy.name, "listen": str(proxy.listen), "upstream": str(proxy.upstream), "enabled": True}
            for proxy in by_name.values()
        ]
        self._call("post", "/populate", body=body)
        opened = self._call("get", "/proxies")
        for name, proxy in by_name.items():
            state = opened.get(name)
            if state is None or not state["enabled"] or state["listen"] != str(proxy.listen):
                raise LinksLost(
                    f"Toxiproxy at {self.api} did not open {proxy.listen} for {name}: another process holds that "
                    f"address; see the toxiproxy log of this run"
                )

    def enable(self, name: str, enabled: bool) -> None:
        """Open a proxy, or close it: connections end, new ones are refused. Works on a paused receiver as well."""
        self._call("post", f"/proxies/{name}", body={"enabled": enabled})

    def add(self, name: str, toxic: Toxic) -> None:
        """Harm one stream, of open and of new connections. Harmless if it is so already.

        Hangs for 25 s, and then happens late, if the receiver is paused (SIGSTOP) under load.
        """
        for part in described(toxic):
            self._call("post", f"/proxies/{name}/toxics", as_good=ProxyExists, body=part)

    def remove(self, name: str, toxic: Toxic) -> None:
        """Undo `add`. Harmless if it is not there.

        A receiver may have closed its connection meanwhile, as a ZooKeeper server does when a session expires. While
        Toxiproxy 2.12 removes a toxic, it waits 5 s for each chunk that such a connection does not take, and the whole
        proxy waits with it. So a harm that holds bytes back is renewed first, with the attributes that it has. A
        higher rate would let all through at once, but the server panics if it reads that rate in the middle of a chunk.
        """
        first, *others = (f"/proxies/{name}/toxics/{part['name']}" for part in described(toxic))
        for _ in range(_RENEWALS if toxic.harm in _HOLDING else 0):
            self._call("post", first, as_good=NotFound, body={"attributes": {}})
            time.sleep(_UNTIL_WRITTEN)
        for path in (*reversed(others), first):
            self._call("delete", path, as_good=NotFound)

    def state(self, name: str) -> LinkState:
        proxy = self._call("get", f"/proxies/{name}")
        return LinkState(proxy["enabled"], frozenset(_toxics(proxy["toxics"])))

    def decide(self, name: str, rule: Mapping[str, Any] | None) -> None:
        """Set the rule for messages in a proxy, or release it (None). Hangs for 25 s if the receiver is paused."""
        self._call("post", f"/proxies/{name}/toxics/{MESSAGES}", body={"attributes": {"rule": rule}})

    def messages(self, name: str) -> dict[str, Any] | None:
        """Return the rule for messages in a proxy and what was counted, as the server writes them: `rule`, `counts`,
        `unread`. None of a server without the toxics of `faults/messages/toxiproxy`."""
        toxic = self._call("get", f"/proxies/{name}/toxics/{MESSAGES}", as_good=NotFound)
        return None if toxic is None else dict(toxic["attributes"])

    def cut_short(self, name: str) -> dict[str, int]:
        """Return the bytes of requests that were passed on, by the address of the source, of connections whose
        receiver did not take all.

        Its log tells them, while its metrics leave out each connection whose last write failed. LinksLost if the log
        has no connection of this proxy at all, as of a server that writes another log.
        """
        lines = [] if self._log is None else self._log.read_text("utf-8", "replace").splitlines()
        entries = [json.loads(line) for line in lines if TAKEN in line or REFUSED in line]
        ours = [entry for entry in entries if entry["name"] == name]
        if not ours:
            raise LinksLost(
                f"the log of Toxiproxy at {self.api} does not tell what became of the bytes in {name}: use the "
                f"release that make builds, and leave LOG_LEVEL unset"
            )
        links = {str(entry["link"]): int(entry["bytes"]) for entry in ours if "link" in entry}
        return {link.removesuffix(UPSTREAM): count for link, count in links.items() if link.endswith(UPSTREAM)}

    def _call(self, method: str, path: str, *, as_good: type[Exception] | None = None, body: Any = None) -> Any:
        """Return the decoded answer; None if there is none, or if it is `as_good`: what was asked for is so already."""
        asked = f"{method.upper()} {path}"
        timeout = min(self._timeout, IMPATIENT) if self._hangs else self._timeout
        try:
            response = self._session.request(method, f"http://{self.api}{path}", json=body, timeout=timeout)
            self._hangs = False
            validate_response(response)
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
        return response.json() if response.content else None


def described(toxic: Toxic) -> list[dict[str, Any]]:
    """The bodies of the requests that add it, in their order."""
    return [
        {
            "name": f"{toxic.harm.value}-{toxic.stream.value}-{part.kind}",
            "type": part.kind,
            "stream": _STREAMS[toxic.stream],
            "attributes": {part.attribute: toxic.amount if part.amount is None else part.amount},
        }
        for part in _PARTS[toxic.harm]
    ]


def _toxics(toxics: Iterable[Mapping[str, Any]]) -> Iterator[Toxic]:
    """Decode what `add` made; a harm is there once all of its parts are."""
    attributes = {str(toxic["name"]): toxic["attributes"] for toxic in toxics}
    for harm, stream in product(Harm, Stream):
        names = [part["name"] for part in described(Toxic(harm, stream))]
        if attributes.keys() >= set(names):
            yield Toxic(harm, stream, attributes[names[0]][_PARTS[harm][0].attribute])
