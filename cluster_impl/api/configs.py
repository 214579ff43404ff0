"""DescribeConfigs: the settings of topics and of this broker, each with what it was taken from.

From the strongest: the topic's own setting, the broker's run-time setting, that of all brokers, the property file, the
default. A setting of a topic that has several values of one kind below it shows them as synonyms.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from enum import IntEnum

from fencepost.cluster_impl.api.topic_names import problem_with_name
from fencepost.cluster_impl.config.settings import Setting
from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Request

_TOPIC, _BROKER = 2, 4
_ALL_BROKERS = ""

Result = m.DescribeConfigsResponse.DescribeConfigsResult
Resource = m.DescribeConfigsRequest.DescribeConfigsResource
Entry = m.DescribeConfigsResponse.DescribeConfigsResourceResult
Synonym = m.DescribeConfigsResponse.DescribeConfigsSynonym


class Source(IntEnum):
    """Kafka's ConfigSource."""

    TOPIC = 1
    BROKER = 2
    ALL_BROKERS = 3
    FILE = 4
    DEFAULT = 5


class Type(IntEnum):
    """Kafka's ConfigType."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    DOUBLE = 6
    LIST = 7


BROKER_KEY: Mapping[str, str] = {
    "min.insync.replicas": "min.insync.replicas",
    "max.message.bytes": "message.max.bytes",
    "segment.bytes": "log.segment.bytes",
    "segment.ms": "log.roll.ms",
    "retention.ms": "log.retention.ms",
    "retention.bytes": "log.retention.bytes",
}
"""The settings of topics with a broker's setting below them, and its name. A broker's can be changed at run time."""

_FIXED: Mapping[str, str] = {
    "message.timestamp.type": "CreateTime",
    "cleanup.policy": "delete",
    "delete.retention.ms": "86400000",
    "min.cleanable.dirty.ratio": "0.5",
}
"""The values of other settings, where the topic has none of its own."""

_OF_TOPICS: Mapping[str, Type] = {
    "cleanup.policy": Type.LIST,
    "delete.retention.ms": Type.LONG,
    "min.cleanable.dirty.ratio": Type.DOUBLE,
}
"""The types of settings that only topics have, where they are no text."""

_TYPES: Mapping[str, Type] = {
    "true or false": Type.BOOLEAN,
    "whole number": Type.INT,
    "bytes": Type.INT,
    "percent": Type.INT,
    "milliseconds": Type.LONG,
    "seconds": Type.LONG,
}


class Configs:
    """`settings` are those of this broker's property file and their defaults."""

    def __init__(self, control: ControlPlane, settings: Collection[Setting]) -> None:
        self._control = control
        self._settings = {setting.name: setting for setting in settings}

    async def handle(self, body: m.DescribeConfigsRequest, request: Request) -> m.DescribeConfigsResponse:
        topics = [one.resource_name for one in body.resources if one.resource_type == _TOPIC]
        await self._control.load_settings(topics)
        await self._control.look(topics)
        results = [self._describe(resource) for resource in body.resources]
        for entry in (entry for result in results for entry in result.configs):
            if not body.include_synonyms:
                entry.synonyms = []
            if not body.include_documentation:
                entry.documentation = None
        return m.DescribeConfigsResponse(results=results)

    def _describe(self, resource: Resource) -> Result:
        name, keys = resource.resource_name, resource.configuration_keys
        result = Result(resource_type=resource.resource_type, resource_name=name)
        if resource.resource_type == _TOPIC:
            topic = self._control.cluster().topics.get(name)
            if topic is None:
                result.error_message = problem_with_name(name)
                illegal = result.error_message is not None
                result.error_code = Error.INVALID_TOPIC_EXCEPTION if illegal else Error.UNKNOWN_TOPIC_OR_PARTITION
                return result
            entries = self._of_topic(topic.config)
        elif resource.resource_type != _BROKER:
            result.error_code, result.error_message = Error.INVALID_REQUEST, "only topics and brokers have settings"
            return result
        elif name == _ALL_BROKERS:
            entries = self._of_all_brokers()
        elif name == str(self._control.broker_id):
            entries = self._of_broker()
        else:
            result.error_code = Error.INVALID_REQUEST
            result.error_message = f"ask broker {name} itself: this is broker {self._control.broker_id}"
            return result
        result.configs = [entry for entry in entries if keys is None or entry.name in keys]
        return result

    def _of_topic(self, own: Mapping[str, str]) -> Iterator[Entry]:
        for name in dict.fromkeys((*BROKER_KEY, *_FIXED, *own)):
            values = [Synonym(name=name, value=own[name], source=Source.TOPIC)] if name in own else []
            key = BROKER_KEY.get(name)
            if key is not None:
                values += self._values(key)
            elif name in _FIXED:
                values.append(Synonym(name=name, value=_FIXED[name], source=Source.DEFAULT))
            setting = None if key is None else self._settings.get(key)
            yield _entry(name, values, setting)

    def _of_broker(self) -> Iterator[Entry]:
        for name, setting in self._settings.items():
            yield _entry(name, list(self._values(name)), setting, read_only=name not in BROKER_KEY.values())

    def _of_all_brokers(self) -> Iterator[Entry]:
        for name, value in self._control.cluster().broker_configs.get(_ALL_BROKERS, {}).items():
            synonym = Synonym(name=name, value=value, source=Source.ALL_BROKERS)
            yield _entry(name, [synonym], self._settings.get(name))

    def _values(self, key: str) -> Iterator[Synonym]:
        """Yield the values of a broker's setting, the one that holds first."""
        changed = self._control.cluster().broker_configs
        for resource, source in ((str(self._control.broker_id), Source.BROKER), (_ALL_BROKERS, Source.ALL_BROKERS)):
            if key in changed.get(resource, {}):
                yield Synonym(name=key, value=changed[resource][key], source=source)
        setting = self._settings[key]
        if setting.given is not None:
            yield Synonym(name=key, value=setting.given, source=Source.FILE)
        yield Synonym(name=key, value=setting.default, source=Source.DEFAULT)


def _entry(name: str, values: list[Synonym], setting: Setting | None, *, read_only: bool = False) -> Entry:
    holds = values[0]
    return Entry(
        name=name,
        value=holds.value,
        read_only=read_only,
        config_source=holds.source,
        synonyms=[value for value in values if value.value is not None],
        config_type=_OF_TOPICS.get(name, Type.STRING) if setting is None else _type(setting.form),
        documentation=None if setting is None else setting.document,
    )


def _type(form: str) -> Type:
    return _TYPES.get(form, Type.LIST if "separated by" in form else Type.STRING)
