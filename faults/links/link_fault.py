"""What all faults of links share: effects on single links, and their proof by round trips through those links.

Sources: Toxiproxy's `bandwidth` toxic at rate 0 holds bytes and delivers them when it is removed; a disabled proxy
ends its connections and refuses new ones. Adding or removing a toxic on a link to a stopped process under load answers
503 after 25 s and takes effect later, so that is refused; disabling is not affected.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from faults.capabilities import (
    CUT,
    HEALTHY,
    Capability,
    CapabilityError,
    Cluster,
    Evidence,
    LinkState,
    Reach,
    Running,
)

Pair = tuple[str, str]
Result = TypeVar("Result")

SILENT_AFTER = 0.4
"""Seconds without an answer that count as silence. A healthy round trip takes about a millisecond."""
PATIENCE = 20.0
"""Seconds until a link has to be as wanted. Healing may have to wait for a node that is still starting."""


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


def pairs(sources: Iterable[str], destinations: Iterable[str]) -> list[Pair]:
    """Every link from one to the other, none from a node to itself."""
    return [(source, destination) for source in sources for destination in destinations if source != destination]


@dataclass
class LinkFault:
    """A fault made of effects on links. Subclasses say which."""

    cluster: Cluster
    effects: tuple[Effect, ...] = field(init=False)
    before: dict[Pair, Reach] = field(init=False, default_factory=dict)

    name: ClassVar[str]
    capability: ClassVar[Capability] = Capability.LINKS

    def targets(self) -> Mapping[str, object]:
        return {
            "links": [
                {
                    "from": effect.source,
                    "to": effect.destination,
                    "effect": "cut" if effect.cuts else sorted(map(str, effect.wanted.toxics)),
                }
                for effect in self.effects
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
        self.before = self._reach()

    def inject(self) -> None:
        self._each(self._impose)

    def verify(self) -> Evidence:
        """Each link refuses (cut) or swallows (stalled) a round trip that it answered before.

        A link that was not answered before, its destination being down, is believed from its proxy's own report.
        """
        deadline = time.monotonic() + PATIENCE
        while True:
            after, states = self._reach(), self._states()
            wrong = [effect for effect in self.effects if not self._proves(effect, after, states)]
            if not wrong or time.monotonic() > deadline:
                return Evidence(not wrong, self._how(wrong, "still answer"), self._measured(after))

    def recover(self) -> None:
        self._each(self._release)

    def verify_healed(self) -> Evidence:
        """Each link carries a round trip again. Where nobody listens behind it (yet), the end of the connection came
        through it; behind one whose destination is stopped, nothing can come."""
        deadline = time.monotonic() + PATIENCE
        while True:
            after, states = self._reach(), self._states()
            wrong = [effect for effect in self.effects if not self._healed(effect, after, states)]
            if not wrong or time.monotonic() > deadline:
                return Evidence(not wrong, self._how(wrong, "do not answer"), self._measured(after))

    def _refuse_paused(self, effect: Effect, verb: str) -> None:
        for node in effect.pair:
            if not node.startswith("site:") and self.cluster.processes.status(node).running is Running.PAUSED:
                raise CapabilityError(
                    f"cannot {verb} bytes between {effect.source} and {effect.destination} while {node} is paused: "
                    "set and heal stalls before the pause or after it; only `cut` works in between"
                )

    def _proves(self, effect: Effect, after: Mapping[Pair, Reach], states: Mapping[Pair, LinkState]) -> bool:
        if states[effect.pair] != effect.wanted:
            return False
        if effect.cuts:
            return after[effect.pair] is Reach.REFUSED
        return after[effect.pair] is Reach.SILENT or self.before[effect.pair] is not Reach.ANSWERED

    def _healed(self, effect: Effect, after: Mapping[Pair, Reach], states: Mapping[Pair, LinkState]) -> bool:
        if states[effect.pair] != HEALTHY:
            return False
        if after[effect.pair] in (Reach.ANSWERED, Reach.CLOSED):
            return True
        return self.cluster.processes.status(effect.destination).running is Running.PAUSED

    def _impose(self, effect: Effect) -> None:
        if effect.cuts:
            self.cluster.links.cut(*effect.pair)
        else:
            self.cluster.links.harm(*effect.pair, effect.wanted.toxics)

    def _release(self, effect: Effect) -> None:
        if self.cluster.links.state(*effect.pair).toxics:
            self._refuse_paused(effect, "release")
        self.cluster.links.restore(*effect.pair)

    def _reach(self) -> dict[Pair, Reach]:
        links = self.cluster.links
        return self._each(lambda effect: links.reach(effect.source, effect.destination, SILENT_AFTER))

    def _states(self) -> dict[Pair, LinkState]:
        return self._each(lambda effect: self.cluster.links.state(*effect.pair))

    def _each(self, act: Callable[[Effect], Result]) -> dict[Pair, Result]:
        """Side by side: a partition that spreads link by link is another fault. The first error is raised, last."""
        with ThreadPoolExecutor(max_workers=min(16, len(self.effects))) as pool:
            results = pool.map(act, self.effects)
            return {effect.pair: result for effect, result in zip(self.effects, results, strict=True)}

    def _how(self, wrong: list[Effect], what: str) -> str:
        if not wrong:
            return f"one round trip through each of {len(self.effects)} links"
        names = ", ".join(f"{effect.source} to {effect.destination}" for effect in wrong)
        return f"{len(wrong)} of {len(self.effects)} links {what} after {PATIENCE:g} s: {names}"

    def _measured(self, after: Mapping[Pair, Reach]) -> dict[str, object]:
        return {
            f"{source} to {destination}": {
                "before": self.before[source, destination].value if (source, destination) in self.before else None,
                "now": reach.value,
            }
            for (source, destination), reach in after.items()
        }
