"""The events of a run's journal: one envelope for all of them, and the phases of each type.

An operation, fault, step or process has several events that share type and id; the phase says how far it is.
An `op` ends in one of three ways: `ok`, `fail` (it certainly did not happen) or `info` (it may have happened, or not).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fencepost.results.records.formats import upgrade_event_data

PHASES: Final[Mapping[str, frozenset[str]]] = {
    "run": frozenset({"begin", "end"}),
    "step": frozenset({"begin", "end"}),
    "node": frozenset(
        {"intent", "started", "ready", "silent", "exited", "killed", "paused", "resumed", "stopping", "stopped"}
    ),
    "fault": frozenset({"intent", "injected", "proven", "unproven", "recovering", "healed", "unhealed"}),
    "op": frozenset({"invoke", "ok", "fail", "info"}),
    "state": frozenset({"seen"}),
    "note": frozenset({"seen"}),
}

INFRASTRUCTURE: Final = "infrastructure"
"""The `data.what` of a note on a failure of the infrastructure; `data.message` describes the failure."""

OVERRUN: Final = "overrun"
"""The `data.what` of a note on a run that was not over when its time was up; `data.message` says where it was."""

HANGS: Final = "hangs"
"""The `data.what` of a note on a call into a client library that does not return.

`data.message` names the call, `data.seconds` is how long it had been under way.
"""

CLIENT_ENDED: Final = "client-ended"
"""The `data.what` of a note on a client of the workload that a fatal error ended.

`data.client` is its name, `data.error` the name of the error, `data.message` what the client library says of it.
"""

CLIENT_RESTARTED: Final = "client-restarted"
"""The `data.what` of a note on a client that a fatal error ended, and that was started again. It has the same keys."""

ENDED_EARLY: Final = "ended-early"
"""The `data.what` of a note on a run that was ended because its verdict was certain.

`data.step` is the step whose claim was broken, `data.message` the finding, `data.untried` has the names of the steps
that were not tried.
"""

CONVERGE: Final = "end:converge"
"""The last step of each run that is not interrupted: all faults are healed by then."""


class UnknownEvent(ValueError):
    """The journal has no such event type or phase."""


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the journal.

    `t` is seconds since the run began, on the writer's monotonic clock: the only time that verdicts use.
    `wall` is unix seconds, for people and for log files.
    """

    seq: int
    t: float
    wall: float
    type: str
    id: str
    phase: str
    node: str | None
    data: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a line of the journal has them; `asdict` would copy the data of each event."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Event":
        """Return the event of a parsed line. Raise UnknownEvent, KeyError or TypeError if the line is no event."""
        check_phase(fields["type"], fields["phase"])
        if not isinstance(fields["data"], dict):
            raise TypeError("data is not an object")
        upgrade_event_data(fields["data"])
        return cls(
            seq=int(fields["seq"]),
            t=float(fields["t"]),
            wall=float(fields["wall"]),
            type=fields["type"],
            id=str(fields["id"]),
            phase=fields["phase"],
            node=fields["node"],
            data=fields["data"],
        )


def check_phase(event_type: str, phase: str) -> None:
    """Raise UnknownEvent unless `event_type` has such a phase: no checker would judge a misspelt one."""
    phases = PHASES.get(event_type)
    if phases is None:
        raise UnknownEvent(f"the journal has no events of type {event_type!r}; it has {', '.join(PHASES)}")
    if phase not in phases:
        raise UnknownEvent(
            f"an event of type {event_type!r} has no phase {phase!r}; it has {', '.join(sorted(phases))}"
        )
