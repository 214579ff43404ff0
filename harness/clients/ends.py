"""The ends of partitions that clients see: ListOffsets at the leaders, beside the metadata that is asked anyway.

A new leadership is asked at each look, an old one once a second (`Turns`). The journal gets the first end that a node
shows of a partition, one a second while it grows, and each that is lower than one that was shown before, with that one:
so no step back that was seen is left out, and a busy partition fills no journal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.clients.views import BrokerView, PartitionView
from fencepost.harness.plan.internal_topics import INTERNAL_TOPICS
from fencepost.harness.wire.versions import LIST_OFFSETS
from fencepost.results.records.journal import JournalWriter

EVERY = 1.0
"""Seconds between two ends of a growing partition in the journal."""
FRESH = 3.0
"""Seconds of a leadership in which its ends are asked at each look, and not once in `EVERY` seconds: an end goes back
when another process, or the same one after a restart, begins to lead."""
CONSUMER = -1
LATEST = -1


def led_by(view: BrokerView, id: int) -> list[PartitionView]:
    """Return the partitions that a broker describes as its own to lead, in the order of their names."""
    led = (each for each in view.partitions.values() if each.leader == id and each.topic not in INTERNAL_TOPICS)
    return sorted(led, key=lambda each: (each.topic, each.partition))


def ask_ends(connection: RawConnection, partitions: Sequence[PartitionView]) -> Mapping[str, int]:
    """Return the end of each of these partitions that the node shows. Raise NoAnswer without an answer."""
    topics = [
        {
            "name": topic,
            "partitions": [{"partition_index": each.partition, "timestamp": LATEST} for each in group],
        }
        for topic, group in groupby(partitions, key=lambda each: each.topic)
    ]
    body = {"replica_id": CONSUMER, "isolation_level": 0, "topics": topics}
    answer = LIST_OFFSETS.ask(connection, body)
    return {
        f"{topic.name}-{each.partition_index}": each.offset
        for topic in answer.topics
        for each in topic.partitions
        if not each.error_code and each.offset >= 0
    }


class Turns:
    """Decides at which looks at one node its ends are asked. All times are monotonic, in seconds."""

    def __init__(self) -> None:
        self._led: list[tuple[str, int, int]] = []
        self._since = self._asked = float("-inf")

    def due(self, led: Sequence[PartitionView], now: float) -> bool:
        """Return whether to ask at this look, which found the node to lead these partitions; [] if it is silent."""
        leads = [(each.topic, each.partition, each.leader_epoch) for each in led]
        if leads != self._led:
            self._led, self._since = leads, now
        if not leads or (now - self._since > FRESH and now - self._asked < EVERY):
            return False
        self._asked = now
        return True


@dataclass
class _Shown:
    data: Mapping[str, object]
    offset: int
    node: str
    written: bool


@dataclass
class VisibleEnds:
    """The highest end that was shown of each partition. `record` may be called from any thread."""

    journal: JournalWriter
    _highest: dict[tuple[str, str | None], _Shown] = field(default_factory=dict)
    _written: dict[tuple[str, str, str | None], float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, node: str, partitions: Sequence[PartitionView], ends: Callable[[], Mapping[str, int]]) -> None:
        """Ask a node for the ends of partitions that it leads, and record them. Raise what `ends` raises."""
        asked = self.journal.now()
        answer = ends()
        answered = self.journal.now()
        with self._lock:
            for each in partitions:
                key = f"{each.topic}-{each.partition}"
                if key in answer:
                    self._record(node, each, answer[key], asked, answered)

    def _record(self, node: str, partition: PartitionView, offset: int, asked: float, answered: float) -> None:
        data: dict[str, object] = {
            "what": "end",
            "topic": partition.topic,
            "partition": partition.partition,
            "offset": offset,
            "leader_epoch": partition.leader_epoch,
            "asked": round(asked, 6),
            "answered": round(answered, 6),
        }
        if partition.topic_id is not None:
            data["topic_id"] = partition.topic_id
        name = f"{partition.topic}-{partition.partition}"
        key = (name, partition.topic_id)
        highest = self._highest.get(key)
        lower = highest is not None and offset < highest.offset
        if lower and highest is not None and not highest.written:
            self._write(highest)
        due = answered >= self._written.get((node, *key), -EVERY) + EVERY
        shown = _Shown(data, offset, node, written=False)
        if lower or (due and (highest is None or offset > highest.offset or (node, *key) not in self._written)):
            self._write(shown)
            self._written[node, *key] = answered
        if highest is None or offset > highest.offset:
            self._highest[key] = shown

    def _write(self, shown: _Shown) -> None:
        shown.written = True
        self.journal.write(
            "state", f"{shown.data['topic']}-{shown.data['partition']}", "seen", dict(shown.data), node=shown.node
        )
