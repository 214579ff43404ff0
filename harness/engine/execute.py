"""Execute a plan's steps in order, then the end of every run: heal, converge, read everything.

A step that cannot be done ends the scenario but not the run: the records acknowledged by then are still judged. So
does a claim that is broken for certain, in a run that is to end early: its verdict is a violation whatever follows.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

from fencepost.faults.capabilities import CapabilityError
from fencepost.harness.backends import ELSEWHERE
from fencepost.harness.checkers.decided import deciding_violation
from fencepost.harness.checkers.recorded_run import RecordedRun
from fencepost.harness.clients.settings import settle_seconds
from fencepost.harness.engine.audit import AUDITED, Auditor
from fencepost.harness.engine.conditions import await_condition, holds
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.convergence import blocker
from fencepost.harness.engine.describing import take_checkpoint
from fencepost.harness.engine.errors import FaultError, StepError, StepTimeout, UnresolvedRole
from fencepost.harness.engine.injecting import inject
from fencepost.harness.engine.performed import PerformedRun
from fencepost.harness.engine.probes.prober import Prober
from fencepost.harness.engine.topics import list_topics
from fencepost.harness.errors import CallHangs, DeadlinePassed, InfrastructureError, LinksLost, NodeNotReady
from fencepost.harness.plan.base import Level
from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Plan, TopicSpec
from fencepost.harness.plan.performed import READY_WITHIN
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.produce import Produce
from fencepost.harness.plan.topic_changes import deleted_topics, own_topics
from fencepost.harness.processes.run_delays import EVERY as LOOK_SECONDS
from fencepost.results.records.events import CONVERGE, ENDED_EARLY
from fencepost.results.records.journal import read_journal
from fencepost.results.records.progress import Phase
from fencepost.results.records.verdict import Finding


class ProgressListener(Protocol):
    """The receiver of a run's progress."""

    def report(self, phase: Phase, *, step: str | None = None, proof: str | None = None) -> None:
        """Take a phase, and the name of the step that begins; or the proof of the fault that the step injected."""


CONVERGE_LEASES = 10
"""The number of leases within which a healed cluster must converge; CONVERGE_SECONDS are added for restarts."""
CONVERGE_SECONDS = 20.0
FINAL_READ_SECONDS = 30.0
"""Seconds for reading everything; more if a healed partition takes longer to serve all its records."""
READ_AGAIN_SECONDS = 5.0
NAME_OF_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
BROKEN_SECONDS = 5.0
"""The timeout for convergence after the infrastructure failed, or a claim: the run's verdict is known by then."""
DONE: Mapping[str, Any] = {"outcome": "done"}


def execute(context: Context, listener: ProgressListener, *, end_early: bool = False) -> None:
    """Execute all steps and the end of the run. Errors are journalled; only an interrupt is raised.

    With `end_early` the steps after a claim that is broken for certain are not tried.
    """
    with executing(context, listener) as execution:
        execution.begin()
        for place in range(len(context.plan.steps)):
            goes_on = execution.tries(place)
            if (end_early and execution.ends_early(place)) or not goes_on:
                break
        execution.end()


@contextmanager
def executing(context: Context, listener: ProgressListener) -> Iterator[Execution]:
    """Audit the machinery and answer probes while the steps of a run are performed."""
    prober = Prober(context)
    with Auditor(context.cluster, context.journal) as auditor, prober:
        yield Execution(context, prober, auditor, listener)


def await_topics(context: Context, topics: Iterable[TopicSpec]) -> None:
    """Wait until the whole cluster agrees about each of these topics. Raise InfrastructureError if it does not."""
    partitions = {f"{topic.name}-{index}" for topic in topics for index in range(len(topic.assignments))}
    seconds = CONVERGE_SECONDS + context.plan.prepared_seconds
    deadline = time.monotonic() + seconds
    references = context.references

    def agreed() -> bool:
        return partitions <= set(references.now.image.partitions) and _is_converged(context)

    if not context.clock.wait(agreed, deadline):
        raise InfrastructureError(
            f"the cluster did not agree about its topics within {seconds:g} s of their creation: "
            f"{_blocker(context)}; see the nodes' logs"
        )


