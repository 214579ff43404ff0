"""DescribeConfigs, as far as topics have settings here."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Request

_TOPIC, _BROKER = 2, 4
_TOPIC_CONFIG, _DEFAULT_CONFIG = 1, 5
_STRING_TYPE = 2

Result = m.DescribeConfigsResponse.DescribeConfigsResult
Resource = m.DescribeConfigsRequest.DescribeConfigsResource


class Configs:
    def __init__(self, control: ControlPlane, config: DataPlaneConfig) -> None:
        self._control = control
        self._defaults = {
            "min.insync.replicas": str(config.min_isr),
            "max.message.bytes": str(config.message_max_bytes),
            "message.timestamp.type": "CreateTime",
            "cleanup.policy": "delete",
        }

    async def handle(self, body: m.DescribeConfigsRequest, request: Request) -> m.DescribeConfigsResponse:
        topics = [one.resource_name for one in body.resources if one.resource_type == _TOPIC]
        await self._control.look(topics)
        await self._control.load_settings(topics)
        return m.DescribeConfigsResponse(results=[self._describe(resource) for resource in body.resources])

    def _describe(self, resource: Resource) -> Result:
        result = Result(resource_type=resource.resource_type, resource_name=resource.resource_name)
        if resource.resource_type == _TOPIC:
            topic = self._control.cluster().topics.get(resource.resource_name)
            if topic is None:
                result.error_code = Error.UNKNOWN_TOPIC_OR_PARTITION
            else:
                result.configs = self._entries(resource, topic.config)
        elif resource.resource_type != _BROKER:
            result.error_code = Error.INVALID_REQUEST
            result.error_message = "only topics and brokers have settings"
        return result

    def _entries(
        self, resource: Resource, own: Mapping[str, str]
    ) -> list[m.DescribeConfigsResponse.DescribeConfigsResourceResult]:
        wanted = resource.configuration_keys
        return [
            m.DescribeConfigsResponse.DescribeConfigsResourceResult(
                name=name,
                value=value,
                read_only=True,
                config_source=_TOPIC_CONFIG if name in own else _DEFAULT_CONFIG,
                config_type=_STRING_TYPE,
            )
            for name, value in {**self._defaults, **own}.items()
            if wanted is None or name in wanted
        ]


def refused_configs(body: m.DescribeConfigsRequest, request: Request) -> m.DescribeConfigsResponse:
    return m.DescribeConfigsResponse(
        results=[
            Result(
                error_code=Error.BROKER_NOT_AVAILABLE,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in body.resources
        ]
    )
