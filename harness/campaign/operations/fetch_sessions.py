"""A client goes on with its fetch session out of turn: at an epoch that is not due, or under an unknown id."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation
from fencepost.harness.campaign.operations.requests import any_broker, api, must
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

SESSIONS = 12
"""The last version of Fetch that names topics."""
NOT_FOUND, NOT_DUE = 70, 71


class FetchSession(Operation):
    """A fetch session begins, is gone on with at a later epoch, the due one and that again, and under an unknown id.

    Only the due epoch is served (KIP-227). A broker may have ended the session to make room for another one.
    """

    name = "fetch-session"
    weight = 1
    at_end = of_whole_clusters = True
    left_out: Mapping[str, str] = {Dialect.CLIENTS: "a broker need not keep fetch sessions"}
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=1.1"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        topic = rng.choice(script.cluster.topics)
        name, number = script.name("session"), rng.randrange(len(topic.assignments))
        how = any_broker(rng, script, "ADM-02")
        unclaimed = replace(how, expect=None)
        not_due = replace(how, expect=must("ADM-02", f"error:[{NOT_FOUND},{NOT_DUE}]"))
        unknown = replace(how, expect=must("ADM-02", f"error:[{NOT_FOUND}]"))

        def fetch(title: str, how: Any, session: int | str, epoch: int, **more: Any) -> ApiProbe:
            partition = {"partition": number, "fetch_offset": 0, "partition_max_bytes": 1}
            topics = [{"topic": topic.name, "partitions": [partition]}]
            body = {"max_wait": 0, "min_bytes": 0, "session_id": session, "session_epoch": epoch, "topics": topics}
            return api(script, title, how, "fetch", body, version=SESSIONS, **more)

        steps = (
            fetch("begin", how, 0, 0, answer={"error_code": 0}, binds={name: "session_id"}),
            fetch("early", not_due, f"${name}", rng.choice((2, 3, 2**31 - 1))),
            fetch("due", unclaimed, f"${name}", 1, answer={"error_code": 0}),
            fetch("again", not_due, f"${name}", 1),
            fetch("unknown", unknown, rng.randint(1, 2**31 - 1), 1),
        )
        return GeneratedOperation("a fetch session gone on with out of turn", steps)
