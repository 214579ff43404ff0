"""The requests of peers, observers and administrators that the quorum answers, as handlers of a listener."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fencepost.cluster_impl.designs.quorum.raft.describe import describe_quorum
from fencepost.cluster_impl.designs.quorum.raft.driver import CoreDriver
from fencepost.cluster_impl.designs.quorum.raft.messages import Response
from fencepost.cluster_impl.designs.quorum.raft.translate import (
    announced_leader,
    read_request,
    refusal_message,
    response_message,
)
from fencepost.cluster_impl.designs.quorum.raft.voters import Address
from fencepost.cluster_impl.designs.quorum.raft.waiting import complete
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Buffer, Malformed, Message
from fencepost.cluster_impl.wire.server import CloseConnection, Handler, Request


@dataclass(slots=True)
class PendingRequest:
    """A request that waits for its response; the token that the core gives back with it."""

    version: int
    answer: asyncio.Future[Message | None]

    def respond(self, response: Response, records: Buffer = b"", voters: Mapping[int, Address] | None = None) -> None:
        complete(self.answer, response_message(response, self.version, records, voters))


class RaftRequests:
    """`learned` is called with the addresses that requests announce."""

    def __init__(self, driver: CoreDriver, learned: Callable[[Mapping[int, Address]], None]) -> None:
        self._driver = driver
        self._learned = learned
        self.handlers: Mapping[int, Handler] = {
            m.FetchRequest.API_KEY: self._handle,
            m.VoteRequest.API_KEY: self._handle,
            m.BeginQuorumEpochRequest.API_KEY: self._handle,
            m.EndQuorumEpochRequest.API_KEY: self._handle,
            m.FetchSnapshotRequest.API_KEY: self._handle,
            m.DescribeQuorumRequest.API_KEY: self._describe,
        }

    def _handle(self, request: Request) -> Message | asyncio.Future[Message | None]:
        if self._driver.core is None:
            raise CloseConnection("this controller has not joined the quorum")
        try:
            raft_request = read_request(request.body, request.version)
        except Malformed:
            return refusal_message(request.body)
        self._learned(announced_leader(request.body))
        answer: asyncio.Future[Message | None] = asyncio.get_running_loop().create_future()
        token = PendingRequest(request.version, answer)
        self._driver.input(lambda core, now: core.receive(raft_request, token, now))
        return answer

    def _describe(self, request: Request) -> Message:
        if self._driver.core is None:
            raise CloseConnection("this controller has not joined the quorum")
        assert isinstance(request.body, m.DescribeQuorumRequest)
        return describe_quorum(request.body, self._driver.core, time.monotonic(), time.time())
