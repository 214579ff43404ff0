"""Fatal requests: no request of a client ends a controller, or takes its leadership.

A move of the leadership, or the end of a controller, is judged if requests of the plan are its only possible cause:
with any other disturbance nothing is known. What nodes ask each other may depose a controller, and is a disturbance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import Need, checker
from fencepost.harness.checkers.disturbances import is_client_request
from fencepost.harness.checkers.exits import unexplained_exits
from fencepost.harness.checkers.stability import Stability, moves_without_cause
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.results.records.verdict import Basis, Finding

CHECK = Check("fatal-request", "A request stopped a controller", "CTRL-04", Basis.FAULT)

SECONDS = 5.0
"""Seconds before the end of a controller within which a request may have caused it."""


@dataclass(frozen=True)
class _Sent:
    """A step of requests, with the times between which they were sent and answered."""

    name: str
    request: str
    begin: float
    end: float

    @property
    def cell(self) -> str:
        return f"{self.name} ({self.request}, {self.begin:.2f} s)"


@checker(CHECK, rank=79, needs=[Need.CONTROLLERS], every_run=True, rests_on=["state:controller", "step:begin"])
def fatal_requests(stability: Stability) -> Finding:
    """Judge that controllers outlive the requests of the plan, in office. Linear in steps and moves."""
    sent = list(_requests(stability))
    rows: list[tuple[str, str, str, str]] = []
    times: list[float] = []
    alone = stability.undisturbed_by_requests
    for before, after in moves_without_cause(alone):
        since = after.t - stability.quorum_seconds
        if any(alone.disturbances.of_node(voter, since, after.t) for voter in stability.voters):
            continue  # a voter that was away and comes back may have campaigned
        if asked := _within(sent, since, after.t):
            name = stability.names.get(before.active, str(before.active))
            rows.append((name, f"lost epoch {before.epoch}", f"{after.t:.2f} s", asked))
            times.append(after.t)
    for exited in unexplained_exits(stability.plan, stability.journal):
        if exited.id in _controllers(stability, exited.t) and (asked := _within(sent, exited.t - SECONDS, exited.t)):
            rows.append((exited.id, f"ended with code {exited.data.get('exit_code')}", f"{exited.t:.2f} s", asked))
            times.append(exited.t)
    if not rows:
        message = f"No controller was stopped by one of {len(sent)} steps with requests of clients."
        return CHECK.held(len(sent) if stability.shows_deciders else 0, message)
    controller, what, t, asked = rows[times.index(min(times))]
    return CHECK.broken(
        len(sent),
        f"{controller} {what}, as was seen at {t}, and nothing but requests of clients had come before: {asked}.",
        ("controller", "what", "seen at", "requests before it"),
        rows,
        at=min(times),
    )


def _requests(stability: Stability) -> Iterator[_Sent]:
    ends = {event.id: event.t for event in stability.journal.of("step", "end")}
    steps = {stability.plan.step_name(place): step for place, step in enumerate(stability.plan.steps)}
    for event in stability.journal.of("step", "begin"):
        step = steps.get(event.id)
        if isinstance(step, ProbeStep) and is_client_request(step):
            request = step.api if isinstance(step, ApiProbe) else step.request
            yield _Sent(event.id, request, event.t, ends.get(event.id, inf))


def _within(sent: list[_Sent], since: float, until: float) -> str:
    """Name the requests that may have been sent between the two times; empty if there were none."""
    return ", ".join(each.cell for each in sent if each.begin <= until and each.end >= since)


def _controllers(stability: Stability, t: float) -> tuple[str, ...]:
    """Return the controllers that a request can end: each of a quorum, or the broker that is elected."""
    return tuple(stability.controllers(t, t)) if stability.dialect.uses_zookeeper else stability.voters
