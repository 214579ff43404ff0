"""Topics that this broker itself requests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

_CREATE_TOPICS_VERSION = 7


class WantedTopics:
    """Has topics created by the control plane."""

    def __init__(self, control: ControlPlane) -> None:
        self._control = control
        self._wanted: dict[str, asyncio.Task[None]] = {}

    def want(
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
