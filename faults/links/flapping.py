"""Links that go and come back, again and again."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, ClassVar

from faults.capabilities import CapabilityError, Cluster, Evidence
from faults.links.holding import separated
from faults.links.link_fault import Effect, LinkFault, between


class Flapping(LinkFault):
    """Links between `nodes` and `from`, whoever opens the connection, are broken for `on_ms` and whole for `off_ms`,
    `count` times.

    The times of all changes are those of the plan, counted from the first: nothing is drawn here, and a change that
    took long does not move the next. Each is measured until it shows, which it has to before the next is due; all are
    in the evidence of healing. The fault is proven by the first time that the links were broken and whole again. It
    ends whole, also when it is healed before its time. Models a loose cable or a route that is withdrawn and announced.
    `how`: as in `isolate`; what is silent takes 400 ms to be told from slow, so `cut` can be quicker than the others.
    Source: Toxiproxy, as in `isolate`; the schedule is a thread of this process.
    """

    name: ClassVar[str] = "flapping"
    holds: ClassVar[bool] = False

    def __init__(
        self,
        cluster: Cluster,
        *,
        nodes: Sequence[str],
        from_: Sequence[str],
        on_ms: int,
        off_ms: int,
        count: int,
        how: str = "cut",
    ) -> None:
        super().__init__(cluster)
        others = [node for node in from_ if node not in nodes]
        self.effects = tuple(Effect(*pair, separated(how)) for pair in between(nodes, others))
        self.on_ms, self.off_ms, self.count = on_ms, off_ms, count
        self._changes: list[dict[str, Any]] = []
        self._begun = 0.0
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._failure: CapabilityError | None = None
        self._over = False
        self._thread = threading.Thread(target=self._guard, name="flapping", daemon=True)

    def targets(self) -> dict[str, object]:
        schedule = {"on_ms": self.on_ms, "off_ms": self.off_ms, "count": self.count}
        return {**super().targets(), "schedule": schedule}

    @property
    def running(self) -> bool:
        """Whether changes are still to come."""
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
            return Evidence(False, changes.how if now.proven else now.how, {**now.measured, **changes.measured})
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
                return Evidence(False, f"change {number} of {of}, to {change['links']}: {change['how']}", measured)
        if len(changes) < of:
            return Evidence(False, f"only {len(changes)} of {of} changes came", measured)
        how = f"{len(changes)} changes, each shown by a round trip through each link"
        late = [
            change["shown_ms"] - change["until_ms"] for change in changes if change["shown_ms"] > change["until_ms"]
        ]
        if late:
            how += f"; {len(late)} of them only when the next was due already, up to {max(late)} ms late"
        return Evidence(True, how, measured)
