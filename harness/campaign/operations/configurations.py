"""Requests about several topics or settings at once: parts are refused, repeated, unchanged, or only validated.

Each part of such a request is decided by itself. What it did is judged by the model of the state (`harness/model`): a
part that took others along, or that was forgotten, shows in the next description.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation, asked
from fencepost.harness.campaign.operations.requests import BROKER, DELETE, SET, TOPIC, api
from fencepost.harness.campaign.operations.settings import ChangedSettings, changed_defaults, changed_settings
from fencepost.harness.campaign.topics import Existence, ScriptTopic
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

ABSENT = "no-such-topic"
VALIDATED = 0.15
"""The fraction of requests that ask only to validate."""
REFUSED = 0.25
"""The fraction of requests with a part that has to be refused."""
UNSET = 0.3
"""The fraction of changes that take a setting back to its default, whether it has a value or not."""
TWICE = 0.3
"""The fraction of requests that are sent twice in a row."""
MOST = 3


class ChangeSeveralSettings(ChangedSettings):
    """Settings of topics, of one broker and of all brokers are set and unset by one request, and again."""

    name = "change-several-settings"
    weight = 4
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.3"}

    def changes(self, target: TargetFile) -> Collection[str]:
        return changed_settings(target)

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        target, refused = script.cluster.target, rng.random() < REFUSED
        unset = 0.0 if refused else UNSET  # what is refused beside a change of nothing shows nothing
        of_topics, of_brokers = changed_settings(target), changed_defaults(target)
        topics = [topic.name for topic in script.cluster.topics]
        resources = [
            _changes(rng, TOPIC, name, of_topics, unset) for name in rng.sample(topics, rng.randint(1, len(topics)))
        ]
        if of_brokers and rng.random() < 0.6:
            id = str(script.cluster.id_of(rng.choice(script.cluster.brokers)))
            resources.append(_changes(rng, BROKER, rng.choice(("", "", id)), of_brokers, unset))
        if refused:
            resources.append(_changes(rng, TOPIC, ABSENT, of_topics, unset))
        rng.shuffle(resources)
        how = asked(rng, script, certain=False)
        body = {"validate_only": rng.random() < VALIDATED, "resources": resources}
        times = 1 + (rng.random() < TWICE)
        steps = tuple(api(script, "change", how, "incremental_alter_configs", body) for _ in range(times))
        named = ", ".join(str(each["resource_name"] or "all brokers") for each in resources)
        return GeneratedOperation(f"settings of {named} changed" + (" twice" if times > 1 else ""), steps)


class ReplaceSettings(ChangedSettings):
    """All settings of a topic are replaced by AlterConfigs: those that it does not name are unset."""

    name = "replace-settings"
    weight = 2
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=0.11"}

    def changes(self, target: TargetFile) -> Collection[str]:
        return changed_settings(target)

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        """Keep those that the plan gave the topic, since it counts with them."""
        topic = rng.choice(script.cluster.topics)
        settings = changed_settings(script.cluster.target)
        keys = rng.sample(sorted(settings), rng.randint(0, min(2, len(settings))))
        values = {key: rng.choice(settings[key]) for key in keys} | dict(topic.config)
        configs = [{"name": key, "value": value} for key, value in values.items()]
        resource = {"resource_type": TOPIC, "resource_name": topic.name, "configs": configs}
        body = {"validate_only": rng.random() < VALIDATED, "resources": [resource]}
        step = api(script, "replace", asked(rng, script, certain=False), "alter_configs", body)
        return GeneratedOperation(f"settings of {topic.name} replaced", (step,))


class CreateSeveralTopics(Operation):
    """Topics with replicas and settings of their own are created by one request, some beside one that is there."""

    name = "create-several-topics"
    weight = 3
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=1.0"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        validates = rng.random() < VALIDATED
        made: list[ScriptTopic] = []
        for _ in range(rng.randint(1, 2)):
            taken = {*script.named_topics, *(topic.name for topic in made)}
            name = next(name for number in count(1) if (name := f"many-{number}") not in taken)
            partitions = rng.randint(1, MOST)
            made.append(
                ScriptTopic(name, partitions, script.cluster.fewest_replicas, Existence.DOUBTFUL, lasting=False)
            )
        topics = [_created(rng, script, topic) for topic in made]
        answer: dict[str, Any] = {f"topics[name={topic.name}].error_code": 0 for topic in made}
        if rng.random() < REFUSED:
            there = rng.choice(script.cluster.topics)
            topics.insert(0, _creation(there.name, num_partitions=1, replication_factor=1))
            answer[f"topics[name={there.name}].error_code"] = 36
        how = asked(rng, script, certain=all(topic.name not in script.topics for topic in made))
        body = {"topics": topics, "timeout": how.timeout_ms, "validate_only": validates}
        step = api(script, "create", how, "create_topics", body, answer=answer)
        existence = Existence.CERTAIN if how.expect is not None else Existence.DOUBTFUL
        left = () if validates else tuple(replace(topic, existence=existence) for topic in made)
        names = ", ".join(topic.name for topic in made)
        return GeneratedOperation(f"{names} {'validated' if validates else 'created by one request'}", (step,), left)


class AddAssignedPartitions(Operation):
    """A topic gets partitions on the brokers that the request names."""

    name = "add-assigned-partitions"
    weight = 2
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=1.0"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation | None:
        certain = [topic for topic in script.topics.values() if topic.existence is Existence.CERTAIN]
        if not certain:
            return None
        topic = rng.choice(certain)
        more = rng.randint(1, 2)
        assignments = [{"broker_ids": _replicas(rng, script, topic.replicas)} for _ in range(more)]
        after = replace(topic, partitions=topic.partitions + more)
        how = asked(rng, script, certain=False)
        asked_for = {"name": topic.name, "count": after.partitions, "assignments": assignments}
        body = {"topics": [asked_for], "timeout": how.timeout_ms, "validate_only": rng.random() < VALIDATED}
        step = api(script, "add", how, "create_partitions", body)
        return GeneratedOperation(f"{topic.name} gets {more} partitions on named brokers", (step,), (after,))


def _changes(
    rng: random.Random, type: int, name: str, settings: Mapping[str, tuple[str, ...]], unset: float
) -> dict[str, Any]:
    """Return one to three changes of the settings of a resource, of which the fraction `unset` unsets one."""
    keys = rng.sample(sorted(settings), rng.randint(1, min(MOST, len(settings))))
    configs = [
        {"name": key, "config_operation": DELETE, "value": None}
        if rng.random() < unset
        else {"name": key, "config_operation": SET, "value": rng.choice(settings[key])}
        for key in keys
    ]
    return {"resource_type": type, "resource_name": name, "configs": configs}


def _created(rng: random.Random, script: Script, topic: ScriptTopic) -> dict[str, Any]:
    settings = changed_settings(script.cluster.target)
    keys = rng.sample(sorted(settings), rng.randint(0, min(2, len(settings))))
    configs = [{"name": key, "value": rng.choice(settings[key])} for key in keys]
    if rng.random() < 0.5:
        return _creation(
            topic.name, num_partitions=topic.partitions, replication_factor=topic.replicas, configs=configs
        )
    assignments = [
        {"partition_index": number, "broker_ids": _replicas(rng, script, topic.replicas)}
        for number in range(topic.partitions)
    ]
    return _creation(topic.name, assignments=assignments, configs=configs)


def _creation(name: str, **given: Any) -> dict[str, Any]:
    unset: dict[str, Any] = {"num_partitions": -1, "replication_factor": -1, "assignments": [], "configs": []}
    return {"name": name, **unset, **given}


def _replicas(rng: random.Random, script: Script, count: int) -> list[int]:
    return [script.cluster.id_of(broker) for broker in rng.sample(list(script.cluster.brokers), count)]
