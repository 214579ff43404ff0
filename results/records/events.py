"""The events of a run's journal: one envelope for all of them, and the phases that each type may be in.

The same operation, fault, step or process has several events that share type and id; the phase says how far it is.
An `op` ends in one of three ways: `ok`, `fail` (it certainly did not happen) or `info` (it may have happened, or not).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

PHASES: Final[Mapping[str, frozenset[str]]] = {
    "run": frozenset({"begin", "end"}),
    "step": frozenset({"begin", "end"}),
    "node": frozenset({"intent", "started", "ready", "exited", "killed", "paused", "resumed", "stopping", "stopped"}),
    "fault": frozenset({"intent", "injected", "proven", "unproven", "recovering", "healed", "unhealed"}),
    "op": frozenset({"invoke", "ok", "fail", "info"}),
    "state": frozenset({"seen"}),
    "note": frozenset({"seen"}),
}

TROUBLE: Final = "infrastructure"
"""`data.what` of a note by which the harness says that a run is worth nothing; `data.sentence` says why."""

CONVERGE: Final = "end:converge"
"""The step with which every run ends that comes to its end: all faults are healed by then."""


class UnknownEvent(ValueError):
    """A type or phase that no reader of the journal would understand."""


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
        return {
            "seq": self.seq,
            "t": self.t,
            "wall": self.wall,
            "type": self.type,
            "id": self.id,
            "phase": self.phase,
            "node": self.node,
            "data": self.data,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Event":
        """Raises UnknownEvent, KeyError or TypeError for what is not an event."""
        check_phase(fields["type"], fields["phase"])
        if not isinstance(fields["data"], dict):
            raise TypeError("data is not an object")
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
    """Raise UnknownEvent unless `event_type` has such a phase: a misspelt one would silently be judged by nobody."""
    phases = PHASES.get(event_type)
    if phases is None:
        raise UnknownEvent(f"the journal has no events of type {event_type!r}; it has {', '.join(PHASES)}")
    if phase not in phases:
        raise UnknownEvent(
            f"an event of type {event_type!r} has no phase {phase!r}; it has {', '.join(sorted(phases))}"
        )
