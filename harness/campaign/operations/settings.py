"""Settings of topics, and the defaults of all brokers, are changed while they are in use."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from fencepost.faults.capabilities import Capability
from fencepost.harness.campaign.cluster_spec import MIN_ISR
from fencepost.harness.campaign.operations.operation import ANSWERED_WITHIN_MS, GeneratedOperation, Operation, asked
from fencepost.harness.campaign.operations.requests import BROKER, TOPIC, altered, any_broker, api, never
from fencepost.harness.campaign.topics import Existence, ScriptTopic, new_name
from fencepost.harness.plan.conditions.leader_is import LeaderIs
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.produce import ProduceProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

SETTINGS: Mapping[str, tuple[str, ...]] = {
    "retention.ms": ("3600000", "86400000", "-1"),
    "segment.bytes": ("1048576", "10485760"),
    "segment.ms": ("2000", "3600000"),
    "max.message.bytes": ("100000", "2000000"),
    "flush.messages": ("1", "1000"),
    "file.delete.delay.ms": ("1000", "60000"),
    "compression.type": ("producer", "gzip", "uncompressed"),
}
"""Settings that cost no record, with values that they change between."""
OF_TOPICS: Mapping[str, str] = {
    "log.retention.ms": "retention.ms",
    "log.flush.interval.messages": "flush.messages",
    "log.segment.delete.delay.ms": "file.delete.delay.ms",
}
"""Defaults of all brokers that can be changed while they run, and the settings of topics that they are defaults of."""
GUARD = "max.message.bytes"
"""The setting by which a topic takes no record."""


FIXED_SETTINGS = "its topics have none of the settings that this operation changes"


def changed_settings(target: TargetFile) -> Mapping[str, tuple[str, ...]]:
    """Return those of `SETTINGS` that a topic of this target can have."""
    return {name: values for name, values in SETTINGS.items() if name in (target.topic_settings or SETTINGS)}


def changed_defaults(target: TargetFile) -> Mapping[str, tuple[str, ...]]:
    """Return the defaults of brokers that can be changed on this target, each with its values."""
    settings = changed_settings(target)
    return {default: settings[setting] for default, setting in OF_TOPICS.items() if setting in settings}


class ChangedSettings(Operation):
    """An operation that changes settings of topics. It is left out where topics have none of those that it changes."""

    @abstractmethod
    def changes(self, target: TargetFile) -> Collection[str]:
        """Return the settings that it can change on this target."""

    def left_out_reason(self, target: TargetFile, version: str, possible: frozenset[Capability]) -> str | None:
        reason = super().left_out_reason(target, version, possible)
        return reason or (None if self.changes(target) else FIXED_SETTINGS)


class AlterMinIsr(ChangedSettings):
    """`min.insync.replicas` of a topic changes while clients produce to it."""

    name = "alter-min-isr"
    weight = 3
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.3"}

    def changes(self, target: TargetFile) -> Collection[str]:
        return {MIN_ISR} & set(target.topic_settings or {MIN_ISR})

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation | None:
        """The plan goes on to count with the greatest value that the topic had: a change may not have been served."""
        topic = rng.choice(script.cluster.topics)
        value = rng.randint(1, min(map(len, topic.assignments)))
        greatest = max(value, int(topic.config[MIN_ISR]))
        changed = topic.model_copy(update={"config": topic.config | {MIN_ISR: str(greatest)}})
        cluster = script.cluster.with_topic(changed)
        if script.tolerated_only and cluster.spare_brokers < script.cluster.spare_brokers:
            return None
        step = _alter(rng, script, topic.name, MIN_ISR, str(value))
        return GeneratedOperation(f"{MIN_ISR} of {topic.name} set to {value}", (step,), cluster=cluster)


class AlterSetting(ChangedSettings):
    """Another setting of a topic changes while clients use it: retention, segments, sizes, compression."""

    name = "alter-setting"
    of_any_broker = True
    requests = frozenset({"incremental_alter_configs"})
    weight = 2
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.3"}

    def changes(self, target: TargetFile) -> Collection[str]:
        return changed_settings(target)

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        settings = changed_settings(script.cluster.target)
        topic, setting = rng.choice(script.cluster.topics).name, rng.choice(sorted(settings))
        value = rng.choice(settings[setting])
        step = _alter(rng, script, topic, setting, value)
        return GeneratedOperation(f"{setting} of {topic} set to {value}", (step,))


class AlterBrokerDefault(ChangedSettings):
    """A default of all brokers changes, twice, beside a topic with a setting of its own, which has to hold (ADM-04).

    The topic takes no record of any use, by its own `max.message.bytes`: whatever happens, it acknowledges nothing.
    """

    name = "alter-broker-default"
    weight = 2
    at_end = of_whole_clusters = True
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.3"}

    def changes(self, target: TargetFile) -> Collection[str]:
        return changed_defaults(target) if GUARD in changed_settings(target) else ()

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation | None:
        """A setting that one of the brokers may have a value of its own for is not claimed to be that of all."""
        guarded = ScriptTopic(new_name(rng, script.named_topics), 1, script.cluster.fewest_replicas, Existence.CERTAIN)
        defaults = changed_defaults(script.cluster.target)
        own = _of_one_broker((*script.earlier_steps, *script.steps))
        if not (shared := sorted(defaults.keys() - own)):
            return None
        setting = rng.choice(shared)
        first, second = rng.sample(defaults[setting], 2)
        steps = [*_guarded(rng, script, guarded), _refuses(script, guarded)]
        for value in (first, second):
            how = any_broker(rng, script, "ADM-04")
            # As clients do, ask again while there is no controller: what comes then counts on the change.
            body = altered(BROKER, "", setting, value)
            within_ms = script.cluster.liveness_timeout_ms
            steps.append(api(script, "alter", how, "incremental_alter_configs", body, within_ms=within_ms))
        resource = {"resource_type": TOPIC, "resource_name": guarded.name, "configuration_keys": [OF_TOPICS[setting]]}
        answer = {"results[0].configs[0].value": second}
        question = {"resources": [resource]}
        how = any_broker(rng, script, "ADM-04")
        steps.append(
            api(
                script,
                "changed",
                how,
                "describe_configs",
                question,
                answer=answer,
                within_ms=script.cluster.liveness_timeout_ms,
            )
        )
        steps.append(_refuses(script, guarded))
        return GeneratedOperation(f"{setting} of all brokers set to {first}, then {second}", tuple(steps), (guarded,))


def _of_one_broker(steps: Iterable[Step]) -> set[str]:
    """Return the settings that were asked for on one broker."""
    asked_for = (step.body for step in steps if isinstance(step, ApiProbe) and step.api == "incremental_alter_configs")
    return {
        config["name"]
        for body in asked_for
        for resource in body["resources"]
        if resource["resource_type"] == BROKER and resource["resource_name"]
        for config in resource["configs"]
    }


def _guarded(rng: random.Random, script: Script, topic: ScriptTopic) -> list[Step]:
    """Return the creation of a topic that takes no record."""
    how = asked(rng, script)
    config = {"name": GUARD, "value": "10"}
    created = {"name": topic.name, "num_partitions": 1, "replication_factor": topic.replicas, "assignments": []}
    body = {"topics": [{**created, "configs": [config]}], "timeout": how.timeout_ms, "validate_only": False}
    within_ms = script.cluster.liveness_timeout_ms
    return [
        api(script, "create", how, "create_topics", body),
        LeaderIs(as_=script.name("led"), partition=f"{topic.name}-0", within_ms=within_ms),
    ]


def _refuses(script: Script, topic: ScriptTopic) -> ProduceProbe:
    return ProduceProbe(
        as_=script.name("refused"),
        node=f"leader:{topic.name}-0",
        topic=topic.name,
        timeout_ms=ANSWERED_WITHIN_MS * script.cluster.target.timeout_factor,
        expect=never("ADM-04", "served"),
    )


def _alter(rng: random.Random, script: Script, topic: str, setting: str, value: str) -> ApiProbe:
    how = asked(rng, script, of_any=True)
    return api(script, "alter", how, "incremental_alter_configs", altered(TOPIC, topic, setting, value))
