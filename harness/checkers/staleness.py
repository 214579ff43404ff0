"""How old the metadata was that brokers handed out, held against what the controllers had decided by then.

A measurement, not a judgement: a document may promise that old metadata comes to an end, or tell why it does not. What
a broker answers is stale from when a newer leader was decided, or another broker came or went; it counts for as long
as the broker answered with it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from harness.checkers.control import Lives, TopicPartition, partition_view
from results.records.events import Event
from results.records.journal import Journal
from results.records.verdict import Finding, Verdict

LEAST = 0.5
"""Seconds that news may take: nodes are asked ten times a second, and busy machines are slow."""
LOOKS = 0.2
"""Seconds between two looks, and some. What was not seen twice may be news that came here in another order."""

Version = tuple[int, float]
"""Of a partition: which topic of that name, and the leader epoch; no epoch is above that of a topic that is gone."""
GONE = float("inf")


@dataclass(frozen=True, slots=True)
class Stale:
    """A broker answered from `begun` to `ended` with what had been otherwise `since` an earlier time."""

    node: str
    since: float
    begun: float
    ended: float
    what: str

    @property
    def age(self) -> float:
        return self.ended - self.since

    @property
    def seconds(self) -> float:
        return self.ended - self.begun


@dataclass
class _Decided:
    """What had been decided: each partition's versions with their times, and each set of live brokers with its."""

    versions: dict[TopicPartition, list[tuple[float, Version, int]]] = field(default_factory=dict)
    brokers: list[tuple[float, frozenset[int]]] = field(default_factory=list)

    def newer(self, at: TopicPartition, version: Version) -> tuple[float, Version, int] | None:
        """The first that came after this version."""
        return next((each for each in self.versions.get(at, ()) if each[1] > version), None)


@dataclass
class _Broker:
    """What one broker says while it answers."""

    answers: bool = False
    views: dict[TopicPartition, tuple[Version, int]] = field(default_factory=dict)
    listed: frozenset[int] | None = None
    place: int = 0
    """Of the latest decided set of brokers that it was seen to list: what it lists after that is not older."""
    open: Stale | None = None


def measure(journal: Journal) -> list[Stale]:
    """Every stretch of at least `LEAST` seconds of age that was looked at more than once, by its begin."""
    decided, brokers, lives = _Decided(), dict[str, _Broker](), Lives()
    found: list[Stale] = []
    for event in journal.of("state"):
        if event.node:
            _told(brokers.setdefault(event.node, _Broker()), event, lives)
            changed = {event.node: brokers[event.node]}
        else:
            _decide(decided, event, lives)
            changed = brokers
        for node, broker in changed.items():
            found += _follow(node, broker, decided, event.t)
    for broker in brokers.values():
        if broker.open is not None:
            found.append(replace(broker.open, ended=journal.duration))
    lasting = (each for each in found if each.age >= LEAST and each.seconds >= LOOKS)
    return sorted(lasting, key=lambda stale: stale.begun)


def stale_metadata(journal: Journal) -> Finding:
    """Told of every run; the verdict is always a pass."""
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
    told = [
        f"{node} handed out metadata that was {figures[node]['oldest_s']} s old at worst, "
        f"{figures[node]['seconds']} s long in all ({stale.what})"
        for node, stale in sorted(worst.items(), key=lambda each: -each[1].age)
    ]
    others = f"{'no other' if told else 'no'} broker's metadata was {LEAST:g} s old or older"
    sentence = "; ".join([*told, others])
    return Finding(
        verdict=Verdict.PASS,
        check="stale-metadata",
        title="How old the brokers' metadata was",
        sentence=f"{sentence[0].upper()}{sentence[1:]}.",
        level="may",
        at=min((stale.since for stale in worst.values()), default=None),
        evidence={"judged": len(asked), "stale": figures},
    )


def _decide(decided: _Decided, event: Event, lives: Lives) -> None:
    data = event.data
    match data.get("what"):
        case "partition":
            view = partition_view(event, lives.of(event) or 0)
            _note(decided, view.partition, event.t, view.version, view.leader)
        case "partition-gone":
            lives.gone(event)
            at = (data["topic"], data["partition"])
            if known := decided.versions.get(at):
                _note(decided, at, event.t, (known[-1][1][0], GONE), -1)
        case "broker":
            before = decided.brokers[-1][1] if decided.brokers else frozenset()
            alive = before | {data["id"]} if data["state"] == "active" else before - {data["id"]}
            if alive != before:
                decided.brokers.append((event.t, alive))


def _note(decided: _Decided, at: TopicPartition, t: float, version: Version, leader: int) -> None:
    known = decided.versions.setdefault(at, [])
    if not known or version > known[-1][1]:
        known.append((t, version, leader))


def _told(broker: _Broker, event: Event, lives: Lives) -> None:
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
            broker.views[view.partition] = view.version, view.leader
        case "partition-gone":
            broker.views.pop((data["topic"], data["partition"]), None)


def _follow(node: str, broker: _Broker, decided: _Decided, t: float) -> Iterator[Stale]:
    """Ends the open stretch, or opens one, or lets it go on."""
    behind = min(_behind(broker, decided), default=None) if broker.answers else None
    if behind is None:
        if broker.open is not None:
            yield replace(broker.open, ended=t)
        broker.open = None
    elif broker.open is None or broker.open.since != behind[0]:
        if broker.open is not None:
            yield replace(broker.open, ended=t)
        broker.open = Stale(node, behind[0], t, t, behind[1])


def _behind(broker: _Broker, decided: _Decided) -> Iterator[tuple[float, str]]:
    """Since when each thing that the broker says is no longer so, and what it is."""
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
