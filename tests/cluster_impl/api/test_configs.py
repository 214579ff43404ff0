"""DescribeConfigs of topics and brokers: true values, each with its source."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import UUID

import pytest

from fencepost.cluster_impl.api.configs import Configs
from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.config.settings import settings_of
from fencepost.cluster_impl.replication.control_plane import ClusterView, ControlPlane, TopicView
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

TOPIC, BROKER = 2, 4
OF_TOPIC, OF_BROKER, OF_ALL_BROKERS, OF_FILE, DEFAULT = 1, 2, 3, 4, 5
MIN_ISR = "min.insync.replicas"


class Control:
    """Broker 4, which knows the topic t."""

    broker_id = 4

    def __init__(self, own: Mapping[str, str], changed: Mapping[str, Mapping[str, str]]) -> None:
        self._view = ClusterView("c", -1, {}, {"t": TopicView("t", UUID(int=1), {}, own)}, changed)

    def cluster(self) -> ClusterView:
        return self._view

    async def look(self, topics: object) -> None: ...

    async def load_settings(self, topics: object) -> None: ...


def described(
    kind: int,
    name: str,
    own: Mapping[str, str] | None = None,
    changed: Mapping[str, Mapping[str, str]] | None = None,
    file: Mapping[str, str] | None = None,
    keys: Sequence[str] | None = None,
    **more: Any,
) -> m.DescribeConfigsResponse.DescribeConfigsResult:
    control = cast("ControlPlane", Control(own or {}, changed or {}))
    configs = Configs(control, tuple(settings_of(DataPlaneConfig, file or {})))
    resource = m.DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=None if keys is None else list(keys)
    )
    request = m.DescribeConfigsRequest(resources=[resource], **more)
    return asyncio.run(configs.handle(request, cast("Any", None))).results[0]


def value(found: m.DescribeConfigsResponse.DescribeConfigsResult, name: str) -> tuple[str | None, int]:
    [entry] = [each for each in found.configs if each.name == name]
    return entry.value, entry.config_source


OWN = {MIN_ISR: "5"}
CHANGED = {"4": {MIN_ISR: "4"}, "": {MIN_ISR: "3"}, "5": {MIN_ISR: "9"}}
FILE = {MIN_ISR: "2"}


@pytest.mark.parametrize(
    ("own", "changed", "file", "expected"),
    [
        (OWN, CHANGED, FILE, ("5", OF_TOPIC)),
        ({}, CHANGED, FILE, ("4", OF_BROKER)),
        ({}, {"": {MIN_ISR: "3"}}, FILE, ("3", OF_ALL_BROKERS)),
        ({}, {"5": {MIN_ISR: "9"}}, FILE, ("2", OF_FILE)),
        ({}, None, {}, ("1", DEFAULT)),
    ],
)
def test_the_strongest_value_holds_and_its_source_is_named(
    own: Mapping[str, str],
    changed: Mapping[str, Mapping[str, str]] | None,
    file: Mapping[str, str],
    expected: tuple[str, int],
) -> None:
    assert value(described(TOPIC, "t", own, changed, file), MIN_ISR) == expected
    if not own:
        assert value(described(BROKER, "4", own, changed, file), MIN_ISR) == expected


def test_a_topics_setting_is_below_it_under_the_brokers_name() -> None:
    found = described(TOPIC, "t", changed={"": {"message.max.bytes": "77"}}, include_synonyms=True)
    assert value(found, "max.message.bytes") == ("77", OF_ALL_BROKERS)
    [entry] = [each for each in found.configs if each.name == "max.message.bytes"]
    assert [(each.name, each.value, each.source) for each in entry.synonyms] == [
        ("message.max.bytes", "77", OF_ALL_BROKERS),
        ("message.max.bytes", "1048588", DEFAULT),
    ]


def test_a_broker_describes_all_keys_of_its_file_and_which_of_them_change_at_run_time() -> None:
    found = described(BROKER, "4", changed={}, file={"num.partitions": "6"})
    assert {each.name for each in found.configs} == {key.name for key in DataPlaneConfig.all_keys()}
    assert value(found, "num.partitions") == ("6", OF_FILE)
    assert {each.name for each in found.configs if not each.read_only} == {
        MIN_ISR,
        "message.max.bytes",
        "log.segment.bytes",
        "log.roll.ms",
        "log.retention.ms",
        "log.retention.bytes",
    }


def test_all_brokers_have_only_what_was_set_for_all() -> None:
    found = described(BROKER, "", changed=CHANGED, file=FILE)
    assert [(each.name, each.value, each.config_source) for each in found.configs] == [(MIN_ISR, "3", OF_ALL_BROKERS)]


def test_another_brokers_settings_are_not_made_up() -> None:
    found = described(BROKER, "5", changed=CHANGED)
    assert (found.error_code, found.configs) == (Error.INVALID_REQUEST, [])


def test_synonyms_documents_and_keys_are_given_as_asked() -> None:
    [bare] = described(BROKER, "4", keys=[MIN_ISR]).configs
    assert (bare.synonyms, bare.documentation) == ([], None)
    [full] = described(BROKER, "4", keys=[MIN_ISR], include_synonyms=True, include_documentation=True).configs
    assert full.documentation
    assert [each.value for each in full.synonyms] == ["1"]
