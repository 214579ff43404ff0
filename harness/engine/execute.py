"""A plan's steps in order, and the end that every run has: heal, converge, read everything.

A step that cannot be done ends the story but not the run: what the cluster has acknowledged by then is still judged.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from faults.capabilities import CapabilityError
from harness.clients.settings import settle_seconds
from harness.conformance.progress import Phase
from harness.engine.audit import AUDITED, Auditor
from harness.engine.conditions import converged, holds, seen
from harness.engine.context import Context, Missed, StepError
from harness.engine.keeper import FaultError
from harness.engine.probes.prober import Prober
from harness.engine.steps import perform
from harness.errors import InfrastructureError, LinksLost
from harness.plan.conditions import Converged
from harness.plan.model import TopicSpec
from results.records.events import CONVERGE


class Watch(Protocol):
    """Whoever is told how far the run is."""

    def tell(self, phase: Phase, *, step: str | None = None) -> None: ...


CONVERGE_LEASES = 10
"""How many leases a healed cluster may take until all is as it was, and seconds on top of that for restarts."""
CONVERGE_SECONDS = 20.0
FINAL_READ_SECONDS = 30.0
"""For reading everything; longer where it takes longer until a healed partition shows all it has."""
READ_AGAIN_SECONDS = 5.0
BROKEN_SECONDS = 5.0
"""All the patience there is with a run that is worth nothing already."""


def execute(context: Context, watch: Watch) -> None:
    """All steps and the end. Whatever goes wrong is in the journal; only an interrupt is raised."""
    prober = Prober(context)
    patience = CONVERGE_SECONDS + CONVERGE_LEASES * context.plan.timing.lease_ms / 1000 + context.plan.prepared_seconds
    with Auditor(context) as auditor, prober:
        try:
            _steps(context, prober, auditor, watch)
        except InfrastructureError as error:
            auditor.tell(str(error))
            patience = BROKEN_SECONDS
        _end(context, prober, auditor, watch, patience)


def await_topics(context: Context, topics: Iterable[TopicSpec]) -> None:
    """Until the whole cluster agrees about each of these topics. InfrastructureError if it does not."""
    wanted = {f"{topic.name}-{index}" for topic in topics for index in range(len(topic.assignments))}
    seconds = CONVERGE_SECONDS + context.plan.prepared_seconds
    deadline = time.monotonic() + seconds
    there = context.wait(
        lambda: wanted <= set(context.now.image.partitions) and holds(lambda: converged(context)), deadline
    )
    if not there:
        raise InfrastructureError(
            f"the cluster did not agree about its topics within {seconds:g} s of their creation: "
            f"{seen(Converged(within_ms=0), context)}; see the nodes' logs"
        )


def _steps(context: Context, prober: Prober, auditor: Auditor, watch: Watch) -> None:
    plan = context.plan
    for place, step in enumerate(plan.steps):
        context.check_deadline()
        name = plan.step_name(place)
        watch.tell(Phase.STEP, step=name)
        begun = context.journal.write("step", name, "begin", {"do": step.do, "number": place + 1})
        context.instants[f"{name}.begun"] = begun.t
        try:
            end = perform(step, name, context, prober)
        except (StepError, FaultError) as error:
            outcome = "missed" if isinstance(error, Missed) else "failed"
            context.journal.write("step", name, "end", {"outcome": outcome, "sentence": str(error)})
            return
        except CapabilityError as error:
            context.journal.write("step", name, "end", {"outcome": "failed", "sentence": str(error)})
            if isinstance(error, LinksLost):
                raise
            raise InfrastructureError(f"the step {name} failed: {error}") from error
        context.instants[f"{name}.ended"] = context.journal.write("step", name, "end", end).t
        if step.do in AUDITED:
            auditor.soon()


def _end(context: Context, prober: Prober, auditor: Auditor, watch: Watch, patience: float) -> None:
    reading = min(patience, max(FINAL_READ_SECONDS, settle_seconds(context.plan.timing) + READ_AGAIN_SECONDS))
    context.deadline = time.monotonic() + patience + reading
    watch.tell(Phase.STEP, step="healing")
    failures = context.keeper.heal_all()
    if context.keeper.lost is not None:
        auditor.tell(str(context.keeper.lost))
    for sentence in failures:
        context.journal.write("note", "healing", "seen", {"what": "unhealed", "sentence": sentence})
    context.journal.write("step", CONVERGE, "begin", {"do": "converge"})
    context.journal.write("step", CONVERGE, "end", _converge(context, patience))
    watch.tell(Phase.STEP, step="reading everything")
    prober.finish()
    context.workload.stop()
    if any(not topic.prepared for topic in context.plan.topics):
        context.workload.final_read(reading)
    auditor.audit()


def _converge(context: Context, patience: float) -> Mapping[str, Any]:
    try:
        if context.wait(lambda: holds(lambda: converged(context)), time.monotonic() + patience):
            return {"outcome": "done"}
    except InfrastructureError as error:  # noted as trouble by whoever watches
        return {"outcome": "missed", "sentence": str(error)}
    what = seen(Converged(within_ms=0), context)
    return {"outcome": "missed", "sentence": f"not all was as before within {patience:g} s after healing: {what}"}
