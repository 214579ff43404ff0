"""Topics that the plan itself deleted: their records are not lost, and of one created again the offsets begin anew.

A topic has several *lives* if it was deleted and created again. What clients did in an earlier life is kept under a
name of its own, `t (deleted at 7.1 s)`, so that no checker compares two lives. What they did while the topic was
deleted and created belongs to neither for certain: these records are not promised. A topic that is gone without a
request to delete it is judged by `topics_at_end`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from fencepost.harness.checkers.history import History, Poll, Read, Send, SendOutcome
from fencepost.harness.checkers.topic_requests import TopicRequest
from fencepost.results.records.journal import Journal


@dataclass(frozen=True, slots=True)
class Deletion:
    """A deletion that was requested at `asked`, decided by `gone`, and undone by the creation that was seen at `back`.

    `back` is infinite if the topic was not created again.
    """

    topic: str
    asked: float
    gone: float
    back: float = inf

    @property
    def name(self) -> str:
        """Return the name of the topic in the life that the deletion ended."""
        return f"{self.topic} (deleted at {self.gone:.1f} s)"


def read_deletions(requests: Iterable[TopicRequest], journal: Journal) -> Mapping[str, Sequence[Deletion]]:
    """Return the deletions that were requested, by topic. Linear in the journal."""
    requests = [each for each in requests if each.kind == "delete"]
    found: dict[str, list[Deletion]] = defaultdict(list)
    ids: dict[str, str | None] = {}
    gone: set[str] = set()
    for event in journal.of("state"):
        what, topic = event.data.get("what"), event.data.get("topic")
        if event.node or topic is None or what not in ("partition", "partition-gone"):
            continue
        id = event.data.get("topic_id")
        if (what == "partition-gone" and topic not in gone) or (what == "partition" and _is_other(ids.get(topic), id)):
            since = found[topic][-1].back if found[topic] else -inf
            asked = [
                each.t
                for each in requests
                if each.t <= event.t and since < each.until and each.may_mean(topic, ids.get(topic))
            ]
            if asked and topic not in gone:
                found[topic].append(Deletion(topic, min(asked), event.t))
                gone.add(topic)
        if what == "partition":
            ids[topic] = id
            if topic in gone:
                gone.discard(topic)
                found[topic][-1] = replace(found[topic][-1], back=event.t)
    return {topic: each for topic, each in found.items() if each}


def _is_other(known: str | None, id: str | None) -> bool:
    return known is not None and id is not None and known != id


def split_lives(history: History, deletions: Mapping[str, Sequence[Deletion]]) -> History:
    """Return the history with the earlier lives of topics under names of their own."""
    if not deletions:
        return history
    lives = _Lives(deletions)
    sends = tuple(map(lives.sent, history.sends))
    polls = tuple(map(lives.polled, history.polls))
    names = {deletion.name for each in deletions.values() for deletion in each}
    ended = {(send.topic, send.partition) for send in sends if send.topic in names and send.partition is not None}
    return replace(
        history,
        sends=sends,
        polls=polls,
        ended=frozenset(ended),
        recreated=frozenset(topic for topic, each in deletions.items() if each[-1].back < inf),
        returned=tuple(lives.returned),
    )


class _Lives:
    def __init__(self, deletions: Mapping[str, Sequence[Deletion]]) -> None:
        self._deletions = deletions
        self._of_value: dict[str, str | None] = {}
        self.returned: list[Read] = []

    def _name(self, topic: str, begin: float, end: float) -> str | None:
        """Return the name of the life in which all of this time lies; None if it lies in none."""
        for deletion in self._deletions.get(topic, ()):
            if end < deletion.asked:
                return deletion.name
            if begin <= deletion.back:
                return None
        return topic

    def sent(self, send: Send) -> Send:
        if send.topic not in self._deletions:
            return send
        name = self._name(send.topic, send.invoked, inf if send.completed is None else send.completed)
        self._of_value[send.value] = name
        if name is not None:
            return replace(send, topic=name)
        outcome = SendOutcome.INFO if send.outcome is SendOutcome.OK else send.outcome
        return replace(send, outcome=outcome, offset=None)

    def polled(self, poll: Poll) -> Poll:
        if not any(read.at[0] in self._deletions for read in poll.records):
            return poll
        return replace(poll, records=tuple(each for read in poll.records for each in self._read(read, poll)))

    def _read(self, read: Read, poll: Poll) -> Iterator[Read]:
        """Yield the record under the life that it was sent in. The final read is of the present life, whatever came."""
        topic, partition = read.at
        if topic not in self._deletions:
            yield read
            return
        known = read.value in self._of_value
        name = self._of_value[read.value] if known else self._name(topic, poll.t, poll.t)
        if poll.final:
            if known and name not in (None, topic):
                self.returned.append(read)
            yield read
        elif name is not None:
            yield Read((name, partition), read.offset, read.value)
