"""Links that go and come back, again and again."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from fencepost.faults.capabilities import CapabilityError, Cluster, Evidence
from fencepost.faults.fault import BundleScript
from fencepost.faults.generation import BreakableCluster, GeneratedFault, text_of
from fencepost.faults.links.link_fault import Effect, LinkFault, Separation, between, separated
from fencepost.faults.links.link_generation import BETWEEN_NODES, generated, two_groups
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in

SHORTEST_MS: Mapping[Separation, int] = {"cut": 100, "stall": 800, "blackhole": 800}
"""The shortest period: each change has to show before the next one."""
METHODS: tuple[Separation, ...] = ("cut", "cut", "stall")


class FlappingParameters(FaultParameters):
    """`nodes` and `from` cannot talk for `on_ms`, then can for `off_ms`, `count` times over. It ends whole."""

    nodes: NodeRefs
    from_: NodeRefs
    on_ms: Annotated[int, Field(le=60_000)]
    off_ms: Annotated[int, Field(le=60_000)]
    count: Annotated[int, Field(ge=1, le=1000)]
    how: Separation = "cut"

    @model_validator(mode="after")
    def _long_enough(self) -> Self:
        if min(self.on_ms, self.off_ms) < SHORTEST_MS[self.how]:
            raise ValueError(f"what flaps by `{self.how}` needs {SHORTEST_MS[self.how]} ms for each change to show")
        return self


class Flapping(LinkFault):
    """Links between `nodes` and `from`, whichever side opens the connection, are broken for `on_ms` and whole for
    `off_ms`, `count` times.

    The times of all changes are those of the plan, counted from the first: nothing is random here, and a change that
    took long does not move the next. Each is measured until it shows, which it has to before the next is due; all are
    in the evidence of healing. The fault is proven by the first time that the links were broken and whole again. It
    ends whole, also when it is healed before its time. Models a loose cable or a route that is withdrawn and announced.
    `how`: as in `isolate`; silence takes 400 ms to be distinguished from slowness, so `cut` can be quicker than the
    others.
    Source: Toxiproxy, as in `isolate`; the schedule is a thread of this process.
    """

    name: ClassVar[str] = "flapping"
    phrase = "the links between {nodes} and {from} are broken and mended {count} times"
    holds: ClassVar[bool] = False
    Parameters = FlappingParameters
    weight = 2
    left_out: ClassVar[Mapping[str, str]] = BETWEEN_NODES
    bundle_script = BundleScript.LINK_EFFECTS_ONCE

    def __init__(self, cluster: Cluster, parameters: FlappingParameters) -> None:
        super().__init__(cluster)
        nodes = names_in(parameters.nodes)
        others = [node for node in names_in(parameters.from_) if node not in nodes]
        self.effects = tuple(Effect(*pair, separated(parameters.how)) for pair in between(nodes, others))
        self.on_ms, self.off_ms, self.count = parameters.on_ms, parameters.off_ms, parameters.count
        self._changes: list[dict[str, Any]] = []
        self._begun = 0.0
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._failure: CapabilityError | None = None
        self._over = False
        self._thread = threading.Thread(target=self._guard, name="flapping", daemon=True)

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        aim, other, links = two_groups(rng, cluster)
        how = rng.choice(METHODS)
        shortest = 200 if how == "cut" else 1000
        on, off, count = rng.choice((1, 2, 4)) * shortest, rng.choice((1, 2, 4)) * shortest, rng.choice((2, 3, 5))
        parameters = FlappingParameters(nodes=aim.refs, from_=other, on_ms=on, off_ms=off, count=count, how=how)
        title = f"{aim.text} and {text_of(other)} flap ({how}, {on} ms of {on + off})"
        fault = generated(parameters, aim, links, title)
        return replace(fault, exclusive=how == "stall")  # toxics come and go, and cannot while an end is paused

    def targets(self) -> dict[str, object]:
        schedule = {"on_ms": self.on_ms, "off_ms": self.off_ms, "count": self.count}
        return {**super().targets(), "schedule": schedule}

    @property
    def running(self) -> bool:
        """True while changes are still to come."""
        return not self._over

    def inject(self) -> None:
        self._begun = time.monotonic()
        self._thread.start()

    def verify(self) -> Evidence:
        """Once the links were broken and whole again, as measured each time."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._changes) > 1 or self._over or not self._begun)
            return self._evidence(self._changes[:2], of=2)

    def recover(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        super().recover()

    def verify_healed(self) -> Evidence:
        """The links are whole, and each change that was due came and showed."""
        now = super().verify_healed()
        changes = self._evidence(self._changes, of=len(self._changes))
        if not now.proven or not changes.proven:
            missed = changes.shortfall if now.proven else now.shortfall
            return Evidence.against(missed, {**now.measured, **changes.measured})
        return Evidence(True, f"{now.how}; {changes.how}", {**now.measured, **changes.measured})

    def _guard(self) -> None:
        try:
            self._run()
        except CapabilityError as error:
            self._failure = error
        finally:
            with self._changed:
                self._over = True
                self._changed.notify_all()

    def _run(self) -> None:
        due = 0
        for _ in range(self.count):
            for broken, lasts in ((True, self.on_ms), (False, self.off_ms)):
                if self._stopping.wait(max(0.0, self._begun + due / 1000 - time.monotonic())):
                    return
                self._change(broken, due, due + lasts)
                due += lasts

    def _change(self, broken: bool, due: int, until: int) -> None:
        at = self._now()
        self._each(self._impose if broken else self._release)
        right, what = (self._proves, "show no effect") if broken else (self._healed, "do not answer")
        evidence, _ = self._await(right, what, max(0.0, (until - self._now()) / 1000))
        with self._changed:
            self._changes.append(
                {
                    "due_ms": due,
                    "at_ms": at,
                    "until_ms": until,
                    "shown_ms": self._now(),
                    "links": "broken" if broken else "whole",
                    "proven": evidence.proven,
                    "how": evidence.how,
                }
            )
            self._changed.notify_all()

    def _now(self) -> int:
        return round((time.monotonic() - self._begun) * 1000)

    def _evidence(self, changes: Sequence[dict[str, Any]], of: int) -> Evidence:
        measured = {"changes": [dict(change) for change in changes]}
        if self._failure is not None:
            raise self._failure
        for number, change in enumerate(changes, 1):
            if not change["proven"]:
                return Evidence.against(f"change {number} of {of}, to {change['links']}: {change['how']}", measured)
        if len(changes) < of:
            return Evidence.against(f"only {len(changes)} of {of} changes came", measured)
        how = f"{len(changes)} changes, each shown by a round trip through each link"
        late = [
            change["shown_ms"] - change["until_ms"] for change in changes if change["shown_ms"] > change["until_ms"]
        ]
        if late:
            how += f"; {len(late)} of them only when the next was due already, up to {max(late)} ms late"
        return Evidence(True, how, measured)
