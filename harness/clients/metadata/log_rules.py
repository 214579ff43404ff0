"""The rules of KIP-631's metadata log that no record shows alone: what one record says follows from those before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fencepost.harness.clients.metadata.draft_records import DraftRecord
from fencepost.harness.clients.metadata.whole_log import MetadataLog, PlacedRecord

FEWEST = "fewest-records"
"""A snapshot has one record for each entity, and none that removes something (KIP-631, Snapshot Implementation)."""
KNOWN = "entity-known"
"""A record is about a topic, partition or broker that is there."""
GROWS = "leader-epoch-grows"
"""Each later record of a partition has a higher leader epoch (KIP-631, IsrChange)."""
MARKED = "deletion-marked"
"""A topic is removed in a later batch than the one that marks it (D631-41)."""
LEFT = "left-every-isr"
"""A broker that is deleted is in no ISR but one of which it is the last member (KIP-631, DeleteBroker)."""
ENDED = "epoch-after-registration"
"""Each partition of a broker whose registration ends has a new leader epoch, if it has a leader (D631-25)."""
SPREAD = "spread-over-racks"
"""A new partition has replicas in as many racks as there are, if each registered broker has one (D631-32)."""
RULES = (FEWEST, KNOWN, GROWS, MARKED, LEFT, ENDED, SPREAD)

_NO_LEADER = -1


@dataclass(frozen=True)
class BrokenRule:
    """A rule that the record at `offset` breaks; a record of the snapshot is counted from its beginning."""

    rule: str
    offset: int
    message: str


def broken_rules(log: MetadataLog) -> list[BrokenRule]:
    """Return what of the rules the snapshot and the log break. Linear in records, and partitions for each deletion."""
    state = _State()
    for placed in log.snapshot:
        state.replay(placed)
    broken = [*_superfluous(log.snapshot)]
    for placed in log.log:
        broken += (BrokenRule(rule, placed.offset, message) for rule, message in state.judge(placed))
        state.replay(placed)
    return broken


def _superfluous(snapshot: tuple[PlacedRecord, ...]) -> Iterator[BrokenRule]:
    seen: set[tuple[Any, ...]] = set()
    for placed in snapshot:
        entity = _entity(placed.record)
        if entity is None:
            yield BrokenRule(FEWEST, placed.offset, f"{placed.record.name} says what there is not")
        elif entity in seen:
            yield BrokenRule(FEWEST, placed.offset, f"a second record describes {' '.join(map(str, entity))}")
        else:
            seen.add(entity)


def _entity(record: DraftRecord) -> tuple[Any, ...] | None:
    """Return what a record describes, by its kind and identity; None if it removes something."""
    match record.name, record.fields:
        case "BrokerRecord", {"broker_id": id}:
            return "broker", id
        case "TopicRecord", {"topic_id": id}:
            return "topic", id
        case "PartitionRecord", {"topic_id": topic, "partition_id": index}:
            return "partition", topic, index
        case "ConfigRecord", {"value": str(), "resource_type": kind, "resource_name": resource, "name": name}:
            return "setting", kind, resource, name
        case "AccessControlRecord", entry:
            return "entry", *entry.values()
        case "FeatureLevelRecord", {"name": name}:
            return "feature", name
        case "HistoryRecord", _:
            return ("history",)
    return None


@dataclass
class _Partition:
    replicas: list[int]
    isr: list[int]
    leader: int
    leader_epoch: int
    led_at: int
    """The leader epoch at the beginning of the batch, or behind the last deletion of a broker in it; -1 if it had no
    leader then."""


@dataclass
class _State:
    """The state that the records so far describe."""

    racks: dict[int, str | None] = field(default_factory=dict)
    topics: dict[str, int | None] = field(default_factory=dict)
    """By id: the batch that marked the topic, None if it is not being deleted."""
    partitions: dict[tuple[str, int], _Partition] = field(default_factory=dict)
    batch: int = -1

    def judge(self, placed: PlacedRecord) -> Iterator[tuple[str, str]]:
        """Yield each rule that the record breaks, with what is wrong."""
        if placed.batch != self.batch:
            self.batch = placed.batch
            self._settle()
        fields = placed.record.fields
        match placed.record.name:
            case "PartitionRecord" | "IsrChangeRecord":
                yield from self._judge_partition(placed.record.name, fields)
            case "DeleteTopicRecord":
                topic = fields["name"]
                if topic not in self.topics:
                    yield KNOWN, f"it deletes the topic {topic}, which is not there"
                elif self.topics[topic] in (None, placed.batch):
                    yield MARKED, f"it deletes the topic {topic}, which no earlier batch has marked"
            case "DeleteBrokerRecord":
                yield from self._judge_end(fields["id"])

    def replay(self, placed: PlacedRecord) -> None:
        fields = placed.record.fields
        match placed.record.name:
            case "BrokerRecord":
                self.racks[fields["broker_id"]] = fields["rack"]
            case "DeleteBrokerRecord":
                self.racks.pop(fields["id"], None)
                self._settle()
            case "TopicRecord":
                self.topics[fields["topic_id"]] = placed.batch if fields["deleting"] else None
            case "DeleteTopicRecord":
                self.topics.pop(fields["name"], None)
                self.partitions = {at: each for at, each in self.partitions.items() if at[0] != fields["name"]}
            case "PartitionRecord" | "IsrChangeRecord":
                self._change(fields)

    def _settle(self) -> None:
        for each in self.partitions.values():
            each.led_at = each.leader_epoch if each.leader != _NO_LEADER else -1

    def _change(self, fields: Mapping[str, Any]) -> None:
        at = fields["topic_id"], fields["partition_id"]
        known = self.partitions.get(at)
        self.partitions[at] = _Partition(
            fields.get("replicas") or (known.replicas if known else []),
            fields["isr"],
            fields["leader"],
            fields["leader_epoch"],
            known.led_at if known else -1,
        )

    def _judge_partition(self, name: str, fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        topic, index, epoch = fields["topic_id"], fields["partition_id"], fields["leader_epoch"]
        known = self.partitions.get((topic, index))
        if topic not in self.topics or (known is None and name == "IsrChangeRecord"):
            yield KNOWN, f"it changes partition {index} of the topic {topic}, which is not there"
        elif known is None:
            yield from self._judge_spread(fields["replicas"])
        elif epoch <= known.leader_epoch:
            yield GROWS, f"partition {index} of {topic} gets the leader epoch {epoch} after {known.leader_epoch}"

    def _judge_spread(self, replicas: list[int]) -> Iterator[tuple[str, str]]:
        racks = set(self.racks.values())
        used = {self.racks.get(each) for each in replicas}
        if None not in racks and len(used) < min(len(replicas), len(racks)):
            yield SPREAD, f"the replicas {replicas} are in {len(used)} of {len(racks)} racks"

    def _judge_end(self, broker: int) -> Iterator[tuple[str, str]]:
        if broker not in self.racks:
            yield KNOWN, f"it deletes the broker {broker}, which is not registered"
        for (topic, index), each in self.partitions.items():
            if broker in each.isr and each.isr != [broker]:
                yield LEFT, f"broker {broker} is deleted in the ISR {each.isr} of partition {index} of {topic}"
            if broker in each.replicas and each.led_at == each.leader_epoch:
                yield (
                    ENDED,
                    f"partition {index} of {topic} keeps the leader epoch {each.leader_epoch} as broker {broker} goes",
                )
