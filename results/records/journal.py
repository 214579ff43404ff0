"""The journal of a run: JSON lines, appended by one writer, readable after a crash of that writer."""

import fcntl
import gc
import json
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic_core import from_json

from fencepost.results.records.events import HANGS, INFRASTRUCTURE, OVERRUN, Event, check_phase


class JournalError(Exception):
    """The journal cannot be written: another process writes it, it holds a run already, or it is closed."""


class JournalWriter:
    """Appends events to the journal; may be called from any thread.

    Each line is passed to the kernel before `write` returns, so it survives kill -9 of this process. With
    `durable=True` it is on the disk, too: intents are written so, before their effect.
    """

    def __init__(
        self,
        path: Path,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.path = path
        self._monotonic = monotonic
        self._wall = wall
        self._lock = threading.Lock()
        self._file = path.open("ab")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise JournalError(f"{path} is being written by another process; a journal has one writer") from None
        if os.fstat(self._file.fileno()).st_size > 0:
            self._file.close()
            raise JournalError(f"{path} already holds the events of a run; give the new run a folder of its own")
        self._seq = 0
        self._failure: OSError | None = None
        self._began = monotonic()

    def now(self) -> float:
        """Return the seconds since the run began: the time that the next event would have."""
        return self._monotonic() - self._began

    def write(
        self,
        event_type: str,
        id: str,
        phase: str,
        data: Mapping[str, Any] | None = None,
        *,
        node: str | None = None,
        durable: bool = False,
    ) -> Event:
        """Append one event and return it. Raise UnknownEvent for an unknown type or phase, JournalError if closed.

        After an OSError every later call raises the same: a journal with a hole would prove what did not happen.
        """
        check_phase(event_type, phase)
        with self._lock:
            if self._file.closed:
                raise JournalError(
                    f"{self.path} is closed; the event {event_type} {id} {phase} came after the run's end"
                )
            event = Event(
                seq=self._seq,
                t=round(self.now(), 6),
                wall=round(self._wall(), 6),
                type=event_type,
                id=id,
                phase=phase,
                node=node,
                data=data or {},
            )
            if self._failure is not None:
                raise OSError(self._failure.errno, self._failure.strerror)
            try:
                self._file.write(json.dumps(event.to_json(), separators=(",", ":")).encode() + b"\n")
                self._file.flush()
                if durable:
                    os.fsync(self._file.fileno())
            except OSError as error:
                self._failure = error
                raise
            self._seq += 1
        return event

    def infrastructure(self, message: str) -> Event:
        """Record that the infrastructure around the cluster failed, so that the effects of faults are in doubt."""
        return self.write("note", "infrastructure", "seen", {"what": INFRASTRUCTURE, "message": message})

    def overrun(self, message: str) -> Event:
        """Record that the time of the run is up; what was seen until then is not in doubt."""
        return self.write("note", "overrun", "seen", {"what": OVERRUN, "message": message})

    def hangs(self, message: str, seconds: float) -> Event:
        """Record that a call into a client library has not returned for so many seconds."""
        data = {"what": HANGS, "message": message, "seconds": round(seconds, 3)}
        return self.write("note", "hangs", "seen", data)

    def close(self) -> None:
        """Write everything to the disk and close the journal. May be called twice."""
        with self._lock:
            if not self._file.closed:
                os.fsync(self._file.fileno())
                self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Damage:
    """A line in the middle of a journal that is not an event, or does not follow its predecessor."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


@dataclass(frozen=True)
class Journal:
    """The readable part of a journal.

    `torn` counts a last line that its writer did not finish (0 or 1): a killed run leaves one, so it is no damage.
    `damaged` names every other line that is missing or unreadable.
    """

    events: tuple[Event, ...]
    torn: int = 0
    damaged: tuple[Damage, ...] = ()

    def of(self, event_type: str, *phases: str) -> Iterator[Event]:
        """Yield the events of one type, in order; only those of the given phases, if any are given."""
        for event in self._by_type.get(event_type, ()):
            if not phases or event.phase in phases:
                yield event

    @cached_property
    def _by_type(self) -> Mapping[str, Sequence[Event]]:
        by_type: dict[str, list[Event]] = defaultdict(list)
        for event in self.events:
            by_type[event.type].append(event)
        return by_type

    @property
    def finished(self) -> bool:
        return any(event.type == "run" and event.phase == "end" for event in reversed(self.events))

    @property
    def duration(self) -> float:
        """Return the seconds from the begin of the run to its last event."""
        return self.events[-1].t if self.events else 0.0


def read_journal(path: Path) -> Journal:
    """Read all readable events. Raise FileNotFoundError."""
    raw = path.read_bytes()
    lines = raw.split(b"\n")
    tail = lines.pop()
    events: list[Event] = []
    damaged: list[Damage] = []
    expected = 0
    with _without_collection():
        for number, line in enumerate(lines, start=1):
            try:
                event = Event.from_json(_parsed(line))
            except (ValueError, KeyError, TypeError) as error:
                damaged.append(Damage(number, f"not an event ({_reason(error)})"))
                expected += 1
                continue
            if event.seq != expected:
                damaged.append(Damage(number, f"event {event.seq} is in the place of event {expected}"))
            expected = event.seq + 1
            events.append(event)
    return Journal(tuple(events), torn=1 if tail else 0, damaged=tuple(damaged))


def _parsed(line: bytes) -> Any:
    """Parse one line. Raise ValueError.

    The parser of pydantic takes half the time of Python's, which also reads what the other one refuses: surrogates.
    """
    try:
        return from_json(line)
    except ValueError:
        return json.loads(line)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Hold the collector of cycles: events have none, and it would visit all of them again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def being_written(path: Path) -> bool:
    """Return whether a living process has this journal open: then the run is not over."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _reason(error: Exception) -> str:
    return f"no field {error}" if isinstance(error, KeyError) else str(error)
