"""A candidate's request for a vote."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.answers import ProbeAnswer, ProbeOutcome, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import NodeRef, Value
from fencepost.harness.plan.requests.request import KafkaRequest
from fencepost.harness.wire.versions import VOTE


class VoteProbe(KafkaRequest):
    """A candidate's request for a vote. At a higher epoch it deposes the leader, so use it on a separate cluster.

    A granted vote is `served`. The candidate claims a log as long as the one that was read.
    """

    phrase = "Ask {node} for a vote in the name of {candidate}"
    request: Literal["vote"] = "vote"
    candidate: NodeRef
    epoch: Value = "stale"
    cluster: str | None = None
    """None: the cluster's own id."""

    @property
    def needs_controller(self) -> str:
        return f"`{self.request}`"

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        candidate = run.id(self.candidate)
        epoch = run.controller_epoch(self.epoch)
        partition = {
            "partition_index": 0,
            "replica_epoch": epoch,
            "replica_id": candidate,
            "last_offset_epoch": max(epoch - 1, 0),
            "last_offset": run.decided.offset + 1,
        }
        topic = {"topic_name": run.dialect.metadata_topic, "partitions": [partition]}
        answer = VOTE.ask(connection, {"cluster_id": self.cluster or run.cluster_id, "topics": [topic]})
        if answer.error_code or not answer.topics:
            return answered(answer.error_code, sent={"epoch": epoch})
        found = answer.topics[0].partitions[0]
        body = {"granted": found.vote_granted, "epoch": found.leader_epoch, "sent": {"epoch": epoch}}
        if not found.error_code and not found.vote_granted:
            return ProbeAnswer(ProbeOutcome.REFUSED, None, body)
        return answered(found.error_code, **body)
