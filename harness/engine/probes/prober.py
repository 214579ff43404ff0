"""Run probes: send the request, journal request and answer, and find out whether the probe changed anything."""

from __future__ import annotations

import itertools
import threading
import time

from kio.schema.errors import ErrorCode

from fencepost.faults.capabilities import Running
from fencepost.harness.checkers.coverage import matches
from fencepost.harness.clients.asking import ask_controller
from fencepost.harness.engine.conditions import holds
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.errors import StepError
from fencepost.harness.engine.probes.asked import AskedRun
from fencepost.harness.engine.probes.unchanged import Snapshots, changes
from fencepost.harness.engine.references import RESOLVE_WITHIN
from fencepost.harness.engine.topics import broker_with
from fencepost.harness.errors import DeadlinePassed
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, ProbeOutcome
from fencepost.harness.plan.base import Level
from fencepost.harness.plan.requests import Probe
from fencepost.harness.wire.no_answer import Closed, NoAnswer, NotOffered, NotReached, Unanswered

FOLLOWED = frozenset({ErrorCode.not_controller.value, ErrorCode.not_coordinator.value})
"""Errors by which a broker sends a client to another one."""
CONTROLLER_SECONDS = 1.0
"""Seconds for a broker to name the controller."""
RETRIABLE = frozenset(int(error) for error in ErrorCode if error.retriable)
"""Errors after which clients ask again, by the table of the protocol."""
MISDIRECTED_PAUSE = 0.1
"""Seconds before a role is resolved again."""
PHASES = {ProbeOutcome.SERVED: "ok", ProbeOutcome.REFUSED: "fail"}
"""The phases that end an operation in the journal. After any other outcome it may have happened: `info`."""


