"""An administrator makes a mistake: the request cannot be served, and its answer has to name the mistake."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation, asked, short
from fencepost.harness.campaign.operations.requests import (
    APPEND,
    BROKER,
    SET,
    SUBTRACT,
    TOPIC,
    altered,
    api,
    excusing,
    must,
    never,
)
from fencepost.harness.campaign.topics import LONGEST, Existence
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

ABSENT = "no-such-topic"
ABSENT_ID = "00000000-0000-4000-8000-0000000000ff"
ABSENT_BROKER = 99
TOO_MANY = 9
"""More replicas than any plan has brokers."""
ILLEGAL_NAMES = ("", ".", "..", "a b", "a/b", "ä", "n" * (LONGEST + 1))
TOGETHER = 4
"""Mistakes of one operation, at most."""
SWAPPED = str.maketrans("._", "_.")
"""Two names that differ in dots and underscores only would share the names of their metrics. KIP-631 has no such
rule."""
METADATA_LOG = "__cluster_metadata"
"""The log of the controllers, which no topic may share its name and its directory with."""


@dataclass(frozen=True)
class Mistake:
    """A request with a mistake, and the errors that name it, by their numbers in Kafka's protocol."""

    title: str
    api: str
    body: Mapping[str, Any]
    errors: tuple[int, ...]
    of_any: bool = False
    """Every broker answers it, also where administration is the controller's."""
    known_bug: str = ""
    """The number of a bug that some releases have here."""


class MistakenRequests(Operation):
    """A few requests that cannot be served.

    Each answer is claimed to have an error that names the mistake, if nothing is broken; it is claimed never to be an
    unknown server error.
    """

    at_end = True

    @abstractmethod
    def mistakes(self, rng: random.Random, script: Script) -> Iterator[Mistake]:
        """Yield the mistakes of this kind that can be made now."""

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        mistakes = list(self.mistakes(rng, script))
        chosen = rng.sample(mistakes, min(len(mistakes), TOGETHER))
        steps = []
        for mistake in chosen:
            how = asked(rng, script, of_any=mistake.of_any)
            errors = ",".join(map(str, mistake.errors))
            named = must("ADM-02", f"error:[{errors}]") if how.expect else never("ADM-02", "error:-1")
            if mistake.known_bug:
                named = excusing(named, script, mistake.known_bug)
            steps.append(api(script, "mistaken", replace(how, expect=named), mistake.api, dict(mistake.body)))
        return GeneratedOperation(f"mistakes: {', '.join(each.title for each in chosen)}", tuple(steps))


class UnknownSetting(MistakenRequests):
    """A setting of a topic or a broker that is not there is set, or a value is appended to it or taken from it."""

    name = "unknown-setting"
    weight = 1
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.3"}

    def mistakes(self, rng: random.Random, script: Script) -> Iterator[Mistake]:
        topic = rng.choice(script.cluster.topics).name
        broker = str(script.cluster.id_of(rng.choice(script.cluster.brokers)))
        for type, name in ((TOPIC, topic), (BROKER, broker), (BROKER, "")):
            for operation, what in ((SET, "a value for"), (APPEND, "an append to"), (SUBTRACT, "a removal from")):
                # A broker takes settings that it does not know, for its plug-ins; only a list can be appended to.
                if not (type == BROKER and operation == SET):
                    body = altered(type, name, "no.such.key", "x", operation)
                    title = f"{what} an unknown setting of {f'`{name}`' if name else 'all brokers'}"
                    bug = "" if operation == SET else "KAFKA-20129"
                    yield Mistake(title, "incremental_alter_configs", body, (40, 42), of_any=True, known_bug=bug)


