"""The sessions and the transactions of transactional producers, from the journal's `op` events.

Shapes of the events' data (`f` tells them apart); all have process and transactional_id:

- init-transactions, invoke: timeout_ms, and ok once the coordinator has fenced every earlier session of the id.
- end-transaction, invoke: transaction, action ("commit" or "abort"). ok, info: the answer.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal


@dataclass(frozen=True, slots=True)
class Session:
    """One call of InitProducerId by a producer. `completed` is None without an acknowledgement."""

    process: str
    id: str
    timeout: float
    """Seconds after which the coordinator aborts a transaction of the session."""
    invoked: float
    completed: float | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """A request to end a transaction. `completed` is None without an acknowledgement."""

    process: str
    id: str
    transaction: str
    invoked: float
    completed: float | None = None


@dataclass(frozen=True)
class Transactions:
    """The transactions of a run, as their producers saw them."""

    sessions: tuple[Session, ...] = ()
    commits: Mapping[str, Ending] = field(default_factory=dict)
    """By transaction. A transaction without a commit has not happened."""
    aborts: Mapping[str, Ending] = field(default_factory=dict)

    @cached_property
    def committed(self) -> Mapping[str, float]:
        """Return the time of the acknowledgement of each transaction that was committed for certain."""
        return {name: t for name, each in self.commits.items() if (t := each.completed) is not None}

    @property
    def endings(self) -> tuple[Ending, ...]:
        return (*self.commits.values(), *self.aborts.values())

    @property
    def acknowledged(self) -> list[tuple[str, float]]:
        """Return the process and the time of the request of each acknowledged commit."""
        return [(each.process, each.invoked) for each in self.commits.values() if each.completed is not None]

    def fenced(self, process: str, t: float) -> Session | None:
        """Return the session by which another producer had fenced this one before `t`; None if none did for certain."""
        own = self._own.get(process, ())
        place = bisect_left(own, t, key=lambda each: each.invoked) - 1
        if place < 0:
            return None
        begun = own[place]
        until = begun.completed if begun.completed is not None else t
        for each in self._of_id[begun.id]:
            if each.process != process and each.invoked > until and each.completed is not None and each.completed < t:
                return each
        return None

    @cached_property
    def _own(self) -> Mapping[str, list[Session]]:
        return _grouped(self.sessions, "process")

    @cached_property
    def _of_id(self) -> Mapping[str, list[Session]]:
        return _grouped(self.sessions, "id")


NO_TRANSACTIONS: Final = Transactions()


def read_transactions(journal: Journal) -> Transactions:
    """Return the sessions and the ends of transactions. Linear in the events."""
    sessions: dict[str, Session] = {}
    endings: dict[str, dict[str, Ending]] = {"commit": {}, "abort": {}}
    for event in journal.of("op"):
        match event.data.get("f"):
            case "init-transactions":
                _add_session(sessions, event)
            case "end-transaction":
                _add_ending(endings[event.data["action"]], event)
    return Transactions(tuple(sessions.values()), endings["commit"], endings["abort"])


def _add_session(sessions: dict[str, Session], event: Event) -> None:
    if event.phase == "invoke":
        data = event.data
        timeout = data["timeout_ms"] / 1000
        sessions[event.id] = Session(data["process"], data["transactional_id"], timeout, event.t)
    elif event.phase == "ok" and event.id in sessions:
        sessions[event.id] = replace(sessions[event.id], completed=event.t)


def _add_ending(endings: dict[str, Ending], event: Event) -> None:
    name = event.data["transaction"]
    if event.phase == "invoke":
        endings[name] = Ending(event.data["process"], event.data["transactional_id"], name, event.t)
    elif event.phase == "ok" and name in endings:
        endings[name] = replace(endings[name], completed=event.t)


def _grouped(sessions: tuple[Session, ...], key: str) -> Mapping[str, list[Session]]:
    groups: dict[str, list[Session]] = defaultdict(list)
    for session in sessions:
        groups[getattr(session, key)].append(session)
    return groups