class Prober:
    """Runs the probes of a plan; each probe in the background has a thread of its own."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._references = context.references
        self._unchanged = Snapshots(context.references, context.clients, context.clock)
        self._threads: list[threading.Thread] = []
        self.contradicted = False
        """An answer is not as the plan claims it. The judge knows whether that breaks the claim."""

    def run(self, probe: Probe, name: str) -> None:
        """Send the request as often as the plan says. Raise StepError if a reference resolves to no node, unless the
        probe is in the background."""
        if not probe.background:
            self._ask_all(probe, name, self._references.node(probe.node))
            return
        try:
            node = self._references.node(probe.node)
        except StepError as error:
            self._unasked(name, error)
            return
        thread = threading.Thread(target=self._ask_in_background, args=(probe, name, node), name=f"probe-{name}")
        self._threads.append(thread)
        thread.start()

    def __enter__(self) -> Prober:
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()

    def finish(self) -> None:
        """Wait for the probes in the background; each request has its own timeout."""
        for thread in self._threads:
            thread.join()
        self._threads.clear()

    def _ask_in_background(self, probe: Probe, name: str, node: str) -> None:
        try:
            self._ask_all(probe, name, node)
        except StepError as error:
            self._unasked(name, error)
        except DeadlinePassed as error:
            self._context.journal.overrun(f"in the probe {name}: {error}")
        except Exception as error:
            self._context.journal.infrastructure(f"the probe {name} failed in the background: {error!r}")

    def _unasked(self, name: str, error: StepError) -> None:
        self._context.journal.write("note", name, "seen", {"what": "unasked", "message": str(error)})

    def _ask_all(self, probe: Probe, name: str, node: str) -> None:
        for number in range(probe.repeat):
            if number:
                self._context.clock.sleep_until(time.monotonic() + probe.every_ms / 1000)
            self._ask_holder(probe, name, node, number)

    def _ask_holder(self, probe: Probe, name: str, node: str, number: int) -> None:
        """Repeat a `misdirected` request for a while: the role that the plan names has just moved to another node.

        A request whose expected outcome is awaited is repeated until its deadline.
        """
        deadline = time.monotonic() + (probe.awaited_ms / 1000 or RESOLVE_WITHIN)
        for attempt in itertools.count():
            op = f"probe-{name}-{number}" + (f"-{attempt}" if attempt else "")
            answer = self._ask(probe, name, node, number, op, last=time.monotonic() >= deadline)
            if answer is None:
                return
            self._context.clock.sleep_until(time.monotonic() + MISDIRECTED_PAUSE)
            node = self._named_controller(node, answer) or self._references.node(probe.node)

    def _named_controller(self, node: str, answer: ProbeAnswer) -> str | None:
        """Return the broker that a client asks next: the one that `node`, which is not the controller, names as it."""
        if not self._references.redirects or answer.error != ErrorCode.not_controller.value:
            return None
        try:
            with self._context.clients.connect(node, Listener.CLIENT, CONTROLLER_SECONDS) as connection:
                return broker_with(ask_controller(connection), self._references)
        except NoAnswer:
            return None

    def _ask(self, probe: Probe, name: str, node: str, number: int, op: str, *, last: bool) -> ProbeAnswer | None:
        """Send one request. Return its answer if it is to be repeated, which the `last` one never is."""
        context = self._context
        before = self._unchanged.settled(probe.unchanged)
        request = {"f": "probe", "process": "probe", "step": name, "request": probe.request}
        context.journal.write("op", op, "invoke", {**request, **probe.journalled}, node=node)
        try:
            answer = self._answer(probe, name, node, number)
        except StepError as error:
            absent = {"outcome": ProbeOutcome.ABSENT.value, "error": None, "body": {"reason": str(error)}}
            context.journal.write("op", op, "info", request | absent, node=node)
            raise
        if not last and self._misdirected(probe, node, answer):
            answer = ProbeAnswer(ProbeOutcome.MISDIRECTED, answer.error, answer.body)
        elif not last and probe.awaited_ms and not _is_expected(probe, answer):
            answer = ProbeAnswer(ProbeOutcome.AWAITED, answer.error, answer.body)
        result = {"outcome": answer.outcome.value, "error": answer.error, "body": dict(answer.body)}
        if probe.unchanged:
            after = self._unchanged.snapshot(probe.unchanged)
            result["changed"] = None if before is None or after is None else changes(before, after)
        context.journal.write("op", op, PHASES.get(answer.outcome, "info"), request | result, node=node)
        if answer.outcome in (ProbeOutcome.MISDIRECTED, ProbeOutcome.AWAITED):
            return answer
        self.contradicted |= _contradicts(probe, answer) or bool(result.get("changed"))
        return None

    def _misdirected(self, probe: Probe, node: str, answer: ProbeAnswer) -> bool:
        """Return whether the answer is due to a new controller that does not act yet, or to a role that just moved.

        Where the target redirects, each client follows the answers that name another broker.
        """
        follows = self._references.redirects
        if probe.node == "active-controller" or (follows and answer.error in FOLLOWED):
            claimed = probe.expect is not None and matches(
                probe.expect.outcome, {"outcome": answer.outcome.value, "error": answer.error}
            )
            return (answer.error == ErrorCode.not_controller.value or follows) and not claimed
        if probe.node.startswith("leader:"):
            moved = holds(lambda: self._references.nodes_now(probe.node) != (node,))
            return answer.error == ErrorCode.not_leader_or_follower.value and moved
        return False

    def _runs(self, node: str) -> bool:
        return self._context.cluster.processes.status(node).running in (Running.RUNNING, Running.PAUSED)

    def _answer(self, probe: Probe, name: str, node: str, number: int) -> ProbeAnswer:
        if not self._runs(node):
            return ProbeAnswer(ProbeOutcome.ABSENT, None, {"reason": f"{node} does not run"})
        try:
            return probe.ask(AskedRun(self._context, node, name, number))
        except NotOffered as error:
            return ProbeAnswer(ProbeOutcome.NOT_ASKED, None, {"reason": f"{node} {error.reason}"})
        except Unanswered as error:
            return ProbeAnswer(ProbeOutcome.UNANSWERED, None, {"reason": str(error)})
        except NotReached as error:  # a node that runs and opens no door serves nothing, and refuses no login either
            closed = self._runs(node) and not self._context.plan.secured.secures
            return ProbeAnswer(ProbeOutcome.REFUSED if closed else ProbeOutcome.ABSENT, None, {"reason": str(error)})
        except Closed as error:  # a connection that ends with its node is no refusal: the request may have been served
            outcome = ProbeOutcome.REFUSED if self._runs(node) else ProbeOutcome.UNANSWERED
            return ProbeAnswer(outcome, None, {"reason": str(error)})
        except NoAnswer as error:
            return ProbeAnswer(ProbeOutcome.UNREADABLE, None, {"reason": str(error)})


def _contradicts(probe: Probe, answer: ProbeAnswer) -> bool:
    """Return whether the answer is not as the plan claims it, and shows no known bug."""
    data = {"outcome": answer.outcome.value, "error": answer.error}
    claim = probe.expect
    if claim is None or claim.level is Level.MAY or (claim.known_bug and matches(claim.known_bug.outcome, data)):
        return False
    return matches(claim.outcome, data) is (claim.level is Level.NEVER)


def _is_expected(probe: Probe, answer: ProbeAnswer) -> bool:
    """Return whether the answer is what the plan claims, or `served` if it claims nothing.

    One that must never be is not waited out: it is judged. A request that the node does not have stays so.
    """
    data = {"outcome": answer.outcome.value, "error": answer.error}
    if answer.outcome is ProbeOutcome.NOT_ASKED:
        return True
    if probe.expect is None:
        return answer.outcome is ProbeOutcome.SERVED or (probe.takes_any_final and answer.error not in RETRIABLE)
    return probe.expect.level is Level.NEVER or matches(probe.expect.outcome, data)
