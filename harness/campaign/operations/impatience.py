"""Requests that give the cluster no time: it may do what they ask, now or later, or say that their time is over."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation, asked
from fencepost.harness.campaign.operations.requests import api, never
from fencepost.harness.campaign.topics import Existence, ScriptTopic
from fencepost.harness.plan.steps import Step
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

TIMEOUTS_MS = (0, 1)
MOST = 4
BY_NAME = {"delete_topics": 5}
"""The newest version that has names of topics alone."""
REQUESTS = ("create_topics", "create_topics", "create_partitions", "delete_topics")


class ImpatientRequests(Operation):
    """Topics are created, grown and deleted with a timeout of 0 or 1 ms. No other operation uses them."""

    name = "impatient-requests"
    weight = 2
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=1.0"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        name = next(name for number in count(1) if (name := f"hasty-{number}") not in script.named_topics)
        topic = ScriptTopic(name, 1, script.cluster.fewest_replicas, Existence.DELETED)
        requests = ["create_topics", *rng.choices(REQUESTS, k=rng.randint(1, MOST - 1))]
        steps: list[Step] = []
        for request in requests:
            how = replace(asked(rng, script, certain=False), expect=never("ADM-02", "error:-1"))
            body = {**_body(request, topic, rng.randint(2, 4)), "timeout": rng.choice(TIMEOUTS_MS)}
            steps.append(api(script, "hasty", how, request, body, version=BY_NAME.get(request)))
        return GeneratedOperation(f"{name}: {', '.join(requests)} at once", tuple(steps), (topic,))


def _body(request: str, topic: ScriptTopic, partitions: int) -> dict[str, Any]:
    match request:
        case "create_topics":
            new = {"num_partitions": 1, "replication_factor": topic.replicas, "assignments": [], "configs": []}
            return {"topics": [{"name": topic.name, **new}], "validate_only": False}
        case "create_partitions":
            grown = {"name": topic.name, "count": partitions, "assignments": None}
            return {"topics": [grown], "validate_only": False}
        case _:
            return {"topic_names": [topic.name]}
