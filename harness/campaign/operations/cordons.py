"""Log directories that are to get no more replicas (KIP-1066)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation
from fencepost.harness.campaign.operations.requests import (
    BROKER,
    DELETE,
    ONLY_KAFKA,
    SET,
    altered,
    any_broker,
    api,
    excusing,
    must,
)
from fencepost.harness.campaign.topics import new_name
from fencepost.harness.plan.base import ExpectOutcome, release_range
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.targets.releases import Releases, within

if TYPE_CHECKING:
    from fencepost.faults.capabilities import Capability
    from fencepost.harness.campaign.script import Script
    from fencepost.harness.targets.file import TargetFile

CORDONED, EVERY = "cordoned.log.dirs", "*"
TOO_FEW, NOT_THERE = 38, 39
"""INVALID_REPLICATION_FACTOR and INVALID_REPLICA_ASSIGNMENT."""


class CordonedBroker(Operation):
    """All directories of a broker are cordoned: it gets no replica, whether the cluster or the client places it.

    Topics are only validated, so that none is left. The last request opens the directories again.
    """

    name = "cordoned-broker"
    weight = 1
    at_end = of_whole_clusters = True
    left_out: Mapping[str, str] = {**ONLY_KAFKA, "apache-kafka-zk": "no release with ZooKeeper has cordons"}
    releases: Mapping[str, Releases] = {"apache-kafka": ">=4.3"}

    def left_out_reason(self, target: TargetFile, version: str, possible: frozenset[Capability]) -> str | None:
        both = release_range(version)
        if both and not within(both[0], self.releases["apache-kafka"]):
            return "its older release has no cordons"
        return super().left_out_reason(target, version, possible)

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        broker = rng.choice(script.cluster.brokers)
        id, topic = script.cluster.id_of(broker), new_name(rng, script.named_topics)

        def alter(name: str, value: str | None, operation: int) -> ApiProbe:
            body = altered(BROKER, str(id), CORDONED, value, operation)
            # Each broker checks its own directories, and takes no such change for another one.
            how = replace(any_broker(rng, script, "ADM-04"), node=broker)
            return api(script, name, how, "incremental_alter_configs", body)

        def created(name: str, expect: ExpectOutcome, **more: Any) -> ApiProbe:
            body = {"topics": [{"name": topic, "configs": [], **more}], "timeout": 5000, "validate_only": True}
            how = replace(any_broker(rng, script, "ADM-04"), expect=expect)
            return api(script, name, how, "create_topics", body, within_ms=script.cluster.liveness_timeout_ms)

        by_count = {"num_partitions": 1, "replication_factor": len(script.cluster.brokers), "assignments": []}
        named = [{"partition_index": 0, "broker_ids": [id]}]
        by_name = {"num_partitions": -1, "replication_factor": -1, "assignments": named}
        refused = excusing(must("ADM-04", f"error:{NOT_THERE}"), script, "KAFKA-20832")
        steps: list[Step] = [
            alter("cordon", EVERY, SET),
            created("placed", must("ADM-04", f"error:{TOO_FEW}"), **by_count),
            created("named", refused, **by_name),
            alter("open", None, DELETE),
            created("placed", must("ADM-04"), **by_count),
        ]
        return GeneratedOperation(f"all directories of {broker} cordoned, and opened again", tuple(steps))
