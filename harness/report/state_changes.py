"""The course of each state change, read from the logs and metrics files of nodes in the leader-driven design.

The log lines are those of the replication design V2, differences between V1 and V2, point 7: the node that requested,
received and completed a change, and its epoch. Logs have the node's local time. Its time zone is derived from the begin
of the run, so that a folder can be read on any machine.
"""

import json
import re
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import Journal

AHEAD = 1.0
"""Seconds by which a broker may log a request before its sender logs it."""
_QUARTER = 900
"""Smallest difference between time zones, in seconds."""
_TIME = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3}) ")
_WHAT = r"(?P<change>\w+-replica) for topic (?P<topic>\S+) partition (?P<partition>\d+)"
_EPOCH = r"at epoch (?P<epoch>-?\d+)"
_REQUESTED = re.compile(
    rf"(?P<sender>leader|admin), broker id (?P<by>\d+), requested {_WHAT}, to broker id (?P<to>\d+), {_EPOCH}"
)
_RECEIVED = re.compile(rf"follower, broker id (?P<to>\d+), received {_WHAT}, from leader (?P<by>-?\d+), {_EPOCH}")
_ENDED = re.compile(
    rf"follower, broker id (?P<to>\d+), (?P<how>completed|ignored|failed) {_WHAT}, request from leader (?P<by>-?\d+), "
    rf"{_EPOCH}(?:[,:] (?P<remark>.*))?"
)
_STEP = re.compile(
    rf"leader, broker id (?P<by>\d+), reassignment of topic (?P<topic>\S+) partition (?P<partition>\d+), "
    rf"step (?P<step>[\w-]+), {_EPOCH}"
)
_FULL = re.compile(r"leader, broker id (?P<by>\d+), state change queue of broker id (?P<to>\d+) is full")
_SEEN = re.compile(r"broker id (?P<by>\d+), saw a leader change of topic (?P<topic>\S+) partition (?P<partition>\d+)")
_MARKS = ("-replica for topic", "reassignment of topic", "state change queue of", "saw a leader change")


@dataclass(frozen=True, slots=True)
class StateChangeRequest:
    """One request. Times are seconds since the run began, None if they were not logged.

    `by` is the broker that sent it, if its log shows that. `leader` is -1 for the request of a command.
    """

    change: str
    partition: str
    to: int
    leader: int
    epoch: int
    by: int | None = None
    requested: float | None = None
    received: float | None = None
    ended: float | None = None
    how: str = ""
    remark: str = ""

    @property
    def begun(self) -> float:
        return next(t for t in (self.requested, self.received, self.ended) if t is not None)

    @property
    def outcome(self) -> str:
        """`completed`, `ignored` or `failed`; before that `received` or `waits`."""
        return self.how or ("waits" if self.received is None else "received")


@dataclass(frozen=True, slots=True)
class MoveStep:
    """One step of a reassignment or a deletion, done by a leader."""

    t: float
    leader: int
    partition: str
    step: str
    epoch: int


@dataclass(frozen=True, slots=True)
class StateChanges:
    """All state changes of a run.

    `figures` are the last metrics of each node. `seen` counts the leader changes that each broker saw, by partition.
    `full` has the times at which a queue was full, each with its broker.
    """

    requests: tuple[StateChangeRequest, ...] = ()
    steps: tuple[MoveStep, ...] = ()
    full: tuple[tuple[float, int], ...] = ()
    seen: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    figures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.requests or self.steps or self.figures)


def read_state_changes(folder: RunFolder, journal: Journal) -> StateChanges:
    """Read the state changes of a run; empty for other designs. Lines of other kinds are skipped."""
    lines = sorted(
        (each for path in sorted(folder.logs.glob("*.log")) for each in _logged(path, journal)),
        key=lambda each: each[0],
    )
    steps, full = [], []
    seen: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for t, line in lines:
        if found := _STEP.search(line):
            steps.append(MoveStep(t, int(found["by"]), _partition(found), found["step"], int(found["epoch"])))
        elif found := _FULL.search(line):
            full.append((t, int(found["to"])))
        elif found := _SEEN.search(line):
            seen[_partition(found)][int(found["by"])] += 1
    counted = {partition: dict(brokers) for partition, brokers in sorted(seen.items())}
    return StateChanges(tuple(requests_of(lines)), tuple(steps), tuple(full), counted, _figures(folder))


def requests_of(lines: Sequence[tuple[float, str]]) -> list[StateChangeRequest]:
    """Return the requests in the order of their begin. Equal log lines are matched in order, as in a queue."""
    requested: dict[tuple[object, ...], deque[StateChangeRequest]] = defaultdict(deque)
    for t, line in lines:
        if found := _REQUESTED.search(line):
            new = _request(found, -1 if found["sender"] == "admin" else int(found["by"]))
            requested[_key(new)].append(replace(new, by=int(found["by"]), requested=t))
    done: list[StateChangeRequest] = []
    begun: dict[tuple[object, ...], deque[StateChangeRequest]] = defaultdict(deque)
    for t, line in lines:
        if found := _RECEIVED.search(line):
            new = _request(found, int(found["by"]))
            known = requested[_key(new)]
            request = known.popleft() if known and (known[0].requested or 0) <= t + AHEAD else new
            begun[_key(new)].append(replace(request, received=t))
        elif found := _ENDED.search(line):
            new = _request(found, int(found["by"]))
            known = begun[_key(new)]
            done.append(
                replace(known.popleft() if known else new, ended=t, how=found["how"], remark=found["remark"] or "")
            )
    rest = [each for queues in (requested, begun) for queue in queues.values() for each in queue]
    return sorted([*done, *rest], key=lambda request: request.begun)


def _request(found: re.Match[str], leader: int) -> StateChangeRequest:
    return StateChangeRequest(found["change"], _partition(found), int(found["to"]), leader, int(found["epoch"]))


def _key(request: StateChangeRequest) -> tuple[object, ...]:
    return request.change, request.partition, request.to, request.leader, request.epoch


def _partition(found: re.Match[str]) -> str:
    return f"{found['topic']}-{found['partition']}"


def _logged(path: Path, journal: Journal) -> Iterator[tuple[float, str]]:
    """Yield the lines about state changes, each with its seconds since the run began."""
    shift: float | None = None
    with path.open(errors="replace") as file:
        for line in file:
            if not any(mark in line for mark in _MARKS) or not (time := _TIME.match(line)):
                continue
            clock = (
                datetime.strptime(time[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp() + int(time[2]) / 1000
            )
            if shift is None:
                shift = _shift(clock, journal)
            yield clock - shift, line.rstrip()


def _shift(clock: float, journal: Journal) -> float:
    """Return the offset in seconds from a log's UTC time to run time, rounded to the quarter-hour time zone."""
    begin = journal.events[0].wall - journal.events[0].t if journal.events else clock
    zone = round((clock - begin - journal.duration / 2) / _QUARTER) * _QUARTER
    return begin + zone


def _figures(folder: RunFolder) -> Mapping[str, Mapping[str, Any]]:
    """Return the content of each node's metrics file. A file that cannot be read is left out."""
    figures = {}
    for path in sorted(folder.nodes.glob("*/metrics.json")):
        try:
            figures[path.parent.name] = json.loads(path.read_text())
        except (OSError, ValueError):
            continue
    return figures
