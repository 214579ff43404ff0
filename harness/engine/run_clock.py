"""The instants and the deadline of a run, and waiting within them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from fencepost.harness.clients.observer import RECHECK, Observer
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.engine.active_faults import ActiveFaults
from fencepost.harness.engine.errors import StepError
from fencepost.harness.errors import DeadlinePassed, InfrastructureError
from fencepost.harness.plan.base import After
from fencepost.harness.plan.model import Plan
from fencepost.results.records.journal import JournalWriter


@dataclass
class RunClock:
    """The time of one run: `deadline` is monotonic, `instants` holds journal times by `name.phase`."""

    plan: Plan
    cluster: Cluster
    journal: JournalWriter
    observer: Observer
    active_faults: ActiveFaults
    deadline: float
    instants: dict[str, float]

    def moment(self, after: After) -> float:
        """Return the instant in this process's monotonic time, in seconds. Raise StepError if it has not come."""
        if after.event not in self.instants:
            raise StepError(f"`{after.event}` has not happened")
        since_now = self.instants[after.event] + after.plus_ms / 1000 - self.journal.now()
        return time.monotonic() + since_now

    def wait(self, condition: Callable[[], bool], deadline: float, every: float = RECHECK) -> bool:
        """Return True as soon as `condition` holds, and False when the monotonic `deadline` has passed.

        Raise DeadlinePassed when the run's own deadline has passed, and InfrastructureError at once when the machinery
        that carries the cluster is broken: then no condition means anything.
        """

        def holds() -> bool:
            self.check_machinery()
            return condition()

        if self.observer.wait(holds, min(deadline, self.deadline), every):
            return True
        self.check_deadline()
        return False

    def sleep_until(self, deadline: float) -> None:
        """Wait until the monotonic `deadline`; raise as `wait` does."""
        self.wait(lambda: False, deadline)

    def check_machinery(self) -> None:
        """Raise InfrastructureError if a Toxiproxy, or anything else that carries the cluster, is broken."""
        if broken := self.cluster.broken():
            raise InfrastructureError(broken[0])
        if self.active_faults.lost is not None:
            raise self.active_faults.lost

    def check_deadline(self) -> None:
        """Raise DeadlinePassed if the run's deadline has passed, InfrastructureError if its machinery is broken."""
        self.check_machinery()
        if time.monotonic() >= self.deadline:
            raise DeadlinePassed(f"the run was not over after {self.plan.deadline_ms / 1000:g} s")
