"""CreateTopics and DeleteTopics, which the control plane decides, and topics that this broker itself requests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Request

log = logging.getLogger(__name__)

_CREATE_TOPICS_VERSION = 7


class Administration:
    """Forwards requests to the control plane, and answers with an error if no node responds."""

    def __init__(self, control: ControlPlane) -> None:
        self._control = control
        self._wanted: dict[str, asyncio.Task[None]] = {}

    async def create_topics(self, body: m.CreateTopicsRequest, request: Request) -> Message:
        try:
            return await self._control.forward(body, request.version)
        except (ConnectionError, TimeoutError) as error:
            return refused_create_topics(body, request, Error.REQUEST_TIMED_OUT, str(error))

    async def delete_topics(self, body: m.DeleteTopicsRequest, request: Request) -> Message:
        try:
            return await self._control.forward(body, request.version)
        except (ConnectionError, TimeoutError) as error:
            return refused_delete_topics(body, request, Error.REQUEST_TIMED_OUT, str(error))

    def want_topic(
        self, name: str, partitions: int, replication_factor: int, config: Mapping[str, str] | None = None
    ) -> None:
        """Have a topic created, without waiting for it. A repeated call while that is under way changes nothing."""
        if name not in self._wanted:
            self._wanted[name] = asyncio.create_task(self._create(name, partitions, replication_factor, config or {}))

    async def _create(self, name: str, partitions: int, replication_factor: int, config: Mapping[str, str]) -> None:
        setting = m.CreateTopicsRequest.CreatableTopicConfig
        topic = m.CreateTopicsRequest.CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=replication_factor,
            configs=[setting(name=key, value=value) for key, value in config.items()],
        )
        try:
            response = await self._control.forward(m.CreateTopicsRequest(topics=[topic]), _CREATE_TOPICS_VERSION)
            assert isinstance(response, m.CreateTopicsResponse)
            for result in response.topics:
                if result.error_code not in (Error.NONE, Error.TOPIC_ALREADY_EXISTS):
                    log.warning("topic %s was not created: %s", name, result.error_message or Error(result.error_code))
        except (ConnectionError, TimeoutError) as error:
            log.warning("topic %s was not created: %s", name, error)
        finally:
            del self._wanted[name]

    def close(self) -> None:
        for task in self._wanted.values():
            task.cancel()


def refused_create_topics(
    body: m.CreateTopicsRequest, request: Request, error: Error = Error.NOT_CONTROLLER, message: str | None = None
) -> m.CreateTopicsResponse:
    return m.CreateTopicsResponse(
        topics=[
            m.CreateTopicsResponse.CreatableTopicResult(name=topic.name, error_code=error, error_message=message)
            for topic in body.topics
        ]
    )


def refused_delete_topics(
    body: m.DeleteTopicsRequest, request: Request, error: Error = Error.NOT_CONTROLLER, message: str | None = None
) -> m.DeleteTopicsResponse:
    """Refuse every topic of the request, which has names up to version 5, and names or ids from version 6 on."""
    result = m.DeleteTopicsResponse.DeletableTopicResult
    by_name = [result(name=name, error_code=error, error_message=message) for name in body.topic_names]
    by_state = [
        result(name=topic.name, topic_id=topic.topic_id, error_code=error, error_message=message)
        for topic in body.topics
    ]
    return m.DeleteTopicsResponse(responses=by_name + by_state)
