"""Produce and InitProducerId."""

from __future__ import annotations

import asyncio
import itertools
import time

from fencepost.cluster_impl.api.serving import Answer, fencing_error
from fencepost.cluster_impl.replication.control_plane import ControlPlane, ProducerIdsUnavailable
from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.replication.purgatory import Acknowledgement
from fencepost.cluster_impl.replication.replica import Replica
from fencepost.cluster_impl.replication.validation import PartitionError
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.refusals import refusal
from fencepost.cluster_impl.wire.server import CloseConnection, Request

PartitionResponse = m.ProduceResponse.PartitionProduceResponse

ACKS_NONE, ACKS_LEADER, ACKS_ALL = 0, 1, -1


class Produce:
    """Appends at once; with acks=all the response waits until every partition is committed or refused."""

    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas
        self._control = replicas.control

    def handle(self, body: m.ProduceRequest, request: Request) -> Answer:
        if body.acks not in (ACKS_NONE, ACKS_LEADER, ACKS_ALL):
            return refused_produce(body, request, Error.INVALID_REQUIRED_ACKS)
        response = m.ProduceResponse()
        delayed = DelayedProduce(response, self._control)
        for topic in body.topic_data:
            answers = m.ProduceResponse.TopicProduceResponse(name=topic.name)
            response.responses.append(answers)
            for data in topic.partition_data:
                answers.partition_responses.append(self._append(topic.name, data, body.acks, delayed))
        if body.acks == ACKS_NONE:
            _close_if_refused(response)
            return None
        return delayed.wait(body.timeout_ms / 1000) if delayed.waits else response

    def _append(
        self, topic: str, data: m.ProduceRequest.PartitionProduceData, acks: int, delayed: DelayedProduce
    ) -> PartitionResponse:
        answer = PartitionResponse(index=data.index, base_offset=-1)
        try:
            replica = self._replicas.find(topic, data.index)
            appended = replica.append_as_leader(data.records, acks, time.monotonic())
        except PartitionError as refused:
            answer.error_code, answer.error_message = refused.error, refused.message
            return answer
        answer.base_offset, answer.log_start_offset = appended.base_offset, replica.log.log_start_offset
        answer.log_append_time_ms = appended.append_time
        if acks == ACKS_ALL:
            delayed.expect(replica, appended.next_offset, answer)
        return answer


def _close_if_refused(response: m.ProduceResponse) -> None:
    """Raise CloseConnection after an error: a client with acks=0 looks for the leader only when its connection ends."""
    for topic in response.responses:
        for answer in topic.partition_responses:
            if answer.error_code:
                error = Error(answer.error_code).name
                raise CloseConnection(f"{topic.name}-{answer.index} did not take records sent with acks=0: {error}")


class DelayedProduce:
    """The response of an acks=all produce while some of its partitions are undecided."""

    def __init__(self, response: m.ProduceResponse, control: ControlPlane) -> None:
        self._response = response
        self._control = control
        self._keys = itertools.count()
        self._undecided: dict[int, tuple[Replica, Acknowledgement, PartitionResponse]] = {}
        self._future: asyncio.Future[m.ProduceResponse] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def waits(self) -> bool:
        return bool(self._undecided)

    def expect(self, replica: Replica, next_offset: int, answer: PartitionResponse) -> None:
        """Wait until the partition is committed up to `next_offset`, unless that is decided already."""
        since = replica.core.led_since
        error = replica.core.acknowledges(next_offset, since)
        if error is not None:
            _decide(answer, error)
            return
        key = next(self._keys)

        def decided(error: Error) -> None:
            del self._undecided[key]
            _decide(answer, error or fencing_error(self._control))
            self._finish_if_decided()

        waiting = replica.purgatory.acknowledgements.wait(next_offset, since, decided)
        self._undecided[key] = (replica, waiting, answer)

    def wait(self, timeout: float) -> asyncio.Future[m.ProduceResponse]:
        loop = asyncio.get_running_loop()
        self._future = loop.create_future()
        self._timer = loop.call_later(timeout, self._expire)
        return self._future

    def _expire(self) -> None:
        for replica, waiting, answer in self._undecided.values():
            replica.purgatory.acknowledgements.forget(waiting)
            _decide(answer, Error.REQUEST_TIMED_OUT)
        self._undecided.clear()
        self._finish_if_decided()

    def _finish_if_decided(self) -> None:
        if self._undecided or self._future is None or self._timer is None:
            return
        self._timer.cancel()
        if not self._future.done():
            self._future.set_result(self._response)


def _decide(answer: PartitionResponse, error: Error) -> None:
    if error:
        answer.error_code, answer.base_offset = error, -1


def refused_produce(
    body: m.ProduceRequest, request: Request, error: Error = Error.NOT_LEADER_OR_FOLLOWER
) -> Message | None:
    """Refuse every partition; return None for acks=0, which has no response."""
    return None if body.acks == ACKS_NONE else refusal(body, error)


class InitProducerIdApi:
    """InitProducerId for idempotent producers; there are no transactions."""

    def __init__(self, control: ControlPlane) -> None:
        self._control = control

    def handle(self, body: m.InitProducerIdRequest, request: Request) -> Message:
        if body.transactional_id is not None:
            return refusal(body, Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        try:
            return m.InitProducerIdResponse(producer_id=self._control.new_producer_id(), producer_epoch=0)
        except ProducerIdsUnavailable:
            return refusal(body, Error.COORDINATOR_NOT_AVAILABLE)
