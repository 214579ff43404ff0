"""A candidate's request for a vote."""

from __future__ import annotations

from typing import Literal

from kio.schema.errors import ErrorCode
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i32, i64

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
        api = connection.newest(VOTE)
        partition = api.request.PartitionData(
            partition_index=i32(0),
            replica_epoch=i32(epoch),
            replica_id=BrokerId(candidate),
            last_offset_epoch=i32(max(epoch - 1, 0)),
            last_offset=i64(run.decided.offset + 1),
        )
        topic = api.request.TopicData(topic_name=TopicName(run.dialect.metadata_topic), partitions=(partition,))
        request = api.VoteRequest(cluster_id=self.cluster or run.cluster_id, topics=(topic,))
        answer = connection.call(request, api.VoteResponse)
        if answer.error_code is not ErrorCode.none or not answer.topics:
            return answered(answer.error_code, sent={"epoch": epoch})
        found = answer.topics[0].partitions[0]
        body = {"granted": found.vote_granted, "epoch": found.leader_epoch, "sent": {"epoch": epoch}}
        if found.error_code is ErrorCode.none and not found.vote_granted:
            return ProbeAnswer(ProbeOutcome.REFUSED, None, body)
        return answered(found.error_code, **body)
