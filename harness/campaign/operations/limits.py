"""Settings at the limits that the target documents for them: lowest, just above, highest, and just beyond.

A value that is refused changes nothing, one that is accepted is described with its source by every node: the model
judges both (MDL-03, MDL-04). Topics of this module are used by no other operation, since some of these values make a
topic lose its records, or take none.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from fencepost.faults.capabilities import Capability
from fencepost.harness.campaign.operations.operation import Asked, GeneratedOperation, Operation, asked, written
from fencepost.harness.campaign.operations.requests import BROKER, DELETE, SET, TOPIC, altered, api, must, never
from fencepost.harness.campaign.topics import Existence, ScriptTopic
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.describe import Describe
from fencepost.harness.targets.definitions import Definition, definitions
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

KEPT_OUT: Mapping[str, str] = {
    "unclean.leader.election.enable": "a leader without acknowledged records breaks ACK-01 by request",
    "compression.type": "the reader of segment files knows gzip alone, which `alter-setting` changes to",
    "preallocate": "segments end with zeros, which are no records to a reader of the files",
    "local.": "no target has tiered storage",
    "remote.": "no target has tiered storage",
    "advertised.": "nodes and harness reach each other by it",
    "listener": "nodes and harness reach each other by it",
    "sasl.": "nodes and harness reach each other by it",
    "ssl.": "nodes and harness reach each other by it",
}
"""Settings that no plan changes, by the begin of their names, with the reasons."""
KEPT_OUT_OF_BROKERS: Mapping[str, str] = {
    **KEPT_OUT,
    "min.insync.replicas": "topics of coordinators have none of their own, and groups are claimed to get on",
}
TOO_HIGH: Mapping[str, str] = {
    "segment.index.bytes": "each index file takes so much of the address space, and of copies of a directory",
}
"""Settings of topics that get no highest value, with the reasons."""
DELETING = frozenset({"cleanup.policy", "retention.bytes", "retention.ms"})
"""Settings of topics by which records may go: no record is promised to a topic that had one of them."""
RELATED = frozenset({"max.compaction.lag.ms", "min.compaction.lag.ms"})
"""Settings of topics whose legal values depend on others: they are not claimed to be accepted."""
HARMLESS = frozenset(
    {
        "log.cleaner.backoff.ms",
        "log.cleaner.delete.retention.ms",
        "log.cleaner.min.cleanable.ratio",
        "log.flush.interval.messages",
        "log.segment.delete.delay.ms",
    }
)
"""Settings of brokers that get their limits. Others hold for the topics, threads and connections of the workload: they
are raised by one and by two, and their limits are only validated."""
LIMITS = {"limit": 6, "again": 2, "refused": 4, "unset": 2, "default": 1, "validated": 2}
"""Changes of a setting, with their frequencies."""
MOST = 5
INVALID = (40, 42)
"""INVALID_CONFIG and INVALID_REQUEST."""
LOOKS = 0.3
"""The fraction of operations on a whole cluster after which all nodes are compared at once."""
INCREMENTAL: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.3"}
"""The releases that have IncrementalAlterConfigs."""


def alterable(settings: Mapping[str, Definition], without: Mapping[str, str] = KEPT_OUT) -> list[Definition]:
    """Return the definitions of the settings that plans change."""
    return [
        each
        for name, each in sorted(settings.items())
        if each.refused and not any(name.startswith(begin) for begin in without)
    ]


class _AtLimits(Operation):
    """Values of one setting, of those that the definitions of the release have."""

    weight = 3
    releases = INCREMENTAL

    def left_out_reason(self, target: TargetFile, version: str, possible: frozenset[Capability]) -> str | None:
        reason = super().left_out_reason(target, version, possible)
        known = definitions(target) is not None
        return reason or (None if known else f"no file has the settings that {target.name} {version} documents")


class TopicSettingAtLimits(_AtLimits):
    """A setting of a topic of its own is set to its limits, beyond them, twice, and unset; records are written."""

    name = "topic-setting-at-limits"

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        known = definitions(script.cluster.target)
        assert known is not None
        setting = rng.choice(alterable(known.topic))
        topic = _own(rng, script, "emptied" if setting.name in DELETING else "limited")
        values = setting.accepted[:-1] if setting.name in TOO_HIGH else setting.accepted
        certain = setting.name not in RELATED
        steps: list[Step] = [_there(rng, script, topic)]
        changes = _changes(rng, setting, values, setting.default)
        steps += (
            _asking(rng, script, altered(TOPIC, topic.name, setting.name, value, operation), how, certain=certain)
            for how, operation, value in changes
        )
        if setting.name not in DELETING and rng.random() < 0.8:
            steps.append(written(script, topic, 0))
        steps += _look(rng, script)
        return GeneratedOperation(f"{setting.name} of {topic.name} {_said(changes)}", tuple(steps), (topic,))


class BrokerSettingAtLimits(_AtLimits):
    """A setting of one broker or of all is raised once and again, set to a limit or beyond, unset; some only validated.

    KIP-226: one broker's settings are changed by a request to that broker.
    """

    name = "broker-setting-at-limits"

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        known, cluster = definitions(script.cluster.target), script.cluster
        assert known is not None
        setting, broker = rng.choice(alterable(known.broker, KEPT_OUT_OF_BROKERS)), rng.choice(("", *cluster.brokers))
        present = {**cluster.target.settings.of_brokers, **cluster.settings}
        default = present.get(setting.name, setting.default)
        values = setting.accepted if setting.name in HARMLESS else setting.raised(default)
        changes = _changes(rng, setting, values, default)
        id = str(cluster.id_of(broker)) if broker else ""
        steps: list[Step] = []
        for how, operation, value in changes:
            body = altered(BROKER, id, setting.name, value, operation)
            step = _asking(rng, script, body, how, certain=False)
            steps.append(step.model_copy(update={"node": broker} if broker else {}))
        steps += _look(rng, script)
        return GeneratedOperation(f"{setting.name} of {broker or 'all brokers'} {_said(changes)}", tuple(steps))


Change = tuple[str, int, str | None]
"""A key of `LIMITS`, the operation of the request, and the value."""


def _changes(rng: random.Random, setting: Definition, values: Sequence[str], default: str | None) -> list[Change]:
    """Return one to five changes in a row. Without values that may hold there are only refusals and validations."""
    needs = {"limit": values, "default": default, "validated": setting.accepted}
    weights = {how: weight for how, weight in LIMITS.items() if needs.get(how, True)}
    last: Change = ("refused", SET, rng.choice(setting.refused))
    changes: list[Change] = []
    for how in rng.choices(list(weights), weights=list(weights.values()), k=rng.randint(2, MOST)):
        match how:
            case "limit":
                last = (how, SET, rng.choice(values))
            case "refused":
                last = (how, SET, rng.choice(setting.refused))
            case "default":
                last = (how, SET, default)
            case "unset":
                last = (how, DELETE, None)
            case "validated":
                last = (how, SET, rng.choice(setting.accepted))
        changes.append(last)
    return changes


def _asking(rng: random.Random, script: Script, body: dict[str, Any], how: str, *, certain: bool) -> ApiProbe:
    """Return the request. A refusal is claimed to name the mistake where nothing is broken (ADM-02)."""
    if how == "refused":
        asks = asked(rng, script, of_any=True)
        errors = ",".join(map(str, INVALID))
        asks = replace(asks, expect=must("ADM-02", f"error:[{errors}]") if asks.expect else never("ADM-02", "error:-1"))
    else:
        asks = asked(rng, script, certain=certain, of_any=True)
    return api(script, how, asks, "incremental_alter_configs", {**body, "validate_only": how == "validated"})


def _own(rng: random.Random, script: Script, kind: str) -> ScriptTopic:
    """Return a topic for settings of a kind, one that is there or a new one. It counts as deleted for all others."""
    known = [name for name in script.topics if name.startswith(f"{kind}-")]
    new = next(name for number in count(1) if (name := f"{kind}-{number}") not in script.named_topics)
    name = rng.choice([*known, new]) if known else new
    return ScriptTopic(name, 1, script.cluster.fewest_replicas, Existence.DELETED)


def _there(rng: random.Random, script: Script, topic: ScriptTopic) -> Step:
    """Return the creation of the topic; of one that may be there it claims nothing."""
    how: Asked = asked(rng, script, certain=topic.name not in script.topics)
    how = replace(how, background=how.background and not script.undisturbed)  # the changes that follow need it
    request = CreateTopicProbe(as_=script.name("create"), node=how.node, topic=topic.name, replicas=topic.replicas)
    return how.send(request)


def _look(rng: random.Random, script: Script) -> Iterator[Step]:
    if script.undisturbed and rng.random() < LOOKS:
        yield Describe(as_=script.name("changed"))


def _said(changes: Sequence[Change]) -> str:
    verbs = {"refused": "refused as", "validated": "validated as"}
    return ", ".join("unset" if value is None else f"{verbs.get(how, 'set to')} {value}" for how, _, value in changes)
