"""Transactions of one producer, with records and offsets, looked at while they are open and once they have ended.

The model of the cluster's state judges what coordinators and leaders describe of them (MDL-10, MDL-12, MDL-19, MDL-20).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.coordination import COORDINATOR as OF_GROUPS
from fencepost.harness.campaign.operations.coordination import GROUP, TRANSACTIONAL_ID
from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation, asked
from fencepost.harness.campaign.operations.requests import ONLY_KAFKA, any_broker, api
from fencepost.harness.campaign.operations.transactions import ADDING, BUMPING, COORDINATOR, LASTING, RESTARTED
from fencepost.harness.campaign.settling import restarted
from fencepost.harness.campaign.topics import Existence, ScriptTopic
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.describe import Describe
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

PARTITIONS = 2
LOOKED_AT = 0.4
"""The fraction of moments at which everything is described."""
OF_OFFSETS = 3
"""A version of AddOffsetsToTxn and TxnOffsetCommit by which the first one comes before the second."""
PRODUCE = 9
"""A version of Produce that leaves it to AddPartitionsToTxn to add partitions."""
TIMEOUT_MS = 120_000


class FollowedTransactions(Operation):
    """One to three transactions write records and commit offsets of a group; all is described in between.

    The coordinator may restart while one is open. The next producer begins after the last one, or aborts it.
    """

    name = "followed-transactions"
    weight = 2
    of_whole_clusters = True
    left_out: Mapping[str, str] = ONLY_KAFKA
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=3.0"}  # the first that describe transactions

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        producer = _Producer(rng, script)
        topic = ScriptTopic(producer.topic, PARTITIONS, script.cluster.fewest_replicas, Existence.CERTAIN)
        how = asked(rng, script)
        create = CreateTopicProbe(
            as_=script.name("create"), node=how.node, topic=topic.name, partitions=PARTITIONS, replicas=topic.replicas
        )
        steps: list[Step] = [how.send(create), *producer.found(), producer.begun()]
        count, restarts = rng.randint(1, 3), rng.random() < RESTARTED
        for number in range(count):
            is_last = number == count - 1
            steps += producer.opened()
            if is_last and restarts:
                steps += restarted(script, COORDINATOR)
            steps += producer.looked_at()
            if is_last and rng.random() < 0.3:  # the next producer aborts what this one leaves
                break
            steps += producer.ended(BUMPING if is_last and rng.random() < 0.5 else LASTING)
        steps.append(producer.begun())
        steps += producer.looked_at()
        title = f"{count} transaction{'s'[: count != 1]} followed" + (
            ", beyond a restart of the coordinator" * restarts
        )
        return GeneratedOperation(title, tuple(steps), (topic,), unsettles=restarts)


class _Producer:
    """Sends the requests of one transactional id, each again until it is served."""

    def __init__(self, rng: random.Random, script: Script) -> None:
        self._rng = rng
        self._script = script
        self._id = script.name("followed")
        self._group = f"group-of-{self._id}"
        self.topic = f"topic-of-{self._id}"
        self._found = any_broker(rng, script, "CRD-01")
        self._how = replace(self._found, node=COORDINATOR, expect=None)
        self._sequences = [0] * PARTITIONS
        self._session = 0

    def found(self) -> Iterator[Step]:
        for key, type in ((self._id, TRANSACTIONAL_ID), (self._group, GROUP)):
            body = {"key": key, "key_type": type}
            how = self._found
            yield api(self._script, "find", how, "find_coordinator", body, version=3, within_ms=self._within_ms)

    def begun(self) -> ApiProbe:
        self._session += 1
        self._sequences = [0] * PARTITIONS
        body = {"transaction_timeout": TIMEOUT_MS, "producer_id": -1, "producer_epoch": -1}
        binds = {self._bound(what): f"producer_{what}" for what in ("id", "epoch")}
        return self._send("begin", "init_producer_id", {"transactional_id": self._id, **body}, 4, binds=binds)

    def opened(self) -> Iterator[Step]:
        """Yield the requests of one transaction but its end."""
        partitions = self._rng.sample(range(PARTITIONS), self._rng.randint(1, PARTITIONS))
        body = self._of({"topics": [{"name": self.topic, "partitions": partitions}]})
        old = {f"v3_and_below_{key}": value for key, value in body.items()}
        yield self._send("add", "add_partitions_to_txn", old, ADDING)
        for partition in partitions:
            yield from (self._written(partition) for _ in range(self._rng.randint(0, 2)))
        if self._rng.random() < 0.6:
            group = self._of({"group_id": self._group})
            yield self._send("add-offsets", "add_offsets_to_txn", group, OF_OFFSETS)
            offsets = [
                {"partition_index": each, "committed_offset": self._rng.randint(1, 1000), "committed_metadata": "m"}
                for each in self._rng.sample(range(PARTITIONS), self._rng.randint(1, PARTITIONS))
            ]
            body = {
                **group,
                "generation_id": -1,
                "member_id": "",
                "topics": [{"name": self.topic, "partitions": offsets}],
            }
            yield self._send("offsets", "txn_offset_commit", body, OF_OFFSETS, node=OF_GROUPS)

    def ended(self, version: int) -> Iterator[Step]:
        yield self._send("end", "end_txn", self._of({"committed": self._rng.random() < 0.5}), version)
        yield from self.looked_at()

    def looked_at(self) -> Iterator[Step]:
        if self._rng.random() < LOOKED_AT:
            yield Describe(as_=self._script.name("look"))

    def _written(self, partition: int) -> ApiProbe:
        batch = {
            "records": [{"value": self._script.name("record")}],
            "producer_id": f"${self._bound('id')}",
            "producer_epoch": f"${self._bound('epoch')}",
            "base_sequence": self._sequences[partition],
            "transactional": True,
        }
        self._sequences[partition] += 1
        data = [{"name": self.topic, "partition_data": [{"index": partition, "records": batch}]}]
        body = {"transactional_id": self._id, "acks": -1, "timeout": self._how.timeout_ms, "topic_data": data}
        return self._send("write", "produce", body, PRODUCE, node=f"leader:{self.topic}-{partition}")

    def _of(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        ids = {f"producer_{what}": f"${self._bound(what)}" for what in ("id", "epoch")}
        return {"transactional_id": self._id, **ids, **fields}

    def _bound(self, what: str) -> str:
        return f"{what}-{self._session}-of-{self._id}"

    def _send(
        self, name: str, request: str, body: dict[str, Any], version: int, node: str = COORDINATOR, **more: Any
    ) -> ApiProbe:
        how = replace(self._how, node=node)
        return api(self._script, name, how, request, body, version=version, within_ms=self._within_ms, **more)

    @property
    def _within_ms(self) -> int:
        return self._script.cluster.liveness_timeout_ms
