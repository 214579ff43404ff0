"""Checks of the coverage that a plan asks for."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.harness.plan.checks.clients import clients_of, senders_of
from fencepost.harness.plan.checks.problem import Problem, unknown
from fencepost.harness.plan.checks.references import instant_problems
from fencepost.harness.plan.model import Committed, Plan


def coverage_problems(plan: Plan) -> Iterator[Problem]:
    names = {plan.step_name(place) for place in range(len(plan.steps))}
    senders = senders_of(plan)
    clients = clients_of(plan)
    faults = {plan.step_name(place) for place, step in enumerate(plan.steps) if step.do == "inject"}
    for place, item in enumerate(plan.coverage):
        at = ("coverage", place)
        for key in ("step", "fault"):
            name = getattr(item, key, None)
            if name is not None and name not in (faults if key == "fault" else names):
                yield Problem((*at, key), unknown(key, name, names))
        by = getattr(item, "by", None)
        known = clients if isinstance(item, Committed) else senders
        if by is not None and by not in known:
            yield Problem((*at, "by"), unknown("client" if isinstance(item, Committed) else "producer", by, known))
        for key in ("after", "before"):
            instant = getattr(item, key, None)
            if instant is not None:
                yield from instant_problems((*at, key), instant, names, faults)
