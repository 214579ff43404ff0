"""Clients of transactions that send single requests."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.coordination import TRANSACTIONAL_ID
from fencepost.harness.campaign.operations.operation import Asked, GeneratedOperation, Operation
from fencepost.harness.campaign.operations.requests import ONLY_KAFKA, any_broker, api, excusing, never
from fencepost.harness.campaign.settling import restarted
from fencepost.harness.model.transactional import CONCURRENT
from fencepost.harness.plan.base import ExpectOutcome
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

RESTARTED = 0.4
"""The fraction of plans in which the coordinator restarts in between."""
MEETS_ANOTHER = 0.5
"""The fraction of plans in which a fenced producer asks for its epoch while another one has a transaction open."""
COORDINATOR = "leader:__transaction_state-0"
"""The state of transactions has one partition, so there is one coordinator."""
ADDING = 3
"""The last version by which a client adds partitions to one transaction."""
LASTING = 3
"""A version of EndTxn that leaves the epoch as it is."""
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


class ProducerTakenOver(Operation):
    """A second producer takes a transactional id over: the first one is fenced, also by a coordinator that restarted.

    TXN-04. The first one tries to go on in its transaction, to end it, and to begin anew with its epoch (KIP-360), some
    of the times while the second one has a transaction open.
    """

    name = "producer-taken-over"
    weight = 2
    of_whole_clusters = True
    left_out: Mapping[str, str] = ONLY_KAFKA
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.5"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        name, topic = script.name("taken"), rng.choice(script.cluster.topics)
        found = any_broker(rng, script, "CRD-01")
        how = replace(found, node=COORDINATOR, expect=None)
        fenced = replace(how, expect=never("TXN-04", "served"))
        within: dict[str, Any] = {"within_ms": script.cluster.liveness_timeout_ms}
        partition, restarts = rng.randrange(len(topic.assignments)), rng.random() < RESTARTED

        def of(nth: str) -> dict[str, Any]:
            return {"producer_id": f"$id-{nth}-{name}", "producer_epoch": f"$epoch-{nth}-{name}"}

        def begun(nth: str) -> ApiProbe:
            body = {"transactional_id": name, "transaction_timeout": 60_000, "producer_id": -1, "producer_epoch": -1}
            binds = {f"id-{nth}-{name}": "producer_id", f"epoch-{nth}-{name}": "producer_epoch"}
            return api(script, "begin", how, "init_producer_id", body, version=4, binds=binds, **within)

        def added(nth: str, asked: Asked, **more: Any) -> ApiProbe:
            body = {"transactional_id": name, **of(nth), "topics": [{"name": topic.name, "partitions": [partition]}]}
            old = {f"v3_and_below_{key}": value for key, value in body.items()}
            return api(script, "add", asked, "add_partitions_to_txn", old, version=ADDING, **more)

        def ended(nth: str, asked: Asked, **more: Any) -> ApiProbe:
            body = {"transactional_id": name, **of(nth), "committed": rng.random() < 0.5}
            return api(script, "end", asked, "end_txn", body, version=LASTING, **more)

        def goes_on() -> list[ApiProbe]:
            return rng.sample([added("first", fenced), ended("first", fenced)], 2)

        def begun_again(asked: Asked) -> ApiProbe:
            body = {"transactional_id": name, "transaction_timeout": 60_000, **of("first")}
            return api(script, "again", asked, "init_producer_id", body, version=4)

        # CONCURRENT_TRANSACTIONS says that the transaction of the second producer is aborted for it.
        harmless = replace(how, expect=excusing(never("TXN-04", f"error:{CONCURRENT}"), script, "AK-19"))
        meets_another = rng.random() < MEETS_ANOTHER

        find = {"key": name, "key_type": TRANSACTIONAL_ID}
        steps: list[Step] = [
            api(script, "find", found, "find_coordinator", find, version=3, **within),
            *(begun("first"), added("first", how, **within), begun("second"), *goes_on(), begun_again(fenced)),
            *(restarted(script, COORDINATOR) if restarts else ()),
            *(added("second", how, **within), *goes_on()),
            *([begun_again(harmless)] if meets_another else ()),
            *(ended("second", how, **({} if meets_another else within)), begun("third")),
        ]
        title = "a producer is taken over and fenced" + (", by a coordinator that restarts" * restarts)
        return GeneratedOperation(title, tuple(steps), unsettles=restarts)
