"""Puts drawn faults in order: what may overlap, what is awaited, in which order all is healed, what may be claimed.

The rules, each of which keeps a plan from claiming or asking for what no design promises:

- Two faults that may meet in one process, or on one link, never hold at a time: whoever comes second waits for the
  first one's healing.
- No link is stalled while a process is paused, and pauses end before stalls.
- A fault that is aimed at a role waits until somebody has it, and nothing is broken meanwhile that could keep it
  vacant.
- A *fragile* fault finds the cluster whole, leaves an undisturbed replica of every partition, and nothing is broken
  after it before the cluster is whole again: what its process stored may be gone for good.
- That work goes on *while* a fault holds is claimed of a fault that hits a whole cluster, alone, within what may be
  away (`Ground.spare_brokers`, `spare_quorum`), and for which every design of the target promises it.
- That all comes back *after* everything is healed is claimed if no more was ever away at a time than may be.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.campaign.draws import Drawn
from harness.campaign.draws.base import Undo
from harness.campaign.ground import Ground
from harness.plan.base import Expect, Level
from harness.plan.conditions import ActiveController, AwaitStep, Converged, IsrIs, LeaderIs, WorkloadAcks
from harness.plan.steps import Bind, Heal, HealAll, Hold, Shutdown, Start, Step, Workload

LIVELY_MS = 30_000
"""For what must happen sooner or later: far above what any machine needs, so a missed bound is no matter of speed."""
AT_ONCE = 3
"""So many faults hold at a time, at most."""
OFFSETS_MS = (0, 0, 50, 200, 500)
"""So long after a state was observed a fault hits that waits for it."""
PROGRESS = 20
"""Records that show that work goes on."""


@dataclass
class _Held:
    """A fault that was injected and is not healed. `aim` is the bound name of the node it hit, if it was bound; `sure`:
    every design of the target promises that this node leads no more, and that another one does."""

    name: str
    drawn: Drawn
    aim: str | None
    sure: bool = False


@dataclass
class Script:
    """Steps so far, and what is known of the cluster after them."""

    rng: random.Random
    ground: Ground
    calm: bool
    """Never is more away at a time than may be."""
    steps: list[Step] = field(default_factory=list)
    held: list[_Held] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    whole: bool = True
    """Every partition has its full ISR again."""
    fragile: bool = False
    """A fragile fault was healed since the cluster was last whole."""
    within: bool = True
    """No more was away at any time than may be."""
    _names: int = 0

    def open(self) -> None:
        self.steps += [Workload(as_="work", action="start"), self._acks("working", None)]

    def add(self, drawn: Drawn) -> None:
        """One more fault: whatever is in its way is healed before."""
        for other in self._in_the_way(drawn):
            self._heal(other)
        unsure = drawn.fragile or "zookeeper-leader" in drawn.roles
        if self.fragile or (unsure and not self.whole) or (drawn.fragile and self.held):
            self._heal_all()
            self._await_whole()
        self._inject(drawn)
        self._account()

    def close(self) -> None:
        """Everything is healed, in one of the ways there are; then what has to come back is awaited."""
        if self.rng.random() < 0.5 or any(each.drawn.again for each in self.held):
            self._heal_all()
        expect = Expect(level=Level.MUST, requirement="LIVE-01") if self.within else None
        goes_on = Expect(level=Level.MUST, requirement="LIVE-03") if self.within else None
        self.steps += [
            HealAll(as_="mend"),
            Converged(as_="whole", within_ms=self._lively, expect=expect),
            self._acks("progress", goes_on),
            Workload(as_="rest", action="stop"),
        ]

    def _in_the_way(self, drawn: Drawn) -> list[_Held]:
        """What has to be healed before this can be injected, in the order of healing."""
        wrong = [
            each
            for each in self.held
            if each.drawn.alone
            or drawn.alone
            or (each.drawn.pauses and drawn.stalls)
            or (_clash(drawn, each.drawn) and not _follows(drawn, each))
        ]
        rest = [each for each in self.held if each not in wrong]
        fragile = drawn.fragile or any(each.drawn.fragile for each in rest)
        while rest and (
            len(rest) >= AT_ONCE
            or (fragile and not self._leaves_one(drawn, rest))
            or (drawn.roles and not self._tolerated(each.drawn for each in rest))
            or (self.calm and not self._tolerated([drawn, *(each.drawn for each in rest)]))
        ):
            wrong.append(rest.pop(0))
        return _in_order(wrong, self.held)

    def _leaves_one(self, drawn: Drawn, others: Sequence[_Held]) -> bool:
        away = drawn.brokers + sum(each.drawn.brokers for each in others)
        return away < self.ground.fewest_replicas

    def _inject(self, drawn: Drawn) -> None:
        number = len(self.faults) + 1
        name, alone = f"fault-{number}", not self.held and self.whole
        params: dict[str, Any] = dict(drawn.params)
        aim = None
        if (ripe := self._ripe(drawn)) is not None:
            params |= {"when": ripe, "plus_ms": self.rng.choice(OFFSETS_MS)}
        elif drawn.who.leads and not drawn.fragile and self.rng.random() < (0.8 if drawn.goes_on else 0.4):
            aim = f"hit-{number}"
            if self.faults:
                self.steps.append(LeaderIs(partition=str(drawn.who.partition), within_ms=self._lively))
            self.steps.append(Bind(as_=aim, node=str(drawn.who.refs)))
            params = {key: f"${aim}" if value == drawn.who.refs else value for key, value in params.items()}
        elif (there := self._there(drawn)) is not None:
            params["when"] = there
        step: Any = drawn.inject.model_validate({"as_": name, **params})  # one of the union, known by its class only
        self.steps.append(step)
        self.held.append(_Held(name, drawn, aim))
        self.faults.append(name)
        self._account()
        promised = alone and drawn.goes_on and self._tolerated([drawn])
        self.held[-1].sure = promised and aim is not None and drawn.brokers > 0
        self._meanwhile(self.held[-1], promised)
        if drawn.brokers or drawn.quorum:
            self.whole = False

    def _ripe(self, drawn: Drawn) -> AwaitStep | None:
        """What an earlier fault is sure to bring about, if this one is to wait for that."""
        for each in self.held:
            if not each.sure or drawn.fragile:
                continue
            if _clash(drawn, each.drawn):
                return self._moved(each)
            if self.rng.random() < 0.6:
                return self.rng.choice((self._moved, self._left))(each)
        return None

    def _there(self, drawn: Drawn) -> AwaitStep | None:
        """That the cluster is whole, for what may cost a copy; that those roles are taken which it is aimed at, if
        something was broken before."""
        if drawn.fragile:
            return Converged(within_ms=self._lively)
        for role in drawn.roles if self.faults else ():
            _, _, partition = role.partition(":")
            if partition:
                return LeaderIs(partition=partition, within_ms=self._lively)
            if role == "active-controller":
                return ActiveController(within_ms=self._lively)
        return None

    def _meanwhile(self, held: _Held, promised: bool) -> None:
        """How long it holds before anything else happens, or until work has gone on."""
        number = held.name.removeprefix("fault-")
        if promised and self.rng.random() < 0.4:
            goes_on = Expect(level=Level.MUST, requirement="LIVE-03")
            self.steps.append(self._acks(f"goes-on-{number}", goes_on))
            return
        if held.sure and self.rng.random() < 0.4:
            return  # whatever comes next is anchored at what this brings about, or finds it fresh
        lease = self.ground.timing.lease_ms
        how = self.rng.choices(("short", "about a lease", "long"), weights=(3, 3, 4))[0]
        low, high = {"short": (0.1, 0.7), "about a lease": (0.8, 1.3), "long": (1.4, 2.5)}[how]
        ms = round(self.rng.uniform(low, high) * lease, -1)
        self.steps.append(Hold(as_=f"held-{number}", after=f"{held.name}.proven", ms=int(ms)))

    def _moved(self, held: _Held) -> AwaitStep:
        """Another leads than the leader that it hit."""
        partition = str(held.drawn.who.partition)
        return LeaderIs(partition=partition, is_not=f"${held.aim}", within_ms=self._lively)

    def _left(self, held: _Held) -> AwaitStep:
        """The leader that it hit is out of the ISR."""
        return IsrIs(partition=str(held.drawn.who.partition), lacks=f"${held.aim}", within_ms=self._lively)

    def heal_some(self) -> None:
        """After a fault: heal what holds, one of them, or nothing yet."""
        how = self.rng.choices(("all", "one", "nothing"), weights=(4, 3, 3))[0]
        if not self.held or how == "nothing":
            return
        if how == "all":
            self._heal_all()
        else:
            self._heal(_in_order(self.held, self.held)[0])
        what = self.rng.choices(("go on", "a moment", "whole"), weights=(4, 3, 3))[0]
        last = self.steps[-1].as_
        if what == "whole" and not self.held:
            self._await_whole()
        elif what == "a moment":
            ms = round(self.rng.uniform(0.1, 1.0) * self.ground.timing.lease_ms, -1)
            self.steps.append(Hold(as_=self._name("after"), after=f"{last}.ended", ms=int(ms)))

    def _heal_all(self) -> None:
        if not self.held:
            return
        if len(self.held) > 1 and self.rng.random() < 0.5 and not any(each.drawn.again for each in self.held):
            self.fragile |= any(each.drawn.fragile for each in self.held)
            self.steps.append(HealAll(as_=self._name("heal-all")))
            self.held.clear()
            return
        for each in _in_order(self.held, self.held):
            self._heal(each)

    def _heal(self, held: _Held) -> None:
        self.fragile |= held.drawn.fragile
        number = held.name.removeprefix("fault-")
        self.steps.append(Heal(as_=f"heal-{number}", fault=held.name))
        self.held.remove(held)
        if held.drawn.again:
            self.steps += [
                Shutdown(as_=f"end-{number}", nodes=held.drawn.who.refs, within_ms=self._lively),
                Start(as_=f"again-{number}", nodes=held.drawn.who.refs),
            ]

    def _await_whole(self) -> None:
        self.steps.append(Converged(as_=self._name("whole"), within_ms=self._lively))
        self.whole, self.fragile = True, False

    def _account(self) -> None:
        self.within &= self._tolerated([each.drawn for each in self.held])

    def _tolerated(self, faults: Iterable[Drawn]) -> bool:
        return tolerated(self.ground, faults)

    def _acks(self, name: str, expect: Expect | None) -> WorkloadAcks:
        """Of the producer that waits for all replicas, where there are several: of any of those."""
        return WorkloadAcks(as_=name, more=PROGRESS, within_ms=self._lively, producer="p-t", expect=expect)

    def _name(self, what: str) -> str:
        self._names += 1
        return f"{what}-{self._names}"

    @property
    def _lively(self) -> int:
        return LIVELY_MS * self.ground.target.stretch


def tolerated(ground: Ground, faults: Iterable[Drawn]) -> bool:
    """Is no more away, while these hold at a time, than may be? Whoever a role leads to is counted for each of them."""
    faults = list(faults)
    return (
        sum(each.brokers for each in faults) <= ground.spare_brokers
        and sum(each.quorum for each in faults) <= ground.spare_quorum
    )


def _clash(one: Drawn, other: Drawn) -> bool:
    return any(mine.clashes(theirs) for mine in one.parts for theirs in other.parts)


def _follows(drawn: Drawn, held: _Held) -> bool:
    """Whoever leads a partition next can be hit while the one that led it is still down: they are not the same."""
    return held.sure and held.drawn.ends and drawn.who.leads and drawn.who.refs == held.drawn.who.refs


def _in_order(wanted: Sequence[_Held], held: Sequence[_Held]) -> list[_Held]:
    """Those that must be healed, and whatever has to be healed before them: links before a process that needs them, a
    pause before anything that is stalled. Of one kind the quorum comes first: a broker that starts may end if it finds
    none."""
    if any(each.drawn.undo is Undo.PROCESSES for each in wanted):
        wanted = [*wanted, *(each for each in held if each.drawn.undo is Undo.LINKS and each not in wanted)]
    if any(each.drawn.stalls for each in wanted):
        wanted = [*wanted, *(each for each in held if each.drawn.pauses and each not in wanted)]
    return sorted(wanted, key=lambda each: (each.drawn.undo, each.drawn.who.side != "quorum", held.index(each)))
