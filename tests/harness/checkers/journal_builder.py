"""Writes small journals for tests, one event a call; time moves by 0.1 s with each."""

from collections.abc import Sequence
from itertools import count
from typing import Any

from fencepost.harness.checkers.history import History, read_history
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Damage, Journal


class JournalBuilder:
    """A journal under construction. Every method gives the builder, so that calls can be chained."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.t = 0.0
        self._ids = count()

    def event(
        self, event_type: str, id: str, phase: str, data: dict[str, Any] | None = None, node: str | None = None
    ) -> "JournalBuilder":
        self.t = round(self.t + 0.1, 6)
        self.events.append(Event(len(self.events), self.t, 1.8e9 + self.t, event_type, id, phase, node, data or {}))
        return self

    def at(self, t: float) -> "JournalBuilder":
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
        transaction: str | None = None,
    ) -> "JournalBuilder":
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
                **({} if transaction is None else {"transaction": transaction}),
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
        uncommitted: bool = False,
    ) -> "JournalBuilder":
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
                **({"isolation": "read_uncommitted"} if uncommitted else {}),
            },
        )

    def session(self, process: str = "p", id: str = "x", *, acknowledged: bool = True) -> "JournalBuilder":
        """A transactional producer begins a session, which fences the earlier ones of its id."""
        op = f"init-{next(self._ids)}"
        data = {"process": process, "transactional_id": id, "f": "init-transactions", "timeout_ms": 1000}
        self.event("op", op, "invoke", data)
        return self.event("op", op, "ok", data) if acknowledged else self

    def ends(
        self, transaction: str, action: str = "commit", *, answer: str | None = "ok", process: str = "p", id: str = "x"
    ) -> "JournalBuilder":
        """A transaction is committed or aborted and, unless `answer` is None, the answer to that."""
        data = {"process": process, "transactional_id": id, "f": "end-transaction"}
        data |= {"transaction": transaction, "action": action}
        op = f"{action}-{transaction}"
        self.event("op", op, "invoke", data)
        return self if answer is None else self.event("op", op, answer, data)

    def assigned(self, process: str, *partitions: int, group: str = "g", topic: str = "t") -> "JournalBuilder":
        data = {"process": process, "group": group, "f": "assigned", "partitions": [[topic, n] for n in partitions]}
        return self.event("op", f"assigned-{next(self._ids)}", "ok", data)

    def starts_over(self, process: str, partition: int = 0, reason: str = "no-offset") -> "JournalBuilder":
        data = {"process": process, "group": "g", "f": "start-over", "partition": ["t", partition], "reason": reason}
        return self.event("op", f"start-over-{next(self._ids)}", "ok", data)

    def commit(
        self, process: str, offset: int, *, answer: str | None = "ok", partition: int = 0, sync: bool = True
    ) -> "JournalBuilder":
        """A member commits an offset of its group and, unless `answer` is None, gets an answer."""
        data = {"process": process, "group": "g", "f": "commit-offsets", "sync": sync}
        data |= {"offsets": [["t", partition, offset]]}
        op = f"commit-{next(self._ids)}"
        self.event("op", op, "invoke", data)
        return self if answer is None else self.event("op", op, answer, data)

    def committed(self, offset: int | None, *, partition: int = 0) -> "JournalBuilder":
        """The committed offset of a group is asked for."""
        data = {"process": "committed", "group": "g", "f": "committed-offsets"}
        op = f"committed-{next(self._ids)}"
        self.event("op", op, "invoke", data)
        return self.event("op", op, "ok", data | {"offsets": [["t", partition, offset]]})

    def final(
        self, *records: tuple[int, str], start: int = 0, end: int | None = None, partition: int = 0, topic: str = "t"
    ) -> "JournalBuilder":
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
    ) -> "JournalBuilder":
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

    def controller(self, active: int, epoch: int, *, seen_by: str = "node-1") -> "JournalBuilder":
        return self.event(
            "state", "controller", "seen", {"what": "controller", "active": active, "epoch": epoch}, seen_by
        )

    def journal(self, *, torn: int = 0, damaged: tuple[Damage, ...] = ()) -> Journal:
        return Journal(tuple(self.events), torn, damaged)

    def history(self) -> History:
        return read_history(self.journal())
