"""AlterConfigs and IncrementalAlterConfigs on the active controller."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.quorum.controller.settings import alter_configs
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.controller_model import Model

TOPIC, BROKER = 2, 4
SET, DELETE, APPEND = 0, 1, 2
MIN_ISR = "min.insync.replicas"

Step = tuple[str, int, str | None]


@pytest.fixture
def model() -> Model:
    model = Model()
    model.join(4, 5, 6)
    model.topic("t", 4, 5, 6)
    return model


def resource(kind: int, name: str, *steps: Step) -> m.IncrementalAlterConfigsRequest.AlterConfigsResource:
    config = m.IncrementalAlterConfigsRequest.AlterableConfig
    configs = [config(name=key, config_operation=operation, value=value) for key, operation, value in steps]
    return m.IncrementalAlterConfigsRequest.AlterConfigsResource(
        resource_type=kind, resource_name=name, configs=configs
    )


def alter(
    model: Model, *resources: m.IncrementalAlterConfigsRequest.AlterConfigsResource, validate_only: bool = False
) -> list[int]:
    request = m.IncrementalAlterConfigsRequest(resources=list(resources), validate_only=validate_only)
    return [each.error_code for each in model.run(alter_configs(model.state, request)).responses]


@pytest.mark.requirement("K631-64")
def test_a_setting_that_changes_is_one_config_record(model: Model) -> None:
    before = len(model.log)
    assert alter(model, resource(TOPIC, "t", (MIN_ISR, SET, "2"))) == [Error.NONE]
    assert model.log[before:] == [
        m.ConfigRecord(resource_type=TOPIC, resource_name="t", name=MIN_ISR, value="2"),
    ]
    assert model.image.config_of("t") == {MIN_ISR: "2"}


@pytest.mark.requirement("D631-31")
def test_a_setting_that_is_removed_is_a_config_record_without_a_value(model: Model) -> None:
    alter(model, resource(BROKER, "", (MIN_ISR, SET, "2")))
    assert alter(model, resource(BROKER, "", (MIN_ISR, DELETE, None))) == [Error.NONE]
    assert model.log[-1] == m.ConfigRecord(resource_type=BROKER, resource_name="", name=MIN_ISR, value=None)
    assert model.image.broker_configs == {}


def test_a_setting_that_stays_as_it_is_writes_nothing(model: Model) -> None:
    alter(model, resource(TOPIC, "t", (MIN_ISR, SET, "2")))
    before = len(model.log)
    assert alter(model, resource(TOPIC, "t", (MIN_ISR, SET, "2"), ("segment.bytes", DELETE, None))) == [Error.NONE]
    assert len(model.log) == before


def test_a_refused_resource_changes_nothing_and_the_others_are_changed(model: Model) -> None:
    found = alter(
        model,
        resource(TOPIC, "t", (MIN_ISR, SET, "2"), ("no.such.key", SET, "1")),
        resource(BROKER, "4", (MIN_ISR, SET, "3")),
    )
    assert found == [Error.INVALID_CONFIG, Error.NONE]
    assert model.image.config_of("t") == {}
    assert model.image.broker_config_of(4) == {MIN_ISR: "3"}
    assert model.image.broker_config_of(5) == {}


def test_a_brokers_own_setting_is_stronger_than_that_of_all_brokers(model: Model) -> None:
    alter(model, resource(BROKER, "", (MIN_ISR, SET, "2")), resource(BROKER, "4", (MIN_ISR, SET, "3")))
    assert [model.image.broker_config_of(broker)[MIN_ISR] for broker in (4, 5)] == ["3", "2"]


def test_a_request_that_only_validates_writes_nothing(model: Model) -> None:
    before = len(model.log)
    assert alter(model, resource(TOPIC, "t", (MIN_ISR, SET, "2")), validate_only=True) == [Error.NONE]
    assert len(model.log) == before


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (resource(TOPIC, "absent", (MIN_ISR, SET, "2")), Error.UNKNOWN_TOPIC_OR_PARTITION),
        (resource(TOPIC, "t", (MIN_ISR, SET, "0")), Error.INVALID_CONFIG),
        (resource(TOPIC, "t", (MIN_ISR, SET, None)), Error.INVALID_REQUEST),
        (resource(TOPIC, "t", (MIN_ISR, SET, "1"), (MIN_ISR, DELETE, None)), Error.INVALID_REQUEST),
        (resource(TOPIC, "t", (MIN_ISR, APPEND, "1")), Error.INVALID_CONFIG),
        (resource(TOPIC, "t", (MIN_ISR, 9, "1")), Error.INVALID_REQUEST),
        (resource(BROKER, "four", (MIN_ISR, SET, "2")), Error.INVALID_REQUEST),
        (resource(BROKER, "4", ("log.dirs", SET, "/x")), Error.INVALID_CONFIG),
        (resource(BROKER, "4", ("log.segment.bytes", SET, "13")), Error.INVALID_CONFIG),
        (resource(7, "x", (MIN_ISR, SET, "2")), Error.INVALID_REQUEST),
    ],
)
def test_what_cannot_be_set_is_refused(
    model: Model, asked: m.IncrementalAlterConfigsRequest.AlterConfigsResource, error: Error
) -> None:
    before = len(model.log)
    assert alter(model, asked) == [error]
    assert len(model.log) == before


def test_a_resource_that_is_named_twice_is_refused_twice(model: Model) -> None:
    again = resource(TOPIC, "t", (MIN_ISR, SET, "2"))
    assert alter(model, again, again) == [Error.INVALID_REQUEST, Error.INVALID_REQUEST]


def test_alter_configs_replaces_all_settings_of_a_resource(model: Model) -> None:
    alter(model, resource(TOPIC, "t", (MIN_ISR, SET, "2"), ("segment.bytes", SET, "1000")))
    config = m.AlterConfigsRequest.AlterableConfig(name="max.message.bytes", value="5")
    replaced = m.AlterConfigsRequest.AlterConfigsResource(resource_type=TOPIC, resource_name="t", configs=[config])
    reply = model.run(alter_configs(model.state, m.AlterConfigsRequest(resources=[replaced])))
    assert [each.error_code for each in reply.responses] == [Error.NONE]
    assert model.image.config_of("t") == {"max.message.bytes": "5"}
