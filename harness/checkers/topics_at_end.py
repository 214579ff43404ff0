"""Topics at the end: each that no step deleted is there, under its id, with as many partitions as were asked for.

The decided state tells that a topic is gone; where none was seen, the lists that brokers gave at the end do, once the
cluster had converged. Each witness of a topic counts as one judged item: the decided state, and each broker that listed
it at the end. What a step created counts from the first request on that was acknowledged: a creation that failed may
leave a topic, or may be undone (replication design V2, createTopic). A voter of the controllers whose disk was taken
away may have forgotten a topic by right, so nothing is held against the target after that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from operator import attrgetter

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import checker
from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.exits import FORGETS_NOTHING
from fencepost.harness.checkers.topic_lives import Deletion
from fencepost.harness.checkers.topic_requests import TopicRequest
from fencepost.harness.plan.internal_topics import INTERNAL_TOPICS
from fencepost.harness.plan.model import Plan
from fencepost.results.records.events import CONVERGE, Event
from fencepost.results.records.fault_targets import FaultTargets
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Basis, Finding

STAY = Check("topics-stay", "A topic is gone that no step deleted", "TOPIC-02", Basis.ABSENCE)
AS_ASKED = Check(
    "partitions-as-asked", "A topic has another number of partitions than was asked for", "TOPIC-03", Basis.ABSENCE
)


@dataclass(frozen=True, slots=True)
class ListedTopic:
    """A topic as one witness showed it at the end. `id` is None where topics have none."""

    witness: str
    id: str | None
    partitions: int


@dataclass
class TopicsAtEnd:
    """The topics of the plan and of its steps at the end, by name."""

    shown: Mapping[str, Sequence[ListedTopic]] = field(default_factory=dict)
    """Each expected topic that was seen or acknowledged at any time, with all that showed it at the end."""
    gone: Mapping[str, float] = field(default_factory=dict)
    """The topics that no step deleted, and that are not there at the end; with the time since when."""
    first_ids: Mapping[str, str] = field(default_factory=dict)
    known: frozenset[TopicPartition] = frozenset()
    """All partitions that were ever decided."""
    forgotten_by: str = ""
    """The fault by which a voter forgot what had been decided; empty if none did."""
    requests: Sequence[TopicRequest] = ()
    """The requests of the steps about topics, in no order."""

    @property
    def vanished(self) -> frozenset[TopicPartition]:
        """Return the partitions that are gone by nothing that the plan did."""
        return frozenset() if self.forgotten_by else frozenset(at for at in self.known if at[0] in self.gone)


def read_topics(
    plan: Plan, journal: Journal, requests: Sequence[TopicRequest], deletions: Mapping[str, Sequence[Deletion]]
) -> TopicsAtEnd:
    """Return what became of the topics that the plan and its steps created. Linear in the journal."""
    planned = {topic.name for topic in plan.topics}
    created = {each.topic for each in requests if each.kind == "create" and each.topic is not None}
    promised = dict.fromkeys(planned, -inf)
    for each in sorted(requests, key=attrgetter("t")):
        shows = each.partitions != 0  # nothing would show a topic without partitions
        if each.kind == "create" and each.acknowledged and each.topic is not None and shows:
            promised.setdefault(each.topic, each.t)
    decided = _Decided()
    decided.read(journal)
    lists = [event for event in journal.of("op", "ok") if event.data.get("f") == "topics"]
    listed = list(_listed(lists))
    converged = any(event.id == CONVERGE and event.data.get("outcome") == "done" for event in journal.of("step", "end"))
    deletes = [each for each in requests if each.kind == "delete"]
    asked = {
        topic for topic in planned | created if any(each.may_mean(topic, decided.last_id(topic)) for each in deletes)
    }
    shown: dict[str, list[ListedTopic]] = {}
    gone: dict[str, float] = {}
    for topic in sorted(planned | created):
        there = [each for name, each in listed if name == topic]
        was_there = (
            topic in decided.ever or bool(there) or (topic in promised and (topic not in planned or bool(lists)))
        )
        last = deletions.get(topic, ())
        deleted = last[-1].back == inf if last else topic in asked
        if topic in INTERNAL_TOPICS or not was_there or deleted:
            continue
        if now := decided.now.get(topic):
            there.append(ListedTopic("", decided.id_since(topic, inf), len(now)))
        shown[topic] = there
        if topic not in promised:  # a creation that failed may have been undone
            continue
        if topic in decided.ever:
            if not now:
                gone[topic] = decided.gone_at.get(topic, journal.duration)
        elif not there and lists and converged and topic not in asked:
            gone[topic] = journal.duration
    return TopicsAtEnd(
        shown,
        gone,
        {
            topic: id
            for topic, since in promised.items()
            if not deletions.get(topic) and topic not in asked and (id := decided.id_since(topic, since)) is not None
        },
        frozenset(decided.known) | {(t.name, n) for t in plan.topics for n in range(len(t.assignments))},
        next(_forgetting(plan, journal), ""),
        requests,
    )


class _Decided:
    """The topics of the decided state."""

    def __init__(self) -> None:
        self.ever: set[str] = set()
        self.known: set[TopicPartition] = set()
        self.now: dict[str, set[int]] = defaultdict(set)
        self.gone_at: dict[str, float] = {}
        self.ids: dict[str, list[tuple[float, str]]] = defaultdict(list)
        """Each id of a topic, with the time at which it was first seen."""

    def read(self, journal: Journal) -> None:
        for event in journal.of("state"):
            data = event.data
            if event.node or data.get("what") not in ("partition", "partition-gone"):
                continue
            topic, number = data["topic"], data["partition"]
            if data["what"] == "partition-gone":
                self.now[topic].discard(number)
                self.gone_at[topic] = event.t
                continue
            self.ever.add(topic)
            self.known.add((topic, number))
            self.now[topic].add(number)
            id = data.get("topic_id")
            if id is not None and (not self.ids[topic] or self.ids[topic][-1][1] != id):
                self.ids[topic].append((event.t, id))

    def last_id(self, topic: str) -> str | None:
        ids = self.ids.get(topic, [])
        return ids[-1][1] if ids else None

    def id_since(self, topic: str, t: float) -> str | None:
        """Return the first id that was decided from `t` on, or else the last one before; None if none was seen."""
        return next((id for seen, id in self.ids.get(topic, []) if seen >= t), self.last_id(topic))


def _listed(lists: Iterable[Event]) -> Iterator[tuple[str, ListedTopic]]:
    """Yield the topics that brokers listed when they were asked at the end."""
    for event in lists:
        for name, id, partitions in event.data["topics"]:
            yield name, ListedTopic(event.node or "", id, partitions)


def _forgetting(plan: Plan, journal: Journal) -> Iterator[str]:
    """Yield the faults by which a node that holds the decided state may have forgotten a part of it."""
    voters = {node.name for node in plan.topology.nodes if {"controller", "zookeeper"} & set(node.roles)}
    for event in journal.of("fault", "intent"):
        if event.data.get("fault") not in FORGETS_NOTHING and FaultTargets.of(event.data).touched & voters:
            yield event.id


@checker(STAY, rank=60, every_run=True, rests_on=[], counts=["op:topics"])
def topics_stay(topics: TopicsAtEnd) -> Finding:
    """Judge that each topic is there, and under the id that it first had."""
    rows = [(topic, topics.first_ids.get(topic, ""), "gone", f"{t:.2f} s") for topic, t in topics.gone.items()]
    judged = len(rows)
    for topic, there in topics.shown.items():
        first = topics.first_ids.get(topic)
        for each in there if topic not in topics.gone else ():
            judged += 1
            if first is not None and each.id not in (None, first):
                rows.append((topic, first, f"is {each.id}", f"at the end, {each.witness or 'as was decided'}"))
    if not rows:
        return STAY.held(judged, f"Each of {len(topics.shown)} topics that no step deleted is there ({judged} shown).")
    if topics.forgotten_by:
        return STAY.unjudged(
            f"{rows[0][0]} is gone or another; the fault {topics.forgotten_by} took away what a voter had decided."
        )
    names = ", ".join(dict.fromkeys(str(row[0]) for row in rows))
    what = "is gone" if rows[0][2] == "gone" else "is another topic than before"
    more = "" if len(rows) == 1 else f" (all: {names})"
    return STAY.broken(
        judged,
        f"The topic {rows[0][0]} {what}, and no step deleted it{more}.",
        ("topic", "first id", "at the end", "since"),
        rows,
        at=min(topics.gone.values(), default=None),
    )


@checker(AS_ASKED, rank=61, every_run=True, rests_on=[], counts=["op:topics"])
def partitions_as_asked(plan: Plan, topics: TopicsAtEnd) -> Finding:
    """Judge the number of partitions of each topic: as the plan has it, or as a step asked for."""
    asked: dict[str, list[TopicRequest]] = defaultdict(list)
    for request in topics.requests:
        for topic in topics.shown if request.topic is None else (request.topic,):
            asked[topic].append(request)
    rows: list[tuple[object, ...]] = []
    judged = 0
    for topic, there in topics.shown.items():
        lawful = _lawful_numbers(plan, topic, asked[topic])
        if lawful is None or topic in topics.gone:
            continue
        judged += len(there)
        for each in there:
            if each.partitions not in lawful:
                wanted = " or ".join(map(str, sorted(lawful)))
                rows.append((topic, wanted, each.partitions, each.witness or "the decided state"))
    if not rows:
        return AS_ASKED.held(judged, f"Topics have as many partitions as were asked for ({judged} shown).")
    if topics.forgotten_by:
        return AS_ASKED.unjudged(f"The fault {topics.forgotten_by} took away what a voter had decided.")
    return AS_ASKED.broken(
        judged,
        f"The topic {rows[0][0]} has {rows[0][2]} partitions at the end, and {rows[0][1]} were asked for.",
        ("topic", "asked for", "at the end", "shown by"),
        rows,
        at=None,
    )


def _lawful_numbers(plan: Plan, topic: str, asked: Sequence[TopicRequest]) -> frozenset[int] | None:
    """Return the numbers of partitions that a topic may have at the end; None if a request left the number open."""
    changes = [each for each in asked if each.kind != "delete"]
    if any(each.partitions is None for each in changes):
        return None
    numbers = {len(each.assignments) for each in plan.topics if each.name == topic}
    numbers |= {each.partitions for each in changes if each.partitions is not None}
    if any(each.kind == "delete" for each in asked):
        return frozenset(numbers)
    grown = [each.partitions or 0 for each in changes if each.kind == "grow" and each.acknowledged]
    return frozenset(each for each in numbers if each >= max(grown, default=0))
