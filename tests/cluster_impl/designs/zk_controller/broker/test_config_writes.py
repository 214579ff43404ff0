"""Settings are written with their notification, decided on what is there, and never over a change of another broker."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import pytest

from fencepost.cluster_impl.api.config_changes import AlterRequest
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.broker.config_writes import KEPT, ConfigWriter
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.zk_controller.broker.memory_zookeeper import MemoryZooKeeper

TOPIC, BROKER = 2, 4
SET, DELETE = 0, 1
MIN_ISR, RETENTION = "min.insync.replicas", "retention.ms"
OF_T = znodes.topic_config("t")


@pytest.fixture
def zookeeper() -> MemoryZooKeeper:
    memory = MemoryZooKeeper()
    memory.put(znodes.topic("t"), b"{}")
    memory.put(OF_T, znodes.write_config({MIN_ISR: "2"}))
    return memory


def steps(name: str, *changes: tuple[str, int, str | None], kind: int = TOPIC, **more: Any) -> AlterRequest:
    config = m.IncrementalAlterConfigsRequest.AlterableConfig
    resource = m.IncrementalAlterConfigsRequest.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[config(name=key, config_operation=how, value=value) for key, how, value in changes],
    )
    return m.IncrementalAlterConfigsRequest(resources=[resource], **more)


def ask(zookeeper: MemoryZooKeeper, request: AlterRequest) -> list[int]:
    writer = ConfigWriter(cast("ZooKeeper", zookeeper), timeout=5.0)
    return [each.error_code for each in asyncio.run(writer.alter(request)).responses]


def stored(zookeeper: MemoryZooKeeper, path: str = OF_T) -> Mapping[str, str]:
    return znodes.read_config(path, zookeeper.nodes[path][0])


def notified(zookeeper: MemoryZooKeeper) -> list[str]:
    paths = [f"{znodes.CONFIG_CHANGES}/{name}" for name in zookeeper.children_of(znodes.CONFIG_CHANGES)]
    return [znodes.read_config_change(path, zookeeper.nodes[path][0]) for path in paths]


@pytest.mark.requirement("DINT-29")
def test_a_setting_of_a_topic_is_changed_beside_the_others_and_brokers_are_notified(zookeeper: MemoryZooKeeper) -> None:
    assert ask(zookeeper, steps("t", (RETENTION, SET, "5"))) == [Error.NONE]
    assert stored(zookeeper) == {MIN_ISR: "2", RETENTION: "5"}
    assert ask(zookeeper, steps("t", (MIN_ISR, DELETE, None))) == [Error.NONE]
    assert stored(zookeeper) == {RETENTION: "5"}
    assert notified(zookeeper) == ["topics/t", "topics/t"]


def test_alter_configs_replaces_all_settings_of_a_topic(zookeeper: MemoryZooKeeper) -> None:
    replaced = m.AlterConfigsRequest.AlterConfigsResource(
        resource_type=TOPIC,
        resource_name="t",
        configs=[m.AlterConfigsRequest.AlterableConfig(name=RETENTION, value="7")],
    )
    assert ask(zookeeper, m.AlterConfigsRequest(resources=[replaced])) == [Error.NONE]
    assert stored(zookeeper) == {RETENTION: "7"}


@pytest.mark.parametrize(("name", "entity"), [("4", "brokers/4"), ("", "brokers/<default>")])
def test_settings_of_one_broker_and_of_all_are_kept_where_kafka_keeps_them(
    zookeeper: MemoryZooKeeper, name: str, entity: str
) -> None:
    assert ask(zookeeper, steps(name, (MIN_ISR, SET, "3"), kind=BROKER)) == [Error.NONE]
    assert stored(zookeeper, f"/config/{entity}") == {MIN_ISR: "3"}
    assert notified(zookeeper) == [entity]


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
    zookeeper: MemoryZooKeeper, request_: AlterRequest, error: Error
) -> None:
    before = dict(zookeeper.nodes)
    assert ask(zookeeper, request_) == [error]
    assert zookeeper.nodes == before


def test_a_change_of_another_broker_meanwhile_is_not_overwritten(zookeeper: MemoryZooKeeper) -> None:
    zookeeper.meanwhile = lambda: zookeeper.put(OF_T, znodes.write_config({MIN_ISR: "1", "segment.ms": "60000"}))
    assert ask(zookeeper, steps("t", (RETENTION, SET, "5"))) == [Error.NONE]
    assert stored(zookeeper) == {MIN_ISR: "1", "segment.ms": "60000", RETENTION: "5"}


def test_a_topic_that_is_deleted_meanwhile_leaves_no_settings_behind(zookeeper: MemoryZooKeeper) -> None:
    def delete() -> None:
        del zookeeper.nodes[OF_T], zookeeper.nodes[znodes.topic("t")]

    zookeeper.meanwhile = delete
    assert ask(zookeeper, steps("t", (RETENTION, SET, "5"))) == [Error.UNKNOWN_TOPIC_OR_PARTITION]
    assert OF_T not in zookeeper.nodes


@pytest.mark.parametrize("was_made", [True, False])
def test_a_write_in_doubt_is_made_once(zookeeper: MemoryZooKeeper, was_made: bool) -> None:
    zookeeper.breaks.append(was_made)
    assert ask(zookeeper, steps("t", (RETENTION, SET, "5"))) == [Error.NONE]
    assert stored(zookeeper)[RETENTION] == "5"
    assert notified(zookeeper) == ["topics/t"]


def test_of_many_notifications_the_newest_stay(zookeeper: MemoryZooKeeper) -> None:
    for value in range(KEPT + 5):
        assert ask(zookeeper, steps("t", (RETENTION, SET, str(value)))) == [Error.NONE]
    kept = zookeeper.children_of(znodes.CONFIG_CHANGES)
    assert (len(kept), kept[-1]) == (KEPT, f"config_change_{KEPT + 5:010}")


def test_settings_that_cannot_be_read_are_replaced(zookeeper: MemoryZooKeeper) -> None:
    zookeeper.put(OF_T, b"no JSON")
    assert ask(zookeeper, steps("t", (RETENTION, SET, "5"))) == [Error.NONE]
    assert stored(zookeeper) == {RETENTION: "5"}
