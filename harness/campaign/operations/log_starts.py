"""Records of a topic are deleted twice, the second time up to a lower offset, and its only replica is restarted."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.cluster_spec import MIN_ISR
from fencepost.harness.campaign.operations.descriptions import EARLIEST
from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation, asked
from fencepost.harness.campaign.operations.requests import any_broker, api, must
from fencepost.harness.campaign.settling import restarted
from fencepost.harness.campaign.topics import Existence, ScriptTopic, new_name
from fencepost.harness.plan.conditions.leader_is import LeaderIs
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.delete_topic import DeleteTopicProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

RECORDS = 10
KEPT: Mapping[str, str] = {MIN_ISR: "1", "retention.ms": "-1"}
"""Settings by which nothing but the requests deletes records."""


class RecordsDeletedTwice(Operation):
    """The start of a log moves up by a deletion of records, and by no lower one: not by a restart either (DSTO-07).

    The topic has one replica, so that no other one says where its log begins; it is deleted in the end.
    """

    name = "records-deleted-twice"
    weight = 2
    of_whole_clusters = True
    left_out: Mapping[str, str] = {Dialect.CLIENTS: "a broker may keep its log in any way"}
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.0"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        topic = ScriptTopic(new_name(rng, script.named_topics), 1, 1, Existence.DELETED)
        within: dict[str, Any] = {"within_ms": script.cluster.liveness_timeout_ms}
        low, high = sorted(rng.sample(range(1, RECORDS), 2))  # within a segment, where a restart needs it noted
        leader, administered = f"leader:{topic.name}-0", asked(rng, script)
        on_leader = replace(any_broker(rng, script, "DSTO-07"), node=leader)
        configs = [{"name": key, "value": value} for key, value in KEPT.items()]
        created = {"name": topic.name, "num_partitions": 1, "replication_factor": 1, "assignments": []}
        body = {"topics": [{**created, "configs": configs}], "timeout": 5000, "validate_only": False}
        records = {"records": [{"value": f"r-{number}"} for number in range(RECORDS)]}
        data = {"name": topic.name, "partition_data": [{"index": 0, "records": records}]}
        written = {"transactional_id": None, "acks": -1, "timeout": 5000, "topic_data": [data]}
        partition = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": EARLIEST}
        asked_for = {"name": topic.name, "partitions": [partition]}
        question = {"replica_id": -1, "isolation_level": 0, "topics": [asked_for]}
        answer = {"topics[0].partitions[0].offset": high}
        led = LeaderIs(as_=script.name("led"), partition=f"{topic.name}-0", **within)
        writing = replace(on_leader, expect=must("LIVE-03"))
        steps: list[Step] = [
            api(script, "create", administered, "create_topics", body),
            led,
            api(script, "write", writing, "produce", written, version=9, **within),
        ]
        for offset in (high, low):
            deleted = {"name": topic.name, "partitions": [{"partition_index": 0, "offset": offset}]}
            shown = {"topics[0].partitions[0].low_watermark": high}
            deletion = {"topics": [deleted], "timeout": 5000}
            steps.append(api(script, "delete", on_leader, "delete_records", deletion, answer=shown, **within))
        steps += [
            *restarted(script, leader),
            led.model_copy(update={"as_": script.name("led")}),
            api(script, "start", on_leader, "list_offsets", question, version=7, answer=answer, **within),
            administered.send(DeleteTopicProbe(as_=script.name("delete"), node=administered.node, topic=topic.name)),
        ]
        title = f"records deleted up to {high}, then up to {low}, and a restart"
        return GeneratedOperation(title, tuple(steps), (topic,), unsettles=True)
