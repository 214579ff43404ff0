"""What all faults of links share: effects on single links, and their proof by round trips through those links.

Sources: Toxiproxy's `bandwidth` toxic at rate 0 holds bytes and delivers them when it is removed, its `timeout` toxic
at 0 drops them and closes the connection when it is removed, `reset_peer` ends open connections and answers new ones
with RST; a disabled proxy ends its connections and refuses new ones. Adding or removing a toxic on a link to a stopped
process under load answers 503 after 25 s and takes effect later, so that is refused; disabling is not affected.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from faults.capabilities import (
    CUT,
    HEALTHY,
    Capability,
    CapabilityError,
    Cluster,
    Evidence,
    Harm,
    Held,
    LinkState,
    Reach,
    Running,
    Stream,
    Toxic,
)

Pair = tuple[str, str]
Result = TypeVar("Result")

SILENT_AFTER = 0.4
"""Seconds without an answer that count as silence. A healthy round trip takes about a millisecond."""
PATIENCE = 20.0
"""Seconds until a link has to be as wanted. Healing may have to wait for a node that is still starting."""
LOOK_AGAIN = 0.02
ENDED = (Reach.CLOSED, Reach.RESET)


@dataclass(frozen=True)
class Effect:
    """What happens to one link, said as the state that its proxy is to report."""

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
    """What was measured at one link at one time."""

    state: LinkState
    reach: Reach
    elapsed_ms: float
    open: Reach | None
    """What became of a connection that was open before the fault; None if none was."""
    closes: bool
    """Whether the destination ends connections once it has answered."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Of single faults, for the journal."""

    def told(self) -> dict[str, Any]:
        opened = {} if self.open is None else {"open connection": self.open.value}
        return {"round trip": self.reach.value, "ms": self.elapsed_ms, **opened, **self.more}


def pairs(sources: Iterable[str], destinations: Iterable[str]) -> list[Pair]:
    """Every link from one to the other, none from a node to itself."""
    return [(source, destination) for source in sources for destination in destinations if source != destination]


def between(some: Iterable[str], others: Iterable[str]) -> list[Pair]:
    """Every link between two groups, whoever opens it, each once. None leads to a client site."""
    both_ways = dict.fromkeys([*pairs(some, others), *pairs(others, some)])
    return [pair for pair in both_ways if not pair[1].startswith("site:")]


