"""The state that results from the facts of the metadata log."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fencepost.harness.clients.metadata.records import (
    BrokerFencingFact,
    BrokerRegistrationFact,
    BrokerRemovalFact,
    Fact,
    PartitionChangeFact,
    PartitionFact,
    TopicFact,
    TopicRemovalFact,
)


@dataclass(frozen=True)
class AdvertisedListener:
    """The advertised address of one listener of a registered broker."""

    listener: str
    host: str
    port: int
    security: str = "PLAINTEXT"


@dataclass(frozen=True)
class BrokerEntry:
    """`state` is `active`, `fenced` or `gone`; a broker that is gone keeps the epoch it last had. `offset` is that of
    the record that made it so.

    In ZooKeeper: `inactive` is a broker that is registered and not in the active controller's Metadata, `registered`
    one while no controller has answered yet, so that its live brokers are unknown; `epoch` is the
    transaction that made its znode, `offset` the one that last changed it, `version` that of its BrokerInfo, `owner`
    the session that holds it.
    """

    id: int
    epoch: int
    state: str
    offset: int
    version: int = -1
    endpoints: tuple[AdvertisedListener, ...] = ()
    owner: int = 0

    def process(self, ids: Mapping[str, int]) -> str | None:
        """The node that registered, by its host's name: an original and its duplicate have one id.

        `ids` by node name.
        """
        return next((each.host for each in self.endpoints if ids.get(each.host) == self.id), None)


@dataclass(frozen=True)
class PartitionEntry:
    """Leader -1 is no leader. `version` is what an ISR change is compared with.

    In ZooKeeper that is the version of the state's znode, and `offset` the transaction that last changed it; -1 before
    there is one. A reassignment under way shows in `adding` and `removing`.
    """

    topic: str
    partition: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    version: int
    offset: int
    controller_epoch: int = -1
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    def __str__(self) -> str:
        leader = f"leader {self.leader}" if self.leader >= 0 else "no leader"
        return f"{self.name} has {leader} at epoch {self.leader_epoch}, ISR {list(self.isr)} of {list(self.replicas)}"


@dataclass(frozen=True)
class Image:
    """A value: `apply` gives the next one. `offset` is that of the last record applied, -1 before the first.

    In ZooKeeper it is the transaction at which the tree was read.
    """

    brokers: Mapping[int, BrokerEntry] = field(default_factory=dict)
    partitions: Mapping[str, PartitionEntry] = field(default_factory=dict)
    topics: Mapping[uuid.UUID, str] = field(default_factory=dict)
    offset: int = -1

    def apply(self, offset: int, fact: Fact | None) -> Image:
        """The image after the record at `offset`. KeyError if it is about something never seen: the log has a hole."""
        after = replace(self, offset=offset)
        match fact:
            case None:
                return after
            case BrokerRegistrationFact(broker, epoch, fenced):
                return after._with_broker(BrokerEntry(broker, epoch, "fenced" if fenced else "active", offset))
            case BrokerFencingFact(broker, fenced):
                state = "fenced" if fenced else "active"
                return after._with_broker(replace(self.brokers[broker], state=state, offset=offset))
            case BrokerRemovalFact(broker):
                return after._with_broker(replace(self.brokers[broker], state="gone", offset=offset))
            case TopicFact(topic, name):
                return replace(after, topics={**self.topics, topic: name})
            case TopicRemovalFact(topic):
                return after._without_topic(topic)
            case PartitionFact():
                return after._with_partition(
                    PartitionEntry(
                        self.topics[fact.topic],
                        fact.partition,
                        fact.replicas,
                        fact.isr,
                        fact.leader,
                        fact.leader_epoch,
                        fact.version,
                        offset,
                        removing=fact.removing,
                        adding=fact.adding,
                    )
                )
            case PartitionChangeFact():
                return after._with_partition(self._changed(offset, fact))

    def after(self, earlier: Image) -> Image:
        """Return the image of a snapshot, read after `earlier`: brokers that the snapshot lacks are gone."""
        gone = {id: replace(entry, state="gone", offset=self.offset) for id, entry in earlier.brokers.items()}
        return replace(self, brokers={**gone, **self.brokers})

    def topic_id(self, name: str) -> uuid.UUID | None:
        return next((topic for topic, known in self.topics.items() if known == name), None)

    def _changed(self, offset: int, change: PartitionChangeFact) -> PartitionEntry:
        known = self.partitions[f"{self.topics[change.topic]}-{change.partition}"]
        if change.leader_epoch is not None:
            leader_epoch = version = change.leader_epoch
        else:
            leader_epoch = known.leader_epoch + (change.leader is not None)
            version = known.version + 1
        return replace(
            known,
            isr=known.isr if change.isr is None else change.isr,
            leader=known.leader if change.leader is None else change.leader,
            leader_epoch=leader_epoch,
            version=version,
            offset=offset,
            **{
                name: value
                for name in ("replicas", "removing", "adding")
                if (value := getattr(change, name)) is not None
            },
        )

    def _with_broker(self, entry: BrokerEntry) -> Image:
        return replace(self, brokers={**self.brokers, entry.id: entry})

    def _with_partition(self, entry: PartitionEntry) -> Image:
        return replace(self, partitions={**self.partitions, entry.name: entry})

    def _without_topic(self, topic: uuid.UUID) -> Image:
        name = self.topics[topic]
        return replace(
            self,
            topics={known: each for known, each in self.topics.items() if known != topic},
            partitions={key: entry for key, entry in self.partitions.items() if entry.topic != name},
        )
