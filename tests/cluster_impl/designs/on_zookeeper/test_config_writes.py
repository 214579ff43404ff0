"""Settings are written with their notification, decided on what is there, and never over a change of another broker."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import pytest

from fencepost.cluster_impl.api.config_changes import AlterRequest
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.leader_driven.broker.broker_settings import TOPIC_ZNODES as OF_LEADER_DRIVEN
from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.on_zookeeper.config_writes import KEPT, ConfigWriter, TopicZnodes
from fencepost.cluster_impl.designs.zk_controller.broker.broker_settings import TOPIC_ZNODES as OF_ZK
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.on_zookeeper.memory_zookeeper import MemoryZooKeeper

TOPIC, BROKER = 2, 4
SET, DELETE = 0, 1
MIN_ISR, RETENTION = "min.insync.replicas", "retention.ms"


@dataclass
class Given:
    """The znodes of one design, with the topic t and its settings."""

    zookeeper: MemoryZooKeeper
    topics: TopicZnodes

    @property
    def of_t(self) -> str:
        return self.topics.config("t")

    def settings_are(self, settings: Mapping[str, str]) -> None:
        """Write the topic's settings as another broker does."""
        self.zookeeper.put(self.of_t, self.topics.write(settings))


@pytest.fixture(params=["zk-controller", "leader-driven"])
def given(request: pytest.FixtureRequest) -> Given:
    given = Given(MemoryZooKeeper(), OF_ZK if request.param == "zk-controller" else OF_LEADER_DRIVEN)
    given.zookeeper.put(given.topics.topic("t"), b"{}")
    given.settings_are({MIN_ISR: "2"})
    return given


def steps(name: str, *changes: tuple[str, int, str | None], kind: int = TOPIC, **more: Any) -> AlterRequest:
    config = m.IncrementalAlterConfigsRequest.AlterableConfig
    resource = m.IncrementalAlterConfigsRequest.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[config(name=key, config_operation=how, value=value) for key, how, value in changes],
    )
    return m.IncrementalAlterConfigsRequest(resources=[resource], **more)


def ask(given: Given, request: AlterRequest) -> list[int]:
    writer = ConfigWriter(cast("ZooKeeper", given.zookeeper), given.topics, timeout=5.0)
    return [each.error_code for each in asyncio.run(writer.alter(request)).responses]


def stored(given: Given) -> Mapping[str, str]:
    return given.topics.read("t", given.zookeeper.nodes[given.of_t][0])


def notified(given: Given) -> list[str]:
    zookeeper = given.zookeeper
    paths = [f"{config_znodes.CONFIG_CHANGES}/{name}" for name in zookeeper.children_of(config_znodes.CONFIG_CHANGES)]
    return [config_znodes.read_config_change(path, zookeeper.nodes[path][0]) for path in paths]


@pytest.mark.requirement("DINT-29", "DLD-52")
def test_a_setting_of_a_topic_is_changed_beside_the_others_and_brokers_are_notified(given: Given) -> None:
    assert ask(given, steps("t", (RETENTION, SET, "5"))) == [Error.NONE]
    assert stored(given) == {MIN_ISR: "2", RETENTION: "5"}
    assert ask(given, steps("t", (MIN_ISR, DELETE, None))) == [Error.NONE]
    assert stored(given) == {RETENTION: "5"}
    assert notified(given) == ["topics/t", "topics/t"]


def test_alter_configs_replaces_all_settings_of_a_topic(given: Given) -> None:
    replaced = m.AlterConfigsRequest.AlterConfigsResource(
        resource_type=TOPIC,
        resource_name="t",
        configs=[m.AlterConfigsRequest.AlterableConfig(name=RETENTION, value="7")],
    )
    assert ask(given, m.AlterConfigsRequest(resources=[replaced])) == [Error.NONE]
    assert stored(given) == {RETENTION: "7"}


@pytest.mark.parametrize(("name", "entity"), [("4", "brokers/4"), ("", "brokers/<default>")])
def test_settings_of_one_broker_and_of_all_are_kept_where_kafka_keeps_them(
    given: Given, name: str, entity: str
) -> None:
    path = f"/config/{entity}"
    assert ask(given, steps(name, (MIN_ISR, SET, "3"), kind=BROKER)) == [Error.NONE]
    assert config_znodes.read_config(path, given.zookeeper.nodes[path][0]) == {MIN_ISR: "3"}
    assert notified(given) == [entity]


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (steps("gone", (MIN_ISR, SET, "1")), Error.UNKNOWN_TOPIC_OR_PARTITION),
        (steps("a/b", (MIN_ISR, SET, "1")), Error.UNKNOWN_TOPIC_OR_PARTITION),
        (steps("t", ("no.such", SET, "1")), Error.INVALID_CONFIG),
        (steps("../x", (MIN_ISR, SET, "1"), kind=BROKER), Error.INVALID_REQUEST),
        (steps("t", (MIN_ISR, SET, "1"), kind=8), Error.INVALID_REQUEST),
        (steps("t", (MIN_ISR, SET, "9"), validate_only=True), Error.NONE),
        (steps("t", (MIN_ISR, SET, "2")), Error.NONE),
    ],
)
def test_what_is_refused_only_checked_or_no_change_writes_nothing(
    given: Given, request_: AlterRequest, error: Error
) -> None:
    before = dict(given.zookeeper.nodes)
    assert ask(given, request_) == [error]
    assert given.zookeeper.nodes == before


def test_a_change_of_another_broker_meanwhile_is_not_overwritten(given: Given) -> None:
    given.zookeeper.meanwhile = lambda: given.settings_are({MIN_ISR: "1", "segment.ms": "60000"})
    assert ask(given, steps("t", (RETENTION, SET, "5"))) == [Error.NONE]
    assert stored(given) == {MIN_ISR: "1", "segment.ms": "60000", RETENTION: "5"}


def test_a_topic_that_is_deleted_meanwhile_leaves_no_settings_behind(given: Given) -> None:
    def delete() -> None:
        for path in {given.of_t, given.topics.topic("t")}:
            del given.zookeeper.nodes[path]

    given.zookeeper.meanwhile = delete
    assert ask(given, steps("t", (RETENTION, SET, "5"))) == [Error.UNKNOWN_TOPIC_OR_PARTITION]
    assert given.of_t not in given.zookeeper.nodes


@pytest.mark.parametrize("was_made", [True, False])
def test_a_write_in_doubt_is_made_once(given: Given, was_made: bool) -> None:
    given.zookeeper.breaks.append(was_made)
    assert ask(given, steps("t", (RETENTION, SET, "5"))) == [Error.NONE]
    assert stored(given)[RETENTION] == "5"
    assert notified(given) == ["topics/t"]


def test_of_many_notifications_the_newest_stay(given: Given) -> None:
    for value in range(KEPT + 5):
        assert ask(given, steps("t", (RETENTION, SET, str(value)))) == [Error.NONE]
    kept = given.zookeeper.children_of(config_znodes.CONFIG_CHANGES)
    assert (len(kept), kept[-1]) == (KEPT, f"config_change_{KEPT + 5:010}")


def test_settings_that_cannot_be_read_are_replaced(given: Given) -> None:
    given.zookeeper.put(given.of_t, b"no JSON")
    assert ask(given, steps("t", (RETENTION, SET, "5"))) == [Error.NONE]
    assert stored(given) == {RETENTION: "5"}
