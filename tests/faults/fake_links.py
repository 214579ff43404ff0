"""How bytes fare on a link in this state: what measurements of a fake cluster give."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.faults.capabilities import Harm, LinkState, ProbeResult, Stream, Transfer

SIZES = {Stream.REQUESTS: 14, Stream.REPLIES: 400}
"""Bytes of a request and of its answer."""


def reached(state: LinkState) -> ProbeResult:
    """By a first round trip."""
    harms = {toxic.harm for toxic in state.toxics}
    if not state.enabled:
        return ProbeResult.REFUSED
    if harms & {Harm.STALL, Harm.BLACKHOLE}:
        return ProbeResult.SILENT
    if Harm.RESET in harms:
        return ProbeResult.RESET
    torn = any(amount_of(state, Harm.LIMIT, stream, SIZES[stream]) < SIZES[stream] for stream in Stream)
    return ProbeResult.CLOSED if torn else ProbeResult.ANSWERED


def amount_of(state: LinkState, harm: Harm, stream: Stream, otherwise: int) -> int:
    return next((toxic.amount for toxic in state.toxics if (toxic.harm, toxic.stream) == (harm, stream)), otherwise)


def takes_ms(state: LinkState, sizes: dict[Stream, int]) -> float:
    """For so many bytes at once."""
    rates = {stream: amount_of(state, Harm.BANDWIDTH, stream, 10**6) for stream in sizes}
    late = sum(amount_of(state, Harm.LATENCY, stream, 0) for stream in Stream)
    return 1.0 + late + sum(size / rates[stream] for stream, size in sizes.items())


def transferred(state: LinkState, stream: Stream, size: int) -> Transfer:
    asked = max(size, SIZES[Stream.REQUESTS]) if stream is Stream.REQUESTS else size
    limit = amount_of(state, Harm.LIMIT, stream, asked + 1)
    whole, reach = reached(state) is ProbeResult.ANSWERED or limit <= asked, reached(state)
    if not whole:
        return Transfer(reach, asked, 0, 1, 1.0)
    passed = asked if limit > asked else limit if stream is Stream.REPLIES else 0
    ended = ProbeResult.ANSWERED if limit > asked else ProbeResult.CLOSED
    return Transfer(ended, asked, passed, 1, takes_ms(state, {stream: passed}))


@dataclass
class FakeHeld:
    """An open connection; `end` is set from outside."""

    answers: bool = True
    end: ProbeResult | None = None
    closed: bool = False

    def ask(self) -> None: ...

    def fate(self, timeout: float) -> ProbeResult:
        return self.end or (ProbeResult.ANSWERED if self.answers else ProbeResult.SILENT)

    def close(self) -> None:
        self.closed = True

    def become(self, before: LinkState, after: LinkState) -> None:
        """The link went from one state to another."""
        harms, were = ({toxic.harm for toxic in state.toxics} for state in (after, before))
        if not after.enabled or Harm.RESET in harms or (Harm.BLACKHOLE in were and Harm.BLACKHOLE not in harms):
            self.end = self.end or ProbeResult.CLOSED
        self.answers = reached(after) is ProbeResult.ANSWERED
