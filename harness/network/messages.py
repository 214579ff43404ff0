"""Single messages on the links of a cluster, decided on and counted by the toxics of `faults/messages/toxiproxy`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from fencepost.faults.capabilities import CapabilityError, MessageCounts, MessageRule
from fencepost.harness.network.layout import SITE_PREFIX, Layout, Proxy
from fencepost.harness.network.server import without_messages
from fencepost.harness.network.toxiproxy import Toxiproxy

_SUMS = ("matched", "lost", "held", "delivered", "undelivered", "repeated", "dropped", "broken")


class ToxiproxyMessages:
    """Implements `fencepost.faults.capabilities.Messages`. A rule is set in each proxy of a link.

    A change of the rule interrupts the toxic on each connection, for which Toxiproxy waits 25 s where a receiver does
    not read. So it is refused while an end of the link is paused.
    """

    def __init__(self, layout: Layout, server: Callable[[Proxy], Toxiproxy], is_paused: Callable[[str], bool]) -> None:
        self._layout = layout
        self._server = server
        self._is_paused = is_paused

    def decide(self, source: str, destination: str, rule: MessageRule) -> None:
        self._refuse(source, destination)
        described = {
            "api_key": rule.api_key,
            "version": rule.version,
            "part": rule.part.value,
            "fate": rule.fate.value,
            "skip": rule.skip,
            "count": rule.count,
            "hold_ms": rule.hold_ms,
        }
        for proxy in self._layout.proxies(source, destination):
            self._server(proxy).decide(proxy.name, described)

    def release(self, source: str, destination: str) -> None:
        if not self.counts(source, destination).active:
            return
        self._refuse(source, destination)
        for proxy in self._layout.proxies(source, destination):
            self._server(proxy).decide(proxy.name, None)

    def counts(self, source: str, destination: str) -> MessageCounts:
        sums, passing, active = Counter[str](), Counter[int](), False
        for proxy in self._layout.proxies(source, destination):
            state = self._server(proxy).messages(proxy.name)
            if state is None:
                raise CapabilityError(f"this cluster cannot decide on single messages: {without_messages()}")
            active |= state["rule"] is not None
            passing.update({int(key): count for key, count in (state["counts"]["passing"] or {}).items()})
            sums.update({name: state["counts"][name] for name in _SUMS})
            sums["unread"] += state["unread"]
        return MessageCounts(active, dict(passing), **sums)

    def _refuse(self, source: str, destination: str) -> None:
        if self._layout.node(destination).is_zookeeper:
            raise CapabilityError(f"{destination} is a ZooKeeper server: no messages of Kafka are sent to it")
        for end in (source, destination):
            if not end.startswith(SITE_PREFIX) and self._is_paused(end):
                raise CapabilityError(
                    f"cannot decide on messages from {source} to {destination} while {end} is paused: "
                    "do it before the pause or after it"
                )
