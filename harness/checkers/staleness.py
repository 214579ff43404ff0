"""The age of the metadata in the brokers' answers, compared with the decided state.

This is a measurement, not a judgement: a document may promise that old metadata comes to an end, or say why it does
not. An answer is stale from the time at which a newer leader was decided, or the set of live brokers changed; it counts
for as long as the broker gave it.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fencepost.harness.checkers.check import RunCheck
from fencepost.harness.checkers.checker import Need, checker
from fencepost.harness.checkers.control import TopicLives, TopicPartition, partition_view
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Finding, Verdict

LEAST = 0.5
"""Seconds that a change may take to be seen: nodes are asked ten times a second, and busy machines are slow."""
SEEN_TWICE = 0.2
"""Seconds between two requests to a broker, with a margin. A single stale answer may be due to the order of events."""

Version = tuple[int, float]
"""The version of a partition: the life of its topic, and the leader epoch; GONE is above all epochs."""
GONE = float("inf")


@dataclass(frozen=True, slots=True)
class StaleAnswers:
    """A broker answered from `begun` to `ended` with metadata that was outdated `since` an earlier time."""

    node: str
    since: float
    begun: float
    ended: float
    what: str

    @property
    def age(self) -> float:
        """Return the age of the metadata at the end, in seconds."""
        return self.ended - self.since

    @property
    def seconds(self) -> float:
        """Return the seconds for which the broker gave these answers."""
        return self.ended - self.begun


@dataclass
class _DecidedState:
    """The decided state: the versions of each partition, which grow, and the sets of live brokers, with their times."""

    versions: dict[TopicPartition, list[tuple[float, Version, int]]] = field(default_factory=dict)
    brokers: list[tuple[float, frozenset[int]]] = field(default_factory=list)

    def newer(self, at: TopicPartition, version: Version) -> tuple[float, Version, int] | None:
        """Return the first version above this one, with its time and leader, None if there is none."""
        known = self.versions.get(at, [])
        place = bisect_right(known, version, key=lambda each: each[1])
        return known[place] if place < len(known) else None


@dataclass
class _BrokerAnswers:
    """The metadata in one broker's answers."""

    answers: bool = False
    views: dict[TopicPartition, tuple[Version, int]] = field(default_factory=dict)
    listed: frozenset[int] | None = None
    place: int = 0
    """The place of the latest decided set of brokers that it listed; its later lists are not older than that."""
    open: StaleAnswers | None = None


def measure(journal: Journal) -> list[StaleAnswers]:
    """Return the stale answers that were at least `LEAST` seconds old and seen twice, by their begin."""
    decided, brokers, lives = _DecidedState(), dict[str, _BrokerAnswers](), TopicLives()
    found: list[StaleAnswers] = []
    for event in journal.of("state"):
        if event.node:
            _receive(brokers.setdefault(event.node, _BrokerAnswers()), event, lives)
            changed = {event.node: brokers[event.node]}
        else:
            _decide(decided, event, lives)
            changed = brokers
        for node, broker in changed.items():
            found += _follow(node, broker, decided, event.t)
    for broker in brokers.values():
        if broker.open is not None:
            found.append(replace(broker.open, ended=journal.duration))
    lasting = (each for each in found if each.age >= LEAST and each.seconds >= SEEN_TWICE)
    return sorted(lasting, key=lambda stale: stale.begun)


STALE = RunCheck("stale-metadata", "The age of the brokers' metadata is measured and reported; no rule bounds it.")