@dataclass
class LinkFault:
    """A fault made of effects on links. Subclasses say which, and those with effects of their own how these show."""

    cluster: Cluster
    effects: tuple[Effect, ...] = field(init=False)
    before: dict[Pair, Look] = field(init=False, default_factory=dict)
    held: dict[Pair, Held] = field(init=False, default_factory=dict)
    dropped: set[Pair] = field(init=False, default_factory=set)
    """Links that were seen to drop what an open connection was given."""

    name: ClassVar[str]
    capability: ClassVar[Capability] = Capability.LINKS
    measure: ClassVar[str] = "one round trip"
    """What proves it, for the journal."""
    holds: ClassVar[bool] = True
    """Whether connections are held open from before, to see what becomes of them."""

    def targets(self) -> Mapping[str, object]:
        return {
            "links": [
                {"from": effect.source, "to": effect.destination, "effect": str(effect)} for effect in self.effects
            ]
        }

    def nodes(self) -> frozenset[str]:
        return frozenset()

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
        deadline = time.monotonic() + PATIENCE / 2
        while self._unanswered() and time.monotonic() < deadline:
            time.sleep(LOOK_AGAIN)
            self.before = self._each(self._look)

    def _unanswered(self) -> bool:
        """Whether a destination that runs was silent: a busy one may be for a moment."""
        silent = (effect for effect in self.effects if self.before[effect.pair].reach is Reach.SILENT)
        return any(self._runs(effect.destination) for effect in silent)

    def inject(self) -> None:
        self._each(self._impose)

    def verify(self) -> Evidence:
        """Each link refuses, swallows or ends a round trip that it answered before.

        A link that was not answered before, and is not now, its destination being down, is believed from its proxy's
        own report.
        """
        evidence, looks = self._await(self._proves, "show no effect", PATIENCE)
        self.dropped |= {pair for pair, look in looks.items() if look.open is Reach.SILENT}
        return evidence

    def recover(self) -> None:
        self._each(self._release)

    def verify_healed(self) -> Evidence:
        """Each link carries a round trip again. Where nobody listens behind it (yet), the end of the connection came
        through it; behind one whose destination is stopped, nothing can come."""
        evidence, _ = self._await(self._healed, "do not answer", PATIENCE)
        if evidence.proven:
            for held in self.held.values():
                held.close()
            self.held.clear()
        return evidence

    def _await(
        self, right: Callable[[Effect, Look], bool], what: str, patience: float
    ) -> tuple[Evidence, dict[Pair, Look]]:
        """Look until all is right, and `patience` seconds at most."""
        deadline = time.monotonic() + patience
        while True:
            looks = self._each(self._look)
            wrong = [effect for effect in self.effects if not right(effect, looks[effect.pair])]
            if not wrong or time.monotonic() > deadline:
                return Evidence(not wrong, self._how(wrong, what, patience), self._measured(looks)), looks
            time.sleep(LOOK_AGAIN)

    def _look(self, effect: Effect) -> Look:
        links, held = self.cluster.links, self.held.get(effect.pair)
        if held is not None:
            held.ask()
        trip = links.round_trip(*effect.pair, self._silent_after(effect))
        waited = trip.reach is Reach.SILENT
        opened = None if held is None else held.fate(0.0 if waited else self._silent_after(effect))
        return Look(links.state(*effect.pair), trip.reach, trip.elapsed_ms, opened, trip.closes)

    def _silent_after(self, effect: Effect) -> float:
        return SILENT_AFTER

    def _proves(self, effect: Effect, look: Look) -> bool:
        if look.state != effect.wanted:
            return False
        if effect.cuts:
            return look.reach is Reach.REFUSED
        mute = self.before[effect.pair].reach is not Reach.ANSWERED and look.reach is not Reach.ANSWERED
        return mute or self._shows(effect, look)

    def _shows(self, effect: Effect, look: Look) -> bool:
        """Whether a link that answered before shows the effect."""
        if effect.has(Harm.RESET):
            return look.reach is Reach.RESET and look.open in (None, *ENDED)
        silent = look.reach is Reach.SILENT or self._lost_its_answer(effect, look)
        return silent and look.open in (None, Reach.SILENT)

    def _lost_its_answer(self, effect: Effect, look: Look) -> bool:
        """Of an answer that vanished on the way, the end of the connection that followed it came through."""
        only_replies = effect.wanted.toxics == {Toxic(Harm.BLACKHOLE, Stream.REPLIES)}
        ended = look.closes and look.reach is Reach.CLOSED
        return only_replies and ended and self._runs(effect.destination)

    def _runs(self, node: str) -> bool:
        return self.cluster.processes.status(node).running is Running.RUNNING

    def _healed(self, effect: Effect, look: Look) -> bool:
        if look.state != HEALTHY:
            return False
        if effect.has(Harm.BLACKHOLE) and effect.pair in self.dropped and look.open not in ENDED:
            return False
        if look.reach in (Reach.ANSWERED, *ENDED):
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

    def _how(self, wrong: list[Effect], what: str, patience: float) -> str:
        if not wrong:
            return f"{self.measure} through each of {len(self.effects)} links"
        names = ", ".join(f"{effect.source} to {effect.destination}" for effect in wrong)
        return f"{len(wrong)} of {len(self.effects)} links {what} after {patience:g} s: {names}"

    def _measured(self, looks: Mapping[Pair, Look]) -> dict[str, object]:
        return {
            f"{source} to {destination}": {
                "before": self.before[source, destination].told() if (source, destination) in self.before else None,
                "now": look.told(),
            }
            for (source, destination), look in looks.items()
        }