class MistakenTopic(MistakenRequests):
    """A topic is created that is there or may not be there, or is changed in a way that it cannot be."""

    name = "mistaken-topic"
    weight = 2
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=1.0"}

    def mistakes(self, rng: random.Random, script: Script) -> Iterator[Mistake]:
        known = rng.choice([each for each in script.topics.values() if not each.ours])
        for replicas in (known.replicas, TOO_MANY):
            yield _creation(f"{known.name} created again with {replicas} replicas", known.name, replicas, (36,))
        yield _creation(f"a topic of {TOO_MANY} replicas", "too-many", TOO_MANY, (38,))
        for number in (0, -2):
            yield _creation(f"a topic of {number} replicas", "too-few", number, (38,))
            yield _creation(f"a topic of {number} partitions", "too-few", 1, (37,), partitions=number)
            yield _growth(f"{number} partitions for {known.name}", known.name, number, (37,))
        if (like := _collides(rng, script)) is not None:
            yield _creation(f"the name `{short(like)}`, which one has but for dots", like, 1, (17,))
        name = rng.choice(ILLEGAL_NAMES)
        yield _creation(f"the name `{short(name)}`", name, 1, (17,))
        if not script.cluster.uses_zookeeper:
            yield _creation(f"the name {METADATA_LOG}", METADATA_LOG, 1, (17, 29, 42))
        yield _growth("partitions for a topic that is not there", ABSENT, 4, (3,))
        yield _growth(f"no more partitions for {known.name}", known.name, 1, (37,))


class MistakenReassignment(MistakenRequests):
    """A partition is to move to brokers that cannot have it, or one that is not there is to move (KIP-455)."""

    name = "mistaken-reassignment"
    weight = 1
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.4"}

    def mistakes(self, rng: random.Random, script: Script) -> Iterator[Mistake]:
        topic = rng.choice(script.cluster.topics)
        number = rng.randrange(len(topic.assignments))
        first, *others = topic.assignments[number]
        for title, replicas in (
            ("a broker that is not there", [first, *others[1:], ABSENT_BROKER]),
            ("a broker that is not there alone", [ABSENT_BROKER]),
            ("one broker twice", [first, *others, first]),
            ("a broker with a negative id", [first, -1]),
            ("no broker", []),
        ):
            yield _move(f"a move of {topic.name}-{number} to {title}", topic.name, number, replicas, 39)
        yield _move("a move of a topic that is not there", ABSENT, 0, [first], 3)


class UnknownTopicId(MistakenRequests):
    """A client asks for the metadata of an id that no topic has, without a name."""

    name = "unknown-topic-id"
    weight = 1
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.8"}

    def mistakes(self, rng: random.Random, script: Script) -> Iterator[Mistake]:
        body = {"topics": [{"topic_id": ABSENT_ID, "name": None}], "allow_auto_topic_creation": False}
        yield Mistake("metadata of an id that no topic has", "metadata", body, (3, 42, 100), of_any=True)


def _collides(rng: random.Random, script: Script) -> str | None:
    """Return a name that collides with that of a topic which is certainly there, where the target refuses these."""
    dialect = script.cluster.target.dialect
    names = [each.name for each in script.topics.values() if each.existence is Existence.CERTAIN]
    dotted = [name for name in names if set(name) & set("._") and name.translate(SWAPPED) not in names]
    return rng.choice(dotted).translate(SWAPPED) if dotted and dialect is not Dialect.KIP_631 else None


def _creation(title: str, name: str, replicas: int, errors: tuple[int, ...], partitions: int = 1) -> Mistake:
    topic = {
        "name": name,
        "num_partitions": partitions,
        "replication_factor": replicas,
        "assignments": [],
        "configs": [],
    }
    return Mistake(title, "create_topics", {"topics": [topic], "timeout": 5000, "validate_only": False}, errors)


def _move(title: str, topic: str, number: int, replicas: Sequence[int], error: int) -> Mistake:
    partition = {"partition_index": number, "replicas": list(replicas)}
    body = {"timeout": 5000, "topics": [{"name": topic, "partitions": [partition]}]}
    return Mistake(title, "alter_partition_reassignments", body, (error,))


def _growth(title: str, name: str, count: int, errors: tuple[int, ...]) -> Mistake:
    topic = {"name": name, "count": count, "assignments": None}
    return Mistake(title, "create_partitions", {"topics": [topic], "timeout": 5000, "validate_only": False}, errors)
