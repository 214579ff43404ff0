"""Clients that come and go: producers restart, members join and leave a group, a second producer takes an id over."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Literal

from fencepost.harness.campaign.client_claims import started
from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation
from fencepost.harness.plan.steps.workload import Workload

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

LEAVES = "m-1"
"""The member that may leave; it does so only while another one is there."""


class ClientsComeAndGo(Operation):
    """A producer restarts, a client that waits to be started starts, or a member leaves its group or returns."""

    name = "clients-come-and-go"
    of_any_broker = True
    weight = 4

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        workload, running = script.cluster.workload, started(script.steps)
        later = [each.name for each in workload.producers if each.start]
        later += [each.name for each in workload.consumers if each.start]
        choices: list[tuple[Literal["start", "stop"], str]] = [("start", each) for each in later if each not in running]
        members = [each for each in workload.consumers if each.membership]
        if any(each.name != LEAVES and (each.start is None or each.name in running) for each in members):
            left = [step.action for step in script.steps if isinstance(step, Workload) and LEAVES in step.only]
            choices.append(("start" if left[-1:] == ["stop"] else "stop", LEAVES))
        if not choices:
            return _restart(rng, script)
        action, name = rng.choice(choices)
        step = Workload(as_=script.name(f"{action}-{name}"), action=action, only=(name,))
        return GeneratedOperation(f"{action} of the client {name}", (step,))


def _restart(rng: random.Random, script: Script) -> GeneratedOperation:
    """Return the restart of a producer, which gets another producer id."""
    name = rng.choice([each.name for each in script.cluster.workload.producers])
    stop = Workload(as_=script.name(f"stop-{name}"), action="stop", only=(name,))
    start = Workload(as_=script.name(f"start-{name}"), action="start", only=(name,))
    return GeneratedOperation(f"restart of the client {name}", (stop, start))