@checker(STALE, rank=79, needs=[Need.DECISIONS])
def stale_metadata(journal: Journal) -> Finding:
    """Report the age of the brokers' metadata. The verdict is always a pass."""
    found = measure(journal)
    worst = {each.node: max((o for o in found if o.node == each.node), key=lambda o: o.age) for each in found}
    asked = {event.node for event in journal.of("state") if event.data.get("what") == "listed"}
    figures = {
        node: {
            "oldest_s": round(stale.age, 2),
            "seconds": round(sum(each.seconds for each in found if each.node == node), 2),
            "what": stale.what,
        }
        for node, stale in worst.items()
    }
    reported = [
        f"{node} answered with metadata that was up to {figures[node]['oldest_s']} s old, "
        f"for {figures[node]['seconds']} s in all ({stale.what})"
        for node, stale in sorted(worst.items(), key=lambda each: -each[1].age)
    ]
    others = f"{'no other' if reported else 'no'} broker's metadata was {LEAST:g} s old or older"
    message = "; ".join([*reported, others])
    return Finding(
        verdict=Verdict.PASS,
        check=STALE.name,
        title="The age of the brokers' metadata",
        message=f"{message[0].upper()}{message[1:]}.",
        level="may",
        at=min((stale.since for stale in worst.values()), default=None),
        evidence={"judged": len(asked), "stale": figures},
    )


def _decide(decided: _DecidedState, event: Event, lives: TopicLives) -> None:
    data = event.data
    match data.get("what"):
        case "partition":
            view = partition_view(event, lives.of(event) or 0)
            _add_version(decided, view.partition, event.t, view.version, view.leader)
        case "partition-gone":
            lives.gone(event)
            at = (data["topic"], data["partition"])
            if known := decided.versions.get(at):
                _add_version(decided, at, event.t, (known[-1][1][0], GONE), -1)
        case "broker":
            before = decided.brokers[-1][1] if decided.brokers else frozenset()
            alive = before | {data["id"]} if data["state"] == "active" else before - {data["id"]}
            if alive != before:
                decided.brokers.append((event.t, alive))


def _add_version(decided: _DecidedState, at: TopicPartition, t: float, version: Version, leader: int) -> None:
    known = decided.versions.setdefault(at, [])
    if not known or version > known[-1][1]:
        known.append((t, version, leader))


def _receive(broker: _BrokerAnswers, event: Event, lives: TopicLives) -> None:
    data = event.data
    match data.get("what"):
        case "answer":
            broker.answers = data["state"] == "serving"
            if not broker.answers:
                broker.views, broker.listed, broker.place = {}, None, 0
        case "listed":
            broker.listed = frozenset(data["brokers"])
        case "partition" if (life := lives.of(event)) is not None:
            view = partition_view(event, life)
            if view.has_epoch:
                broker.views[view.partition] = view.version, view.leader
            else:
                broker.views.pop(view.partition, None)
        case "partition-gone":
            broker.views.pop((data["topic"], data["partition"]), None)


def _follow(node: str, broker: _BrokerAnswers, decided: _DecidedState, t: float) -> Iterator[StaleAnswers]:
    """End, begin or continue the broker's stretch of stale answers; yield the one that ended."""
    behind = min(_behind(broker, decided), default=None) if broker.answers else None
    if behind is None:
        if broker.open is not None:
            yield replace(broker.open, ended=t)
        broker.open = None
    elif broker.open is None or broker.open.since != behind[0]:
        if broker.open is not None:
            yield replace(broker.open, ended=t)
        broker.open = StaleAnswers(node, behind[0], t, t, behind[1])


def _behind(broker: _BrokerAnswers, decided: _DecidedState) -> Iterator[tuple[float, str]]:
    """Yield (the time at which it became outdated, its description) for each outdated part of the broker's answers."""
    for at, (version, leader) in broker.views.items():
        if newer := decided.newer(at, version):
            since, (_, epoch), now = newer
            name = f"{at[0]}-{at[1]}"
            says = f"{name} led by {leader} at epoch {version[1]}" if leader >= 0 else f"{name} without a leader"
            fact = "gone" if epoch == GONE else f"led by {now} at epoch {epoch:g}" if now >= 0 else "without a leader"
            yield since, f"{says}, {fact} since {since:.2f} s"
    places = [place for place, (_, ids) in enumerate(decided.brokers) if ids == broker.listed and place >= broker.place]
    if places:
        broker.place = places[-1]
        if places[-1] + 1 < len(decided.brokers):
            since, then = decided.brokers[places[-1] + 1]
            yield since, f"brokers {sorted(broker.listed or ())}, {sorted(then)} since {since:.2f} s"
