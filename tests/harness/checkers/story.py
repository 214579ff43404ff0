"""Writes small journals for tests, one event a call; time moves by 0.1 s with each."""

from collections.abc import Sequence
from itertools import count
from typing import Any

from harness.checkers.history import History, read_history
from results.records.events import Event
from results.records.journal import Damage, Journal


class Story:
    """A journal under construction. Every method gives the story, so that calls can be chained."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.t = 0.0
        self._ids = count()

    def event(
        self, event_type: str, id: str, phase: str, data: dict[str, Any] | None = None, node: str | None = None
    ) -> "Story":
        self.t = round(self.t + 0.1, 6)
        self.events.append(Event(len(self.events), self.t, 1.8e9 + self.t, event_type, id, phase, node, data or {}))
        return self

    def at(self, t: float) -> "Story":
        """Let the next event come at `t` (or later, by its own step)."""
        self.t = max(self.t, round(t - 0.1, 6))
        return self

    def send(
        self,
        value: str,
        offset: int | None = None,
        *,
        outcome: str | None = "ok",
        partition: int = 0,
        acks: str = "all",
        idempotent: bool = True,
        process: str = "p",
        topic: str = "t",
        error: str | None = None,
    ) -> "Story":
        """A send and, unless `outcome` is None, what became of it."""
        id = f"send-{next(self._ids)}"
        self.event(
            "op",
            id,
            "invoke",
            {
                "process": process,
                "f": "send",
                "topic": topic,
                "partition": partition,
                "value": value,
                "acks": acks,
                "idempotent": idempotent,
            },
        )
        if outcome is not None:
            data = {"process": process, "f": "send", "partition": partition, "offset": offset, "error": error}
            self.event("op", id, outcome, data)
        return self

    def poll(
        self,
        *records: tuple[int, str],
        process: str = "c",
        partition: int = 0,
        topic: str = "t",
        reset: bool = False,
        final: bool = False,
    ) -> "Story":
        return self.event(
            "op",
            f"poll-{next(self._ids)}",
            "ok",
            {
                "process": process,
                "f": "poll",
                "records": [[topic, partition, offset, value] for offset, value in records],
                "reset": reset,
                "final": final,
            },
        )

    def final(
        self, *records: tuple[int, str], start: int = 0, end: int | None = None, partition: int = 0, topic: str = "t"
    ) -> "Story":
        """A final read of one partition that came to its end."""
        id = f"final-{next(self._ids)}"
        self.event("op", id, "invoke", {"process": "final", "f": "final"})
        self.poll(*records, process="final", partition=partition, topic=topic, final=True)
        past = end if end is not None else max((offset for offset, _ in records), default=-1) + 1
        spans = [[topic, partition, start, past]]
        return self.event("op", id, "ok", {"process": "final", "f": "final", "partitions": spans})

    def partition(
        self,
        leader: int,
        epoch: int,
        isr: Sequence[int],
        *,
        seen_by: str = "node-4",
        topic: str = "t",
        partition: int = 0,
        replicas: Sequence[int] | None = None,
    ) -> "Story":
        data: dict[str, Any] = {
            "what": "partition",
            "topic": topic,
            "partition": partition,
            "leader": leader,
            "leader_epoch": epoch,
            "isr": list(isr),
        }
        if replicas is not None:
            data["replicas"] = list(replicas)
        return self.event("state", f"{topic}-{partition}", "seen", data, seen_by)

    def controller(self, active: int, epoch: int, *, seen_by: str = "node-1") -> "Story":
        return self.event(
            "state", "controller", "seen", {"what": "controller", "active": active, "epoch": epoch}, seen_by
        )

    def journal(self, *, torn: int = 0, damaged: tuple[Damage, ...] = ()) -> Journal:
        return Journal(tuple(self.events), torn, damaged)

    def history(self) -> History:
        return read_history(self.journal())
