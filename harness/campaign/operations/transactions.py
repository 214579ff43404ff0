"""A client of transactions that sends single requests."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.coordination import TRANSACTIONAL_ID
from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation
from fencepost.harness.campaign.operations.requests import ONLY_KAFKA, any_broker, api, excusing, never
from fencepost.harness.plan.base import ExpectOutcome
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

COORDINATOR = "leader:__transaction_state-0"
"""The state of transactions has one partition, so there is one coordinator."""
ADDING = 3
"""The last version by which a client adds partitions to one transaction."""
BUMPING = 5
"""The version of EndTxn since which each transaction has an epoch of its own (KIP-890)."""


class LateEnd(Operation):
    """The end of a transaction is sent again once the next one has begun: it must not end that (TXN-01)."""

    name = "late-end"
    weight = 1
    at_end = of_whole_clusters = True
    left_out: Mapping[str, str] = ONLY_KAFKA
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=3.0"}  # the first that describe transactions

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        name, topic = script.name("late"), rng.choice(script.cluster.topics)
        id, epoch, now = (f"{what}-of-{name}" for what in ("id", "epoch", "now"))
        found = any_broker(rng, script, "CRD-01")
        how = replace(found, node=COORDINATOR, expect=None)
        within: dict[str, Any] = {"within_ms": script.cluster.liveness_timeout_ms}
        partition = rng.randrange(len(topic.assignments))
        committed = rng.random() < 0.5

        def of(bound: str) -> dict[str, Any]:
            return {"transactional_id": name, "producer_id": f"${id}", "producer_epoch": f"${bound}"}

        def added(bound: str) -> ApiProbe:
            body = {**of(bound), "topics": [{"name": topic.name, "partitions": [partition]}]}
            old = {f"v3_and_below_{key}": value for key, value in body.items()}
            return api(script, "add", how, "add_partitions_to_txn", old, version=ADDING, **within)

        def ended(what: str, bound: str, expect: ExpectOutcome | None = None, **more: Any) -> ApiProbe:
            asked = how if expect is None else replace(how, expect=expect)
            return api(script, what, asked, "end_txn", {**of(bound), "committed": committed}, version=BUMPING, **more)

        state = "CompleteCommit" if committed else "CompleteAbort"
        begin = {"transactional_id": name, "transaction_timeout": 60_000, "producer_id": -1, "producer_epoch": -1}
        steps: list[Step] = [
            api(
                script,
                "find",
                found,
                "find_coordinator",
                {"key": name, "key_type": TRANSACTIONAL_ID},
                version=3,
                **within,
            ),
            api(
                script,
                "begin",
                how,
                "init_producer_id",
                begin,
                version=4,
                binds={id: "producer_id", epoch: "producer_epoch"},
                **within,
            ),
            added(epoch),
            ended("end", epoch, **within),
            api(
                script,
                "ended",
                how,
                "describe_transactions",
                {"transactional_ids": [name]},
                answer={"transaction_states[0].transaction_state": state},
                binds={now: "transaction_states[0].producer_epoch"},
                **within,
            ),
            added(now),
            ended("late", epoch, excusing(never("TXN-01", "served"), script, "KAFKA-17754")),
            ended("end", now),
        ]
        return GeneratedOperation("the end of a transaction comes again in the next one", tuple(steps))
