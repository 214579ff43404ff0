"""A client asks what is there: settings, the contents of log directories, offsets by time."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.cluster_spec import MIN_ISR
from fencepost.harness.campaign.operations.mistakes import ABSENT
from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation, short
from fencepost.harness.campaign.operations.requests import TOPIC, any_broker, api, must
from fencepost.harness.campaign.operations.settings import changed_settings
from fencepost.harness.campaign.topics import Existence, ScriptTopic, new_name
from fencepost.harness.plan.conditions.leader_is import LeaderIs
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

EARLIEST, LATEST, NEWEST = -2, -1, -3
"""The timestamps in ListOffsets that stand for the begin of a log, its end, and the highest timestamp in it."""
TIMESTAMPS = "log.message.timestamp.type"
"""The setting by which brokers replace the timestamps of records."""
BEGIN_MS = 1_700_000_000_000


class DescribeConfigs(Operation):
    """Some settings of a topic are described: those that were asked for, and no others (ADM-03)."""

    name = "describe-configs"
    weight = 1
    at_end = True
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=0.11"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        topic, known = rng.choice(script.cluster.topics).name, [*changed_settings(script.cluster.target), MIN_ISR]
        keys = sorted(rng.sample(known, rng.choice((1, 2, 3))))
        resource = {"resource_type": TOPIC, "resource_name": topic, "configuration_keys": keys}
        how = any_broker(rng, script, "ADM-03")
        answer = {"results[0].configs[].name": keys}
        step = api(script, "describe", how, "describe_configs", {"resources": [resource]}, answer=answer)
        return GeneratedOperation(f"{', '.join(keys)} of {topic} described", (step,))


class DescribeLogDirs(Operation):
    """The replicas of one topic on a broker are described: a topic that was not asked for is not there (ADM-03)."""

    name = "describe-log-dirs"
    weight = 1
    at_end = True
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=1.0"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        asked_for = rng.choice([ABSENT, *(each.name for each in script.cluster.topics)])
        others = [topic.name for topic in script.topics.values() if topic.name != asked_for]
        how = any_broker(rng, script, "ADM-03")
        answer: dict[str, Any] = {f"results[].topics[name={each}].name": [] for each in others}
        body = {"topics": [{"topic": asked_for, "partitions": [0]}]}
        step = api(script, "describe", how, "describe_log_dirs", body, answer=answer)
        return GeneratedOperation(f"replicas of {asked_for} described", (step,))


class OffsetsByTime(Operation):
    """A batch with timestamps in any order is written to a new topic, and offsets are looked up by time (ADM-03)."""

    name = "offsets-by-time"
    weight = 2
    at_end = of_whole_clusters = True
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=3.0"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation | None:
        if TIMESTAMPS in script.cluster.settings:
            return None
        topic = ScriptTopic(new_name(rng, script.named_topics), 1, script.cluster.fewest_replicas, Existence.CERTAIN)
        times = [BEGIN_MS + 1000 * each for each in rng.sample(range(10), rng.randint(2, 5))]
        created, on_leader = any_broker(rng, script, "LIVE-04"), f"leader:{topic.name}-0"
        if script.cluster.only_controller_administers:
            created = replace(created, node="active-controller")
        create = CreateTopicProbe(
            as_=script.name("create"), node=created.node, topic=topic.name, replicas=topic.replicas
        )
        within_ms = script.cluster.liveness_timeout_ms
        led = LeaderIs(as_=script.name("led"), partition=f"{topic.name}-0", within_ms=within_ms)
        how = replace(any_broker(rng, script, "ADM-03"), node=on_leader)
        records = {"records": [{"value": f"r-{place}", "timestamp": each} for place, each in enumerate(times)]}
        data = {"name": topic.name, "partition_data": [{"index": 0, "records": records}]}
        body = {"transactional_id": None, "acks": -1, "timeout": 5000, "topic_data": [data]}
        # The controller's decision that a broker leads reaches the broker a moment later.
        writing = how if how.expect is None else replace(how, expect=must("LIVE-03"))
        write = api(script, "write", writing, "produce", body, version=9, within_ms=within_ms)
        steps: list[Step] = [created.send(create), led, write]
        for what, offset in ((EARLIEST, 0), (LATEST, len(times)), (NEWEST, times.index(max(times)))):
            partition = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": what}
            question = {
                "replica_id": -1,
                "isolation_level": 0,
                "topics": [{"name": topic.name, "partitions": [partition]}],
            }
            answer = {"topics[0].partitions[0].offset": offset}
            steps.append(api(script, "offset", how, "list_offsets", question, version=7, answer=answer))
        return GeneratedOperation(f"offsets of {short(topic.name)} looked up by time", tuple(steps), (topic,))
