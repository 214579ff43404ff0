"""Signs of a broker, seen from outside while a command breaks it: at its port, in Metadata, by leader epochs.

- Its process ended: the connection that was open ended, or a new one is refused or closed. Where the network says
  nothing of it: no answer, and another broker knows a higher epoch of a partition that it led, or lists it no more.
- It stands still: connections stand, and neither the open one nor a new one gets an answer.
- It is off its network: neither the open connection nor a new one gets an answer.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self

from fencepost.faults.capabilities import Evidence, ProbeResult
from fencepost.harness.clients.asking import ask_metadata
from fencepost.harness.clients.login import Access, connect
from fencepost.harness.clients.raw import NoAnswer
from fencepost.harness.clients.views import BrokerView
from fencepost.harness.network.layout import Node
from fencepost.harness.network.roundtrip import round_trip
from fencepost.harness.network.tls import over_tls
from fencepost.harness.network.transfer import HeldConnection, hold

ANSWER_SECONDS = 0.5
"""Seconds without an answer that count as silence."""
LOOK_EVERY = 0.05
STEADY = 3
"""Silences, one after the other, that count: a single one may be a pause of the network."""
_ENDED = frozenset({ProbeResult.REFUSED, ProbeResult.CLOSED, ProbeResult.RESET})


class Watch:
    """Looks at one broker, from before it is broken. `others` are asked what they know of it."""

    def __init__(self, node: Node, others: Collection[Node], access: Access, topics: Collection[str]) -> None:
        self._node = node
        self._others = [other for other in others if other.name != node.name]
        self._access = access
        self._topics = sorted(topics)
        self._held: HeldConnection | None = None
        self._before = BrokerView()
        self._silences = 0
        self._measured: dict[str, object] = {}

    def __enter__(self) -> Self:
        self._held = hold(self._connect, self._node.front.port, ANSWER_SECONDS)
        self._before = self._asked()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._held is not None:
            self._held.close()

    @property
    def is_up(self) -> bool:
        """True if it answered before it was broken."""
        return self._held is not None

    def answers(self) -> bool:
        """Return whether it answers at its port now."""
        return self._reach() is ProbeResult.ANSWERED

    def ended(self) -> str | None:
        """Return how it is seen that its process ended; None as long as it is not."""
        fate, reach = self._look()
        if fate in _ENDED:
            return f"its port: the connection that was open ended ({fate.value})"
        if reach in _ENDED:
            return f"its port: a new connection is {reach.value}"
        if self._silences < STEADY:
            return None
        return self._of_others()

    def still(self) -> str | None:
        """Return how it is seen that it stands still; None as long as it is not."""
        fate, reach = self._look()
        if fate in _ENDED or reach in _ENDED or self._silences < STEADY:
            return None
        return f"its port: connections stand, and {STEADY} questions in turn got no answer"

    def gone(self) -> str | None:
        """Return how it is seen that it is off its network; None as long as it is not."""
        fate, reach = self._look()
        if fate is ProbeResult.ANSWERED or (reach not in _ENDED and self._silences < STEADY):
            return None
        return f"its port: the open connection is {fate.value}, and a new one {reach.value}"

    def await_(self, sign: Callable[[], str | None], seconds: float) -> Evidence:
        """Look until there is the sign."""
        began = time.monotonic()
        while (how := sign()) is None:
            if time.monotonic() - began > seconds:
                return Evidence.against(f"after {seconds:g} s it still answers as before", self._measured)
            time.sleep(LOOK_EVERY)
        return Evidence(True, how, {**self._measured, "seconds": round(time.monotonic() - began, 3)})

    def _look(self) -> tuple[ProbeResult, ProbeResult]:
        """Ask over the connection that was open, and over a new one."""
        assert self._held is not None, "nothing is broken that did not answer before"
        self._held.ask()
        fate, reach = self._held.fate(ANSWER_SECONDS), self._reach()
        silent = fate is ProbeResult.SILENT and reach is ProbeResult.SILENT
        self._silences = self._silences + 1 if silent else 0
        self._measured |= {"open": fate.value, "new": reach.value}
        return fate, reach

    def _reach(self) -> ProbeResult:
        try:
            return round_trip(self._node.front, ANSWER_SECONDS, self._connect).reach
        except OSError:  # no way to its address
            return ProbeResult.SILENT

    def _of_others(self) -> str | None:
        now, id_ = self._asked(), self._node.id
        epochs = _epochs(now)
        for key, epoch in _epochs(self._before, led_by=id_).items():
            if epochs.get(key, -1) > epoch:
                self._measured |= {"partition": key, "epoch before": epoch, "epoch": epochs[key]}
                return f"the leader epoch of {key}, which it led: {epochs[key]} after {epoch}"
        if id_ in self._before.brokers and now.brokers and id_ not in now.brokers:
            return "Metadata of another broker: it is listed no more"
        return None

    def _asked(self) -> BrokerView:
        """Return what another broker knows."""
        for other in self._others:
            with suppress(NoAnswer), connect(other.front, ANSWER_SECONDS, self._access) as connection:
                return ask_metadata(connection, self._topics)
        return BrokerView()

    def _connect(self, seconds: float) -> socket.socket:
        at = self._node.front
        return over_tls(socket.create_connection(at, seconds), self._access.tls, at.host, seconds)


def _epochs(view: BrokerView, led_by: int | None = None) -> Mapping[str, int]:
    partitions = view.partitions.items()
    return {key: each.leader_epoch for key, each in partitions if led_by is None or each.leader == led_by}