class Execution:
    """The steps of one run, performed one after the other, and the end of the run."""

    def __init__(self, context: Context, prober: Prober, auditor: Auditor, listener: ProgressListener) -> None:
        self._context = context
        self._prober = prober
        self._auditor = auditor
        self._listener = listener
        self._suspect = False
        """A step did not end as it has to. The judge knows whether that breaks a claim."""
        self._decided = False
        lease = context.plan.timing.lease_ms / 1000
        self._timeout = CONVERGE_SECONDS + CONVERGE_LEASES * lease + context.plan.prepared_seconds

    def tries(self, place: int) -> bool:
        """Perform the step at this place of the plan, and return whether it could be done."""
        step = self._context.plan.steps[place]
        expect = step.expect if isinstance(step, AwaitStep | Produce) else None
        try:
            end = self.perform(step, self._context.plan.step_name(place), place + 1)
        except (StepError, FaultError, InfrastructureError) as error:
            self._suspect = expect is not None and isinstance(error, StepTimeout)
            return False
        never = expect is not None and expect.level is Level.NEVER
        self._suspect = (isinstance(step, Produce) and expect is not None) or (never and end["outcome"] == "done")
        return True

    def ends_early(self, place: int) -> bool:
        """Return whether the claim of a step up to this place is broken for certain; journal what is left untried."""
        if not (self._suspect or self._prober.contradicted):
            return False
        self._prober.contradicted = False
        context = self._context
        if self._violation() is None:
            return False
        try:
            context.clock.sleep_until(time.monotonic() + 2 * LOOK_SECONDS)  # waits for a processor are journalled late
        except InfrastructureError:
            return False
        if (finding := self._violation()) is None:
            return False
        untried = [context.plan.step_name(left) for left in range(place + 1, len(context.plan.steps))]
        data = {"what": ENDED_EARLY, "step": finding.evidence["step"], "message": finding.message, "untried": untried}
        context.journal.write("note", "ended-early", "seen", data)
        self._listener.report(Phase.STEP, step="a claim is broken: ending the run")
        self._decided = True
        return True

    def _violation(self) -> Finding | None:
        return deciding_violation(self._context.plan, read_journal(self._context.journal.path))

    def perform(self, step: Step, name: str, number: int) -> Mapping[str, Any]:
        """Perform a step, and return the data of its end, which is journalled as its beginning is.

        Raise StepError or FaultError if it cannot be done, DeadlinePassed if the time of the run is up, and
        InfrastructureError if the machinery failed. After any of them only the end of the run is left.
        """
        try:
            return self._perform(step, name, number)
        except DeadlinePassed as error:
            self._context.journal.overrun(f"at the step {name}: {error}")
            self._timeout = BROKEN_SECONDS
            raise
        except CallHangs as error:
            self._context.journal.hangs(f"at the step {name}: {error}", error.seconds)
            self._timeout = BROKEN_SECONDS
            raise
        except InfrastructureError as error:
            self._auditor.record(str(error))
            self._timeout = BROKEN_SECONDS
            raise

    def _perform(self, step: Step, name: str, number: int) -> Mapping[str, Any]:
        context = self._context
        context.clock.check_deadline()
        self._listener.report(Phase.STEP, step=name)
        begun = context.journal.write("step", name, "begin", {"do": step.do, "number": number})
        context.clock.instants[f"{name}.begun"] = begun.t
        try:
            end = perform(step, name, context, self._prober)
        except (StepError, FaultError) as error:
            outcome = "missed" if isinstance(error, StepTimeout) else "failed"
            context.journal.write("step", name, "end", {"outcome": outcome, "message": str(error)})
            raise
        except CapabilityError as error:
            context.journal.write("step", name, "end", {"outcome": "failed", "message": str(error)})
            if isinstance(error, DeadlinePassed | LinksLost | CallHangs):
                raise
            if isinstance(error, NodeNotReady):
                raise StepError(str(error)) from error
            raise InfrastructureError(f"the step {name} failed: {error}") from error
        context.clock.instants[f"{name}.ended"] = context.journal.write("step", name, "end", end).t
        if proof := end.get("how"):
            self._listener.report(Phase.STEP, step=name, proof=proof)
        if step.do in AUDITED:
            self._auditor.request()
        return end

    def begin(self) -> None:
        """Describe the cluster as it is before the first step."""
        self._describe("begin")

    def _describe(self, name: str) -> None:
        """Take a checkpoint. Of a cluster that others use, or with thousands of topics, nothing is described."""
        elsewhere = self._context.cluster.backend == ELSEWHERE
        if not (elsewhere or self._context.plan.shared or self._context.plan.prepared_topics):
            take_checkpoint(self._context, name)

    def end(self) -> None:
        """Heal all faults, wait until the cluster is whole, and read everything.

        A run that is decided does not wait long for that, and claims nothing of it.
        """
        context, auditor = self._context, self._auditor
        timeout = BROKEN_SECONDS if self._decided else self._timeout
        reading = min(self._timeout, max(FINAL_READ_SECONDS, settle_seconds(context.plan.timing) + READ_AGAIN_SECONDS))
        context.clock.deadline = time.monotonic() + timeout + reading
        self._listener.report(Phase.STEP, step="healing")
        failures = context.active_faults.heal_all()
        if context.active_faults.lost is not None:
            auditor.record(str(context.active_faults.lost))
        for message in failures:
            context.journal.write("note", "healing", "seen", {"what": "unhealed", "message": message})
        context.journal.write("step", CONVERGE, "begin", {"do": "converge"})
        end = _converge(context, timeout)
        if self._decided and end["outcome"] == "missed":
            end = {**end, "outcome": "not judged"}
        context.journal.write("step", CONVERGE, "end", end)
        if end["outcome"] == "missed" and timeout > BROKEN_SECONDS:
            began = time.monotonic()
            context.cluster.processes.await_unawaited(READY_WITHIN)
            context.clock.deadline += time.monotonic() - began
        self._listener.report(Phase.STEP, step="reading everything")
        self._prober.finish()
        if end["outcome"] == "done":
            self._describe("end")
        context.clients.workload.stop(until=context.clock.deadline)
        if any(not topic.prepared for topic in context.plan.topics):
            context.clients.workload.final_read(reading, _deleted(context), partial(_deleted_values, context))
        list_topics(context, _topics(context.plan))
        auditor.audit()


