"""The committed metadata log of a controller, with every field of every record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from fencepost.harness.plan.answers import ProbeAnswer
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import Milliseconds, Name
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.claims import Claiming
from fencepost.harness.plan.step_error import StepError

MOST = 20
"""Records of the log, and of the snapshot, that the journal keeps: the newest."""


class MetadataLogProbe(Claiming):
    """The committed metadata log of the KIP-631 draft, read from a controller as an observer reads it.

    The answer has `log` and, if the log does not begin at offset 0, `snapshot` and `snapshot_end`: their records in
    order, each with its name (`record`), `version`, `offset` and fields. `versions` are those of all records, and
    `broken` the rules of the log that do not hold. A record that is malformed, unknown or has a key makes the outcome
    `different`; a controller that does not lead answers with error 41.
    """

    phrase = "Read the metadata log of {node}"
    harmless = True
    only_in = (Dialect.KIP_631, "reads the records of the KIP-631 draft, which {target} does not write")
    written = "where"
    request: Literal["metadata-log"] = "metadata-log"
    where: dict[str, Any] = Field(default_factory=dict)
    """Values of the records that `log` and `snapshot` have: `{record: TopicRecord, name: t}`. Empty: all records."""
    answer: dict[str, Any] = Field(default_factory=dict)
    """Values of the answer, by path: `log[0].leader`, `broken[].rule`; as in `api`."""
    binds: dict[Name, str] = Field(default_factory=dict)
    """Names for values of the answer, by path: later steps use them as `$name`."""
    within_ms: Milliseconds = 0
    """Ask again for so long until the outcome is the one that is expected, as in `api`."""

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        if run.dialect is not Dialect.KIP_631:
            raise StepError("`metadata-log` reads the records of the KIP-631 draft, which this target does not write")
        log = run.metadata_log(connection)
        if isinstance(log, ProbeAnswer):
            return log
        where = run.value(self.where)
        answer = {**log, **{key: [each for each in log[key] if _fits(each, where)] for key in ("snapshot", "log")}}
        newest = {key: answer[key][-MOST:] for key in ("snapshot", "log", "broken")}
        return self.judge(answer, run, 0, **{**answer, **newest})


def _fits(record: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    return all(key in record and record[key] == value for key, value in where.items())
