"""A broker is away while a topic on it changes; clients begin while no controller answers."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from fencepost.faults.capabilities import Capability
from fencepost.harness.campaign.operations.limits import DELETING, INCREMENTAL, TOO_HIGH, alterable
from fencepost.harness.campaign.operations.operation import RECORDS, Asked, written
from fencepost.harness.campaign.operations.requests import ONLY_KAFKA, TOPIC, altered, api, never
from fencepost.harness.campaign.operations.settings import GUARD
from fencepost.harness.campaign.situations.nested import stop
from fencepost.harness.campaign.situations.situation import Situation, Staged
from fencepost.harness.campaign.topics import Existence, ScriptTopic, new_name
from fencepost.harness.plan.conditions.active_controller import ActiveController
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.requests.delete_topic import DeleteTopicProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.produce import Produce
from fencepost.harness.targets.definitions import Definition, definitions

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

ANSWERED_WITHIN_MS = 5000
SIZES = (1, 100_000, 1_000_000, 1_100_000, 2_000_000)
"""The bytes of a record: also those of more than the lowest `segment.bytes` of newer releases, which is 1 MiB."""
OF_BATCHES = 0.6
"""The fraction of changes of a setting that bounds batches, segments or their indexes."""
REQUEST_TIMEOUT = "request.timeout.ms"
TIMED_OUT = 7
"""The error of a request that waited for another node in vain; clients end over it when they ask for an id."""


class RecreatedWhileAway(Situation):
    """A topic is deleted and created again while one of its replicas is away, which finds the new one at its return.

    With ZooKeeper a deletion goes on after its answer, and the creation may be refused over it. The topic is created
    once more at the return: a broker of Apache Kafka that missed a deletion alone describes the topic until then
    (AZ-07).
    """

    name = "recreated-while-away"
    weight = 4
    needs = frozenset({Capability.KILL, Capability.PAUSE})

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        cluster, away = script.cluster, rng.choice(script.cluster.brokers)
        if not script.allows_away(1, 0):
            return False
        how = rng.choice(("kill", "kill", "pause"))
        topic = ScriptTopic(new_name(rng, script.named_topics), 1, cluster.fewest_replicas, Existence.DOUBTFUL)
        script.topics[topic.name] = topic
        staged.title, staged.brokers = f"a topic created again during a {how} of {away}", 1
        through = rng.choice([each for each in cluster.brokers if each != away])
        node = "active-controller" if cluster.only_controller_administers else through
        asked = Asked(node, ANSWERED_WITHIN_MS * cluster.target.timeout_factor)
        create = CreateTopicProbe(node=node, topic=topic.name, replicas=topic.replicas)
        write = Produce(topic=topic.name, records=RECORDS, acks="all", timeout_ms=asked.timeout_ms)
        first = asked.send(create.model_copy(update={"as_": script.name("create")}))
        staged.steps += [first, write.model_copy(update={"as_": script.name("write")})]
        fault = staged.inject(stop(how, away))
        staged.hold(f"{fault}.proven", rng.choice((0.2, 1.3, 2.0)))
        if cluster.broker_is_controller:
            staged.steps.append(ActiveController(is_not=away, within_ms=staged.within_ms))
        delete = DeleteTopicProbe(as_=script.name("delete"), node=node, topic=topic.name)
        staged.steps += [asked.send(delete), asked.send(create.model_copy(update={"as_": script.name("recreate")}))]
        if rng.random() < 0.5:
            staged.steps.append(write.model_copy(update={"as_": script.name("write")}))
        staged.heal(fault)
        if cluster.uses_zookeeper:
            staged.steps.append(asked.send(create.model_copy(update={"as_": script.name("create-at-return")})))
        return True


class SettingChangedWhileAway(Situation):
    """A replica is away while a record is written, and a setting of the topic goes to its limit after that.

    What the leader took by the earlier value has to reach the replica under the new one, as a batch that is larger than
    all segments of a lower `segment.bytes`. The largest records need a higher `max.message.bytes` first.
    """

    name = "setting-changed-while-away"
    weight = 4
    needs = frozenset({Capability.KILL, Capability.PAUSE})
    releases = INCREMENTAL

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        cluster, known = script.cluster, definitions(script.cluster.target)
        if known is None or not script.allows_away(1, 0):
            return False
        away, how = rng.choice(cluster.brokers), rng.choice(("kill", "kill", "pause"))
        topic = ScriptTopic(new_name(rng, script.named_topics), 1, len(cluster.brokers), Existence.DELETED)
        script.topics[topic.name] = topic
        setting = rng.choice(_of_batches(known.topic) if rng.random() < OF_BATCHES else _kept(known.topic))
        value = rng.choice((setting.accepted[0], *setting.accepted[: -1 if setting.name in TOO_HIGH else None]))
        size = rng.choice(SIZES) if GUARD in known.topic else 1
        staged.title, staged.brokers = f"{setting.name} of {topic.name} set to {value} during a {how} of {away}", 1
        node = rng.choice([each for each in cluster.brokers if each != away])
        asks = Asked(node, ANSWERED_WITHIN_MS * cluster.target.timeout_factor)
        administers = replace(asks, node="active-controller") if cluster.only_controller_administers else asks

        def altered_to(name: str, value: str) -> Step:
            return api(script, "alter", asks, "incremental_alter_configs", altered(TOPIC, topic.name, name, value))

        create = CreateTopicProbe(as_=script.name("create"), node=node, topic=topic.name, replicas=topic.replicas)
        staged.steps += [administers.send(create), staged.whole()]
        staged.steps += [altered_to(GUARD, str(2 * size))] if size > 1 else []
        fault = staged.inject(stop(how, away))
        staged.hold(f"{fault}.proven", rng.choice((1.3, 2.0)))
        if cluster.broker_is_controller:
            staged.steps.append(ActiveController(is_not=away, within_ms=staged.within_ms))
        staged.steps += [written(script, topic, 0, size), altered_to(setting.name, value)]
        staged.heal(fault)
        return True


def _kept(settings: Mapping[str, Definition]) -> list[Definition]:
    """Return the settings by which no record goes."""
    return [each for each in alterable(settings) if each.name not in DELETING and each.accepted]


def _of_batches(settings: Mapping[str, Definition]) -> list[Definition]:
    return [each for each in _kept(settings) if each.name.endswith(".bytes")]


class NewProducersWithoutControllers(Situation):
    """New idempotent producers ask for their ids while no controller answers, for longer than brokers wait for them.

    A timeout is never the answer: clients end over it, while they wait and ask again after other errors (CRD-05).
    """

    name = "new-producers-without-controllers"
    weight = 4
    needs = frozenset({Capability.KILL, Capability.PAUSE})
    left_out: Mapping[str, str] = {**ONLY_KAFKA, Dialect.ZOOKEEPER.value: "its brokers take ids from ZooKeeper"}

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        cluster = script.cluster
        if REQUEST_TIMEOUT not in cluster.settings:  # by default it is longer than a plan should wait
            return False
        how = rng.choice(("pause", "pause", "kill"))
        nodes, staged.quorum = rng.choice((("controllers", len(cluster.quorum)), ("active-controller", 1)))
        staged.title = f"new producers during a {how} of {nodes}"
        fault = staged.inject(stop(how, nodes))
        asked = Asked(rng.choice(cluster.brokers), 2 * int(cluster.settings[REQUEST_TIMEOUT]))
        asked = replace(asked, expect=never("CRD-05", f"error:{TIMED_OUT}"))
        body = {"transactional_id": None, "transaction_timeout": 60_000, "producer_id": -1, "producer_epoch": -1}
        staged.steps.append(api(script, "new-id", asked, "init_producer_id", body, version=4))
        staged.heal(fault)
        return True