def perform(step: Step, name: str, context: Context, prober: Prober) -> Mapping[str, Any]:
    """Perform the step, and return the data of its end for the journal.

    `outcome` is `done`, or `missed` for a condition that stayed false.
    """
    match step:
        case InjectStep():
            return inject(step, name, context)
        case AwaitStep():
            return _await(step, name, context)
        case ProbeStep():
            prober.run(step, name)
            return DONE
    return {**DONE, **step.perform(PerformedRun(context), name)}


def _await(step: AwaitStep, name: str, context: Context) -> Mapping[str, Any]:
    wait = await_condition(step, name, context)
    if wait.came:
        return {**DONE, **wait.found}
    message = f"`{step.condition}` did not become true within {step.within_ms} ms: {wait.seen}"
    if step.expect is None or step.expect.level is Level.MUST:
        raise StepTimeout(message + (f"; measured: {dict(wait.found)}" if wait.found else ""))
    return {"outcome": "missed", "message": message, **wait.found}


def _converge(context: Context, timeout: float) -> Mapping[str, Any]:
    try:
        if context.clock.wait(lambda: _is_converged(context), time.monotonic() + timeout):
            return {"outcome": "done"}
    except InfrastructureError as error:  # the auditor journals it as infrastructure
        return {"outcome": "missed", "message": str(error)}
    message = f"the cluster did not converge within {timeout:g} s after healing: {_blocker(context)}"
    return {"outcome": "missed", "message": message}


def _deleted(context: Context) -> frozenset[str]:
    """Return the topics that steps deleted and did not create again, as was decided."""
    existing = {entry.topic for entry in context.references.now.image.partitions.values()}
    return frozenset(deleted_topics(context.plan)) - existing


def _deleted_values(context: Context) -> frozenset[str]:
    """Return the acknowledged records that steps had deleted, by the journal so far."""
    file = context.cluster.target.file
    journal = read_journal(context.journal.path)
    return RecordedRun(context.plan, journal, None, file.dialect, file.settings.of_brokers).deleted_values


def _topics(plan: Plan) -> frozenset[str]:
    """Return the topics of the plan and of its steps that brokers are asked for at the end."""
    return frozenset(filter(NAME_OF_TOPIC.fullmatch, own_topics(plan) - plan.prepared_topics))


def _is_converged(context: Context) -> bool:
    return holds(lambda: blocker(context.references, context.cluster.processes) is None)


def _blocker(context: Context) -> str:
    try:
        return blocker(context.references, context.cluster.processes) or "it became true just then"
    except UnresolvedRole as error:
        return str(error)
