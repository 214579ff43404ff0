"""Runs a probe: asks, journals question and answer, and looks whether anything changed by it."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from typing import Any

from kio.schema.errors import ErrorCode

from faults.capabilities import Running
from harness.checkers.coverage import matches
from harness.clients.login import log_in
from harness.clients.raw import Closed, NoAnswer, RawConnection, Unanswered
from harness.engine.conditions import holds
from harness.engine.context import RESOLVE_WITHIN, Context, StepError
from harness.engine.probes import commands, control, data, wishes
from harness.engine.probes.answer import Answer, Outcome, answered
from harness.engine.probes.produce import send_record
from harness.engine.probes.unchanged import changes, settled, snapshot
from harness.network.layout import Listener
from harness.plan.probes import (
    AlterIsrProbe,
    ControlledShutdownProbe,
    CreatePartitionsProbe,
    CreateTopicProbe,
    DeleteTopicProbe,
    DescribeQuorumProbe,
    FetchProbe,
    HeartbeatProbe,
    IsrChangeProbe,
    LeaderAndIsrProbe,
    ListOffsetsProbe,
    ListReassignmentsProbe,
    MetadataHeartbeatProbe,
    MetadataProbe,
    Probe,
    ProduceProbe,
    ReassignProbe,
    ReplicaFetchProbe,
    ReplicaStateEventProbe,
    StopReplicaProbe,
    UpdateMetadataProbe,
    VoteProbe,
)
from harness.targets.security import BROKER_USER, PASSWORDS

MISDIRECTED_PAUSE = 0.1
"""Seconds before a role is looked up again."""
PHASES = {Outcome.SERVED: "ok", Outcome.REFUSED: "fail"}
"""How the journal ends an operation; all others may have happened: `info`."""

Ask = Callable[[Any, RawConnection, Context], Answer]
ASKS: dict[type, Ask] = {
    FetchProbe: data.ask_fetch,
    ReplicaFetchProbe: data.ask_replica_fetch,
    MetadataProbe: data.ask_metadata,
    ListOffsetsProbe: data.ask_list_offsets,
    CreateTopicProbe: data.ask_create_topic,
    HeartbeatProbe: control.ask_heartbeat,
    AlterIsrProbe: control.ask_alter_isr,
    DescribeQuorumProbe: control.ask_describe_quorum,
    VoteProbe: control.ask_vote,
    ControlledShutdownProbe: wishes.ask_controlled_shutdown,
    MetadataHeartbeatProbe: wishes.ask_metadata_heartbeat,
    IsrChangeProbe: wishes.ask_isr_change,
    ReplicaStateEventProbe: wishes.ask_replica_state_event,
    DeleteTopicProbe: wishes.ask_delete_topic,
    CreatePartitionsProbe: wishes.ask_create_partitions,
    ReassignProbe: wishes.ask_reassign,
    ListReassignmentsProbe: wishes.ask_list_reassignments,
}

AskNode = Callable[[Any, str, RawConnection, Context], Answer]
COMMANDS: dict[type, AskNode] = {
    LeaderAndIsrProbe: commands.ask_leader_and_isr,
    UpdateMetadataProbe: commands.ask_update_metadata,
    StopReplicaProbe: commands.ask_stop_replica,
}
"""These name the registration of the broker that is asked, too."""

FOR_CLIENTS = (
    ProduceProbe,
    FetchProbe,
    MetadataProbe,
    ListOffsetsProbe,
    CreateTopicProbe,
    DeleteTopicProbe,
    CreatePartitionsProbe,
    ReassignProbe,
    ListReassignmentsProbe,
    DescribeQuorumProbe,
)
"""What a broker takes from clients; all else it takes at its INTERNAL listener."""


class Prober:
    """Asks the probes of a run; those in the background each in a thread of its own."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._threads: list[threading.Thread] = []

    def run(self, probe: Probe, name: str) -> None:
        """Ask as often as the plan says. StepError if a reference leads to nobody, so that nothing could be sent."""
        node = self._context.node(probe.node)
        if not probe.background:
            self._ask_all(probe, name, node)
            return
        thread = threading.Thread(target=self._ask_in_background, args=(probe, name, node), name=f"probe-{name}")
        self._threads.append(thread)
        thread.start()

    def __enter__(self) -> Prober:
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()

    def finish(self) -> None:
        """Wait for what runs in the background; each request has its own timeout."""
        for thread in self._threads:
            thread.join()
        self._threads.clear()

    def _ask_in_background(self, probe: Probe, name: str, node: str) -> None:
        try:
            self._ask_all(probe, name, node)
        except StepError as error:
            self._context.journal.write("note", name, "seen", {"what": "unasked", "sentence": str(error)})
        except Exception as error:
            self._context.journal.trouble(f"the probe {name} failed in the background: {error!r}")

    def _ask_all(self, probe: Probe, name: str, node: str) -> None:
        for number in range(probe.repeat):
            if number:
                self._context.wait(lambda: False, time.monotonic() + probe.every_ms / 1000)
            self._ask_holder(probe, name, node, number)

    def _ask_holder(self, probe: Probe, name: str, node: str, number: int) -> None:
        """Ask again for a while if the role that the plan names was just given to another node: `misdirected`."""
        deadline = time.monotonic() + RESOLVE_WITHIN
        for attempt in itertools.count():
            op = f"probe-{name}-{number}" + (f"-{attempt}" if attempt else "")
            if not self._ask(probe, name, node, number, op, last=time.monotonic() >= deadline):
                return
            self._context.wait(lambda: False, time.monotonic() + MISDIRECTED_PAUSE)
            node = self._context.node(probe.node)

    def _ask(self, probe: Probe, name: str, node: str, number: int, op: str, *, last: bool) -> bool:
        """Ask once; True if the answer only says that the question came to the wrong node, unless it is the `last`."""
        context = self._context
        before = settled(probe.unchanged, context)
        asked = {"f": "probe", "process": "probe", "step": name, "request": probe.request}
        context.journal.write("op", op, "invoke", asked, node=node)
        try:
            answer = self._answer(probe, name, node, number)
        except StepError as error:
            unasked = {"outcome": Outcome.ABSENT.value, "error": None, "body": {"reason": str(error)}}
            context.journal.write("op", op, "info", asked | unasked, node=node)
            raise
        if not last and self._misdirected(probe, node, answer):
            answer = Answer(Outcome.MISDIRECTED, answer.error, answer.body)
        result = {"outcome": answer.outcome.value, "error": answer.error, "body": dict(answer.body)}
        if probe.unchanged:
            after = snapshot(probe.unchanged, context)
            result["changed"] = None if before is None or after is None else changes(before, after)
        context.journal.write("op", op, PHASES.get(answer.outcome, "info"), asked | result, node=node)
        return answer.outcome is Outcome.MISDIRECTED

    def _misdirected(self, probe: Probe, node: str, answer: Answer) -> bool:
        """A controller that was just elected may not act yet, and a role may move between looking and asking."""
        if probe.node == "active-controller":
            claimed = probe.expect is not None and matches(
                probe.expect.outcome, {"outcome": answer.outcome.value, "error": answer.error}
            )
            return answer.error == ErrorCode.not_controller.value and not claimed
        if probe.node.startswith("leader:"):
            moved = holds(lambda: self._context.nodes_now(probe.node) != (node,))
            return answer.error == ErrorCode.not_leader_or_follower.value and moved
        return False

    def _answer(self, probe: Probe, name: str, node: str, number: int) -> Answer:
        if self._context.cluster.processes.status(node).running not in (Running.RUNNING, Running.PAUSED):
            return Answer(Outcome.ABSENT, None, {"reason": f"{node} does not run"})
        try:
            listener = self._listener(probe, node)
            with self._context.connect(node, listener, probe.timeout_ms / 1000) as connection:
                refused = self._log_in(probe, connection) if listener is Listener.INTERNAL else None
                return refused or self._question(probe, name, node, number, connection)
        except Unanswered as error:
            return Answer(Outcome.UNANSWERED, None, {"reason": str(error)})
        except Closed as error:
            return Answer(Outcome.REFUSED, None, {"reason": str(error)})
        except NoAnswer as error:
            return Answer(Outcome.UNREADABLE, None, {"reason": str(error)})

    def _question(self, probe: Probe, name: str, node: str, number: int, connection: RawConnection) -> Answer:
        if isinstance(probe, ProduceProbe):
            return send_record(
                connection,
                self._context.journal,
                process=name,
                number=number,
                topic=probe.topic,
                partition=probe.partition,
                acks=probe.acks,
                timeout_ms=probe.timeout_ms,
            )
        if command := COMMANDS.get(type(probe)):
            return command(probe, node, connection, self._context)
        return ASKS[type(probe)](probe, connection, self._context)

    def _log_in(self, probe: Probe, connection: RawConnection) -> Answer | None:
        """As the brokers' own user unless the probe names another. The answer of a listener that refuses it."""
        if self._context.plan.security != "sasl":
            return None
        user = (probe.user if isinstance(probe, ReplicaStateEventProbe) else None) or BROKER_USER
        error = log_in(connection, user, PASSWORDS.get(user, ""))
        return None if error is ErrorCode.none else answered(error, user=user)

    def _listener(self, probe: Probe, node: str) -> Listener:
        if self._context.cluster.node(node).is_controller:
            return Listener.CONTROLLER
        return Listener.CLIENT if isinstance(probe, FOR_CLIENTS) else Listener.INTERNAL
