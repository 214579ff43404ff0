"""The committed metadata log of a controller as plain data, with every field of every record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kio.schema.errors import ErrorCode

from fencepost.harness.clients.asking import ask_quorum
from fencepost.harness.clients.metadata.fetching import NotLeader
from fencepost.harness.clients.metadata.log_rules import broken_rules
from fencepost.harness.clients.metadata.whole_log import MalformedLog, PlacedRecord, read_log
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.clients.views import Answer
from fencepost.harness.plan.answers import ProbeAnswer, ProbeOutcome, answered
from fencepost.harness.plan.dialect import Dialect


def plain_log(connection: RawConnection) -> Mapping[str, Any] | ProbeAnswer:
    """Read the log of the active controller, in the dialect of the KIP-631 draft.

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
        "snapshot": [_plain(each) for each in log.snapshot],
        "log": [_plain(each) for each in log.log],
        "versions": sorted({each.record.version for each in (*log.snapshot, *log.log)}),
        "broken": [asdict(each) for each in broken_rules(log)],
    }


def _plain(placed: PlacedRecord) -> dict[str, Any]:
    record = placed.record
    return {"record": record.name, "version": record.version, "offset": placed.offset, **record.fields}
