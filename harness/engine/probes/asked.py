"""A run in progress, as the requests of its plan see it: what `plan.asked` describes."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from kio.schema.errors import ErrorCode

from fencepost.harness.clients.asking import ask_quorum
from fencepost.harness.clients.login import log_in
from fencepost.harness.clients.metadata.fetching import NotLeader
from fencepost.harness.clients.metadata.image import Image, PartitionEntry
from fencepost.harness.clients.metadata.log_rules import broken_rules
from fencepost.harness.clients.metadata.whole_log import MalformedLog, PlacedRecord, read_log
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.clients.views import Answer
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.run_references import RunReferences
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, ProbeOutcome, answered
from fencepost.harness.plan.asked import Connection
from fencepost.harness.plan.base import NodeRef, Value
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.request import KafkaRequest
from fencepost.harness.plan.security import PASSWORDS
from fencepost.harness.targets.security import credentials


class AskedRun(RunReferences):
    """The references of a run, and what else one request to one node asks. Its methods: `plan.asked.Asked`."""

    def __init__(self, context: Context, receiver: str, step: str = "probe", nth: int = 0) -> None:
        super().__init__(context)
        self.receiver = receiver
        self.step = step
        self.nth = nth

    @property
    def cluster_id(self) -> str:
        return self._cluster.cluster_id

    @property
    def decided(self) -> Image:
        return self.now.image

    def decided_partition(self, name: str) -> PartitionEntry:
        return self.once_resolved(lambda: self.partition_entry(name))

    def quorum_id(self, ref: NodeRef) -> int:
        return self.plan.node(self.node(ref)).quorum_id

    def metadata_offset(self, value: Value) -> int:
        return self.number(value, "the metadata offset", lambda: self.decided.offset)

    def over_connection(self, probe: KafkaRequest) -> ProbeAnswer:
        listener, seconds = self._listener(probe), probe.timeout_ms / 1000
        with self._clients.connect(self.receiver, listener, seconds, login=False) as connection:
            return self._log_in(probe, listener, connection) or probe.exchange(connection, self)

    def dial(self, port: int, seconds: float) -> socket.socket:
        return self._cluster.dial(self.receiver, port, seconds)

    def metadata_log(self, connection: Connection) -> Mapping[str, Any] | ProbeAnswer:
        return _plain_log(cast("RawConnection", connection))

    def _listener(self, probe: KafkaRequest) -> Listener:
        asked = self._cluster.node(self.receiver)
        if asked.is_controller and (not asked.is_broker or probe.node == "active-controller"):
            return Listener.CONTROLLER
        return probe.received_at

    def _log_in(self, probe: KafkaRequest, listener: Listener, connection: RawConnection) -> ProbeAnswer | None:
        """Log in as the user of the harness, or the probe's. Return the listener's refusal, None on success."""
        usual = credentials(listener, self.plan.secured)
        if usual is None or not probe.logs_in:
            return None
        user = probe.user or usual.user
        password = PASSWORDS.get(user, "") if probe.password is None else probe.password
        error = log_in(connection, usual._replace(user=user, password=password))
        return None if error is ErrorCode.none else answered(error, user=user)


def _plain_log(connection: RawConnection) -> Mapping[str, Any] | ProbeAnswer:
    """Read the committed log of the active controller with all fields of its records, in the KIP-631 dialect.

    A controller that does not lead is answered as error 41, and a log with a malformed record is `different`, whatever
    the plan names.
    """
    view = ask_quorum(connection, Dialect.KIP_631)
    if view.answer is not Answer.SERVING:
        return answered(ErrorCode.not_controller, quorum=view.answer.value)
    try:
        log = read_log(connection, view.epoch)
    except NotLeader as error:
        return answered(ErrorCode.not_controller, reason=str(error))
    except MalformedLog as error:
        return ProbeAnswer(ProbeOutcome.DIFFERENT, None, {"malformed": str(error)})
    return {
        "snapshot_end": log.snapshot_end,
        "snapshot": [_plain(record) for record in log.snapshot],
        "log": [_plain(record) for record in log.log],
        "versions": sorted({placed.record.version for placed in (*log.snapshot, *log.log)}),
        "broken": [asdict(broken) for broken in broken_rules(log)],
    }


def _plain(placed: PlacedRecord) -> dict[str, Any]:
    record = placed.record
    return {"record": record.name, "version": record.version, "offset": placed.offset, **record.fields}
