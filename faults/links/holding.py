"""How bytes are kept from arriving, and of which stream: what the faults that do it share."""

from __future__ import annotations

from collections.abc import Iterable

from faults.capabilities import BOTH, CUT, Harm, LinkState, Stream, Toxic

STREAMS = {
    "both": BOTH,
    "requests": frozenset({Stream.REQUESTS}),
    "replies": frozenset({Stream.REPLIES}),
}


def harmed(harm: Harm, streams: Iterable[Stream], amount: int = 0) -> LinkState:
    """A link with this harm on these streams and no other."""
    return LinkState(enabled=True, toxics=frozenset(Toxic(harm, stream, amount) for stream in streams))


def separated(how: str) -> LinkState:
    """A link that nothing passes: `cut`, `stall` or `blackhole`."""
    return CUT if how == "cut" else harmed(Harm(how), BOTH)
