"""The base of the faults of links: effects on single links, and their proof by round trips through those links.

Sources: Toxiproxy's `bandwidth` toxic at rate 0 holds bytes and delivers them when it is removed, its `timeout` toxic
at 0 drops them and closes the connection when it is removed; `slow_close` behind each of them holds the end of a
connection. `reset_peer` ends open connections at their next bytes and answers new ones with RST, and a `timeout` of
1 ms behind it ends those that are idle. A disabled proxy ends its connections and refuses new ones. Adding or removing
a toxic on a link to a stopped process under load answers 503 after 25 s and takes effect later, so that is refused;
disabling is not affected.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeVar

from fencepost.faults.capabilities import (
    BOTH,
    CUT,
    HEALTHY,
    Capability,
    CapabilityError,
    Cluster,
    Evidence,
    Harm,
    LinkState,
    OpenConnection,
    ProbeResult,
    Running,
    Stream,
    Toxic,
)
from fencepost.faults.fault import BundleScript, Fault

StreamChoice = Literal["both", "requests", "replies"]
Separation = Literal["cut", "stall", "blackhole"]
"""The ways to keep two groups apart: connections end and are refused; bytes wait; bytes are lost."""

STREAMS: Mapping[StreamChoice, frozenset[Stream]] = {
    "both": BOTH,
    "requests": frozenset({Stream.REQUESTS}),
    "replies": frozenset({Stream.REPLIES}),
}

Pair = tuple[str, str]
Result = TypeVar("Result")

SILENT_AFTER = 0.4
"""Seconds without an answer that count as silence. A healthy round trip takes about a millisecond."""
TIMEOUT_S = 20.0
"""Seconds until a link has to be as wanted. Healing may have to wait for a node that is still starting."""
LOOK_AGAIN = 0.02
ENDED = (ProbeResult.CLOSED, ProbeResult.RESET)


@dataclass(frozen=True)
class Effect:
    """The effect on one link, as the state that its proxy is to report."""

    source: str
    destination: str
    wanted: LinkState = CUT

    @property
    def pair(self) -> Pair:
        return self.source, self.destination

    @property
    def cuts(self) -> bool:
        return not self.wanted.enabled

    def has(self, harm: Harm) -> bool:
        return any(toxic.harm is harm for toxic in self.wanted.toxics)

    def __str__(self) -> str:
        return "cut" if self.cuts else ", ".join(sorted(map(str, self.wanted.toxics)))


@dataclass(frozen=True)
class Look:
    """The measurements of one link at one time."""

    state: LinkState
    reach: ProbeResult
    elapsed_ms: float
    open: ProbeResult | None
    """The state of a connection that was open before the fault; None if none was."""
    closes: bool
    """True if the destination ends connections once it has answered."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """The measurements of single faults, for the journal."""

    def as_json(self) -> dict[str, Any]:
        opened = {} if self.open is None else {"open connection": self.open.value}
        return {"round trip": self.reach.value, "ms": self.elapsed_ms, **opened, **self.more}


def pairs(sources: Iterable[str], destinations: Iterable[str]) -> list[Pair]:
    """Return every link from one group to the other, none from a node to itself."""
    return [(source, destination) for source in sources for destination in destinations if source != destination]


def between(some: Iterable[str], others: Iterable[str]) -> list[Pair]:
    """Return every link between two groups, whichever side opens it, each once. None leads to a client site."""
    both_ways = dict.fromkeys([*pairs(some, others), *pairs(others, some)])
    return [pair for pair in both_ways if not pair[1].startswith("site:")]


def harmed(harm: Harm, streams: Iterable[Stream], amount: int = 0) -> LinkState:
    """Return the state of a link with this harm on these streams and no other."""
    return LinkState(enabled=True, toxics=frozenset(Toxic(harm, stream, amount) for stream in streams))


def separated(how: Separation) -> LinkState:
    """Return the state of a link that nothing passes."""
    return CUT if how == "cut" else harmed(Harm(how), BOTH)


@dataclass
class LinkFault(Fault):
    """A fault made of effects on links. Subclasses say which, and those with effects of their own how these show."""

    cluster: Cluster
    effects: tuple[Effect, ...] = field(init=False)
    before: dict[Pair, Look] = field(init=False, default_factory=dict)
    held: dict[Pair, OpenConnection] = field(init=False, default_factory=dict)
    dropped: set[Pair] = field(init=False, default_factory=set)
    """Links that were seen to drop what an open connection was given."""
    pids: dict[str, int | None] = field(init=False, default_factory=dict)
    """The processes of the destinations when the fault began."""
    meanwhile: dict[Pair, ProbeResult] = field(init=False, default_factory=dict)
    """The fates of connections that were open from before, as they were when the links were released."""
    died: set[str] = field(init=False, default_factory=set)
    """The destinations that ended since the fault began."""

    capability: ClassVar[Capability] = Capability.LINKS
    bundle_script = BundleScript.LINK_EFFECTS
    measure: ClassVar[str] = "one round trip"
    """The name of the proof, for the journal."""
    holds: ClassVar[bool] = True
    """True if connections are held open from before, to see their state later."""
    idle: ClassVar[bool] = False
    """True if nothing is asked on them, to see what becomes of idle ones."""

    def targets(self) -> Mapping[str, object]:
        return {
            "links": [
                {"from": effect.source, "to": effect.destination, "effect": str(effect)} for effect in self.effects
            ]
        }

    def links(self) -> frozenset[Pair]:
        return frozenset(effect.pair for effect in self.effects)

    def set_up(self) -> None:
        if not self.effects:
            raise CapabilityError(f"{self.name} is aimed at no link; name two different nodes or groups of nodes")
        for effect in self.effects:
            if not effect.cuts:
                self._refuse_paused(effect, "hold back")
        if self.holds:
            held = self._each(lambda effect: self.cluster.links.hold(*effect.pair, SILENT_AFTER))
            self.held = {pair: connection for pair, connection in held.items() if connection is not None}
        self.before = self._each(self._look)
        deadline = time.monotonic() + TIMEOUT_S / 2
        while self._unanswered() and time.monotonic() < deadline:
            time.sleep(LOOK_AGAIN)
            self.before = self._each(self._look)

    def _unanswered(self) -> bool:
        """Return whether a destination that runs was silent: a busy one may be for a moment."""
        silent = (effect for effect in self.effects if self.before[effect.pair].reach is ProbeResult.SILENT)
        return any(self._runs(effect.destination) for effect in silent)

    def inject(self) -> None:
        self.pids = {effect.destination: self._pid(effect.destination) for effect in self.effects}
        self._each(self._impose)

    def verify(self) -> Evidence:
        """Each link refuses, swallows or ends a round trip that it answered before.

        A link that was not answered before, and is not now, its destination being down, is believed from its proxy's
        own report.
        """
        evidence, looks = self._await(self._proves, "show no effect", TIMEOUT_S)
        self.dropped |= {pair for pair, look in looks.items() if look.open is ProbeResult.SILENT}
        return evidence

    def recover(self) -> None:
        silent = [effect for effect in self.effects if self._is_silent(effect)]
        self.died |= {link.destination for link in silent if self._ended(link.destination)}
        self.meanwhile |= {link.pair: self.held[link.pair].fate(0.0) for link in silent if link.pair in self.held}
        self._each(self._release)

    def verify_healed(self) -> Evidence:
        """Each link carries a round trip again. Where no process listens behind it (yet), the end of the connection
        came through it; behind one whose destination is stopped, nothing can come. Of a silent link, none of the
        connections that were open may have ended before it was released."""
        evidence, _ = self._await(self._healed, "do not answer", TIMEOUT_S)
        evidence = self._with_ends(evidence)
        if evidence.proven:
            for held in self.held.values():
                held.close()
            self.held.clear()
        return evidence

    def _await(
        self, right: Callable[[Effect, Look], bool], what: str, timeout: float
    ) -> tuple[Evidence, dict[Pair, Look]]:
        """Look until all is right, and `timeout` seconds at most."""
        deadline = time.monotonic() + timeout
        while True:
            looks = self._each(self._look)
            wrong = [effect for effect in self.effects if not right(effect, looks[effect.pair])]
            if not wrong or time.monotonic() > deadline:
                how = self._how(wrong, what, timeout)
                return Evidence(not wrong, how, self._measured(looks), how if wrong else ""), looks
            time.sleep(LOOK_AGAIN)

    def _look(self, effect: Effect) -> Look:
        links, held = self.cluster.links, self.held.get(effect.pair)
        if held is not None and not self.idle:
            held.ask()
        trip = links.round_trip(*effect.pair, self._silent_after(effect))
        waited = self.idle or trip.reach is ProbeResult.SILENT
        opened = None if held is None else held.fate(0.0 if waited else self._silent_after(effect))
        return Look(links.state(*effect.pair), trip.reach, trip.elapsed_ms, opened, trip.closes)

    def _silent_after(self, effect: Effect) -> float:
        return SILENT_AFTER

    def _proves(self, effect: Effect, look: Look) -> bool:
        if look.state != effect.wanted:
            return False
        if effect.cuts:
            return look.reach is ProbeResult.REFUSED
        mute = self.before[effect.pair].reach is not ProbeResult.ANSWERED and look.reach is not ProbeResult.ANSWERED
        return mute or self._shows(effect, look)

    def _shows(self, effect: Effect, look: Look) -> bool:
        """Return whether a link that answered before shows the effect."""
        if effect.has(Harm.RESET):
            return look.reach is ProbeResult.RESET and look.open in (None, *ENDED)
        silent = look.reach is ProbeResult.SILENT or self._lost_its_answer(effect, look)
        return silent and look.open in (None, ProbeResult.SILENT)

    def _lost_its_answer(self, effect: Effect, look: Look) -> bool:
        """Return whether an answer vanished on the way: the end of the connection that followed it came through."""
        only_replies = effect.wanted.toxics == {Toxic(Harm.BLACKHOLE, Stream.REPLIES)}
        ended = look.closes and look.reach is ProbeResult.CLOSED
        return only_replies and ended and self._runs(effect.destination)

    def _is_silent(self, effect: Effect) -> bool:
        """Return whether the source hears nothing of the destination now, nor its end."""
        mute = {Toxic(harm, Stream.REPLIES) for harm in (Harm.STALL, Harm.BLACKHOLE)}
        return bool(mute & self.cluster.links.state(*effect.pair).toxics)

    def _with_ends(self, evidence: Evidence) -> Evidence:
        """Add what was seen of ends while the links were silent. A link that let one through was not silent."""
        ended = [f"{source} to {to}" for (source, to), fate in sorted(self.meanwhile.items()) if fate in ENDED]
        if ended:
            how = f"connections ended while their links were to be silent: {', '.join(ended)}"
            return Evidence.against(how, evidence.measured)
        if not (self.died and evidence.proven):
            return evidence
        how = (
            f"{evidence.how}; {', '.join(sorted(self.died))} ended meanwhile: the links held the ends of connections "
            f"that were open, but those that were opened while it was down were closed at once"
        )
        return Evidence(True, how, evidence.measured)

    def _runs(self, node: str) -> bool:
        return self.cluster.processes.status(node).running is Running.RUNNING

    def _ended(self, node: str) -> bool:
        """Return whether the process that ran a node when the fault began is gone."""
        return (began := self.pids.get(node)) is not None and self._pid(node) != began

    def _pid(self, node: str) -> int | None:
        """Return the process that runs a node, None if none does."""
        status = self.cluster.processes.status(node)
        return status.pid if status.running in (Running.RUNNING, Running.PAUSED) else None

    def _healed(self, effect: Effect, look: Look) -> bool:
        if look.state != HEALTHY:
            return False
        if effect.has(Harm.BLACKHOLE) and effect.pair in self.dropped and look.open not in ENDED:
            return False
        if look.reach in (ProbeResult.ANSWERED, *ENDED):
            return True
        return self.cluster.processes.status(effect.destination).running is Running.PAUSED

    def _refuse_paused(self, effect: Effect, verb: str) -> None:
        for node in effect.pair:
            if not node.startswith("site:") and self.cluster.processes.status(node).running is Running.PAUSED:
                raise CapabilityError(
                    f"cannot {verb} bytes between {effect.source} and {effect.destination} while {node} is paused: "
                    "set and heal stalls before the pause or after it; only `cut` works in between"
                )

    def _impose(self, effect: Effect) -> None:
        if effect.cuts:
            self.cluster.links.cut(*effect.pair)
        else:
            self.cluster.links.harm(*effect.pair, effect.wanted.toxics)

    def _release(self, effect: Effect) -> None:
        if self.cluster.links.state(*effect.pair).toxics:
            self._refuse_paused(effect, "release")
        self.cluster.links.restore(*effect.pair)

    def _each(self, act: Callable[[Effect], Result]) -> dict[Pair, Result]:
        """Side by side: a partition that spreads link by link is another fault. The first error is raised, last."""
        with ThreadPoolExecutor(max_workers=min(16, len(self.effects))) as pool:
            results = pool.map(act, self.effects)
            return {effect.pair: result for effect, result in zip(self.effects, results, strict=True)}

    def _how(self, wrong: list[Effect], what: str, timeout: float) -> str:
        if not wrong:
            return f"{self.measure} through each of {len(self.effects)} links"
        names = ", ".join(f"{effect.source} to {effect.destination}" for effect in wrong)
        return f"{len(wrong)} of {len(self.effects)} links {what} after {timeout:g} s: {names}"

    def _measured(self, looks: Mapping[Pair, Look]) -> dict[str, object]:
        return {
            f"{source} to {destination}": {
                "before": self.before[source, destination].as_json() if (source, destination) in self.before else None,
                "now": look.as_json(),
            }
            for (source, destination), look in looks.items()
        }
