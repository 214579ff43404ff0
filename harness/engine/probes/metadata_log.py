"""The probe that reads the committed metadata log of a controller with every field of every record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kio.schema.errors import ErrorCode

from fencepost.harness.clients.asking import ask_quorum
from fencepost.harness.clients.metadata.fetching import NotLeader
from fencepost.harness.clients.metadata.log_rules import broken_rules
from fencepost.harness.clients.metadata.whole_log import MalformedLog, MetadataLog, PlacedRecord, read_log
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.clients.views import Answer
from fencepost.harness.engine.errors import StepError
from fencepost.harness.engine.probes.answer import ProbeAnswer, ProbeOutcome, answered
from fencepost.harness.engine.probes.claims import judge_claims
from fencepost.harness.engine.references import References
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.probes import MetadataLogProbe

MOST = 20
"""Records of the log, and of the snapshot, that the journal keeps: the newest."""


def ask_metadata_log(probe: MetadataLogProbe, connection: RawConnection, references: References) -> ProbeAnswer:
    """Read the log of the active controller, and compare the values that the plan names.

    A controller that does not lead is answered as error 41, and a log with a malformed record is `different`, whatever
    the plan names. Raise StepError for a target whose log is another.
    """
    if references.dialect is not Dialect.KIP_631:
        raise StepError("`metadata-log` reads the records of the KIP-631 draft, which this target does not write")
    view = ask_quorum(connection, references.dialect)
    if view.answer is not Answer.SERVING:
        return answered(ErrorCode.not_controller, quorum=view.answer.value)
    try:
        log = read_log(connection, view.epoch)
    except NotLeader as error:
        return answered(ErrorCode.not_controller, reason=str(error))
    except MalformedLog as error:
        return ProbeAnswer(ProbeOutcome.DIFFERENT, None, {"malformed": str(error)})
    where = references.value(probe.where)
    answer = plain_log(log, where)
    return judge_claims(probe, answer, references, 0, **_excerpt(answer))


def plain_log(log: MetadataLog, where: Mapping[str, Any]) -> dict[str, Any]:
    """Return the records with these values as plain data, and what holds for all of the log."""
    everything = (*log.snapshot, *log.log)
    return {
        "snapshot_end": log.snapshot_end,
        "snapshot": [found for each in log.snapshot if _fits(found := _plain(each), where)],
        "log": [found for each in log.log if _fits(found := _plain(each), where)],
        "versions": sorted({each.record.version for each in everything}),
        "broken": [asdict(each) for each in broken_rules(log)],
    }


def _plain(placed: PlacedRecord) -> dict[str, Any]:
    record = placed.record
    return {"record": record.name, "version": record.version, "offset": placed.offset, **record.fields}


def _fits(record: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    return all(key in record and record[key] == value for key, value in where.items())


def _excerpt(answer: Mapping[str, Any]) -> dict[str, Any]:
    shown = {key: answer[key][-MOST:] for key in ("snapshot", "log", "broken")}
    return {**shown, "snapshot_end": answer["snapshot_end"], "versions": answer["versions"]}
