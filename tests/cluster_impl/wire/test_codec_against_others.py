"""The codec against two that were written by others: same bytes for every message and version that both know.

Neither knows the requests that a controller sends to brokers; `test_codec_against_apache_kafka` does that.
"""

from __future__ import annotations

import dataclasses
import importlib
import io
import pkgutil
import warnings
from collections.abc import Iterator
from random import Random
from types import ModuleType
from typing import Any

import pytest
from kio.serial import entity_reader, entity_writer

from fencepost.cluster_impl.wire.messages import DEFINITIONS
from fencepost.cluster_impl.wire.registry import KAFKA, LEADER_DRIVEN_BROKER, QUORUM_CONTROLLER, ZK_BROKER
from fencepost.cluster_impl.wire.schema import Definition, StructDefinition, snake_case
from tests.cluster_impl.wire.random_messages import random_message
from tests.cluster_impl.wire.test_codec_against_apache_kafka import OF_CONTROLLERS_IN_ZOOKEEPER

DRAFTS = {
    *("BrokerHeartbeat", "ControllerHeartbeat", "AlterIsr"),
    *("MetadataHeartbeat", "IsrChange", "ReplicaStateEvent"),
}
TRIES = 10
RENAMED_SINCE_KIP_595 = {
    ("VoteRequest", "candidate_epoch"): "replica_epoch",
    ("VoteRequest", "candidate_id"): "replica_id",
}


def _subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    for subclass in type.__subclasses__(cls):
        yield subclass
        yield from _subclasses(subclass)


def _kafka_python_classes() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about how it loads its own files
        package = importlib.import_module("kafka.protocol")
        for module in pkgutil.walk_packages(package.__path__, "kafka.protocol."):
            if not module.name.startswith("kafka.protocol.old") and not module.name.endswith("generate_stubs"):
                importlib.import_module(module.name)
        base = importlib.import_module("kafka.protocol.api_message").ApiMessage
    return {cls.__name__: cls for cls in _subclasses(base)}


def _kio_module(definition: Definition, version: int) -> ModuleType:
    api = definition.name.removesuffix("Request").removesuffix("Response")
    return importlib.import_module(f"kio.schema.{snake_case(api)}.v{version}.{definition.kind}")


SHIPPED = [
    definition
    for definition in DEFINITIONS
    if definition.kind in ("request", "response")
    and definition.name.removesuffix("Request").removesuffix("Response") not in DRAFTS | OF_CONTROLLERS_IN_ZOOKEEPER
]
KAFKA_PYTHON = _kafka_python_classes()


def versions(definition: Definition) -> range:
    return range(definition.versions.low, definition.versions.high + 1)


def test_every_api_that_is_served_is_compared_or_a_draft() -> None:
    registries = (KAFKA, QUORUM_CONTROLLER, ZK_BROKER, LEADER_DRIVEN_BROKER)
    served = {api.name for registry in registries for api in registry.values()}
    compared = {definition.name.removesuffix("Request") for definition in SHIPPED} | OF_CONTROLLERS_IN_ZOOKEEPER
    assert served - DRAFTS <= compared


@pytest.mark.parametrize("definition", SHIPPED, ids=lambda definition: definition.name)
def test_kio_reads_what_we_write_and_writes_the_same_bytes(definition: Definition) -> None:
    random = Random(definition.name)
    for version in versions(definition):
        kio_class = getattr(_kio_module(definition, version), definition.name)
        for _ in range(TRIES):
            encoded = random_message(definition, version, random).encode(version)
            entity, size = entity_reader(kio_class)(encoded, 0)
            assert size == len(encoded)
            buffer = io.BytesIO()
            entity_writer(kio_class)(buffer, entity)
            assert buffer.getvalue() == encoded


@pytest.mark.parametrize("definition", SHIPPED, ids=lambda definition: definition.name)
def test_kio_has_the_same_fields_in_the_same_order(definition: Definition) -> None:
    for version in versions(definition):
        module = _kio_module(definition, version)
        for struct, expected in _reachable(definition, definition.root, version):
            theirs = [field.name.removesuffix("_ms") for field in dataclasses.fields(getattr(module, struct.name))]
            assert theirs == expected, f"{definition.name} v{version} {struct.name}"


def _reachable(
    definition: Definition, struct: StructDefinition, version: int
) -> Iterator[tuple[StructDefinition, list[str]]]:
    """The structs that a version carries, with the names of their fields as kio has them."""
    names = []
    for field in struct.fields:
        if version in field.versions:
            name = RENAMED_SINCE_KIP_595.get((definition.name, field.attribute), field.attribute)
            names.append(name.removesuffix("_ms"))
            if field.struct:
                yield from _reachable(definition, field.struct, version)
    yield struct, names


@pytest.mark.parametrize(
    "definition",
    [definition for definition in SHIPPED if definition.name in KAFKA_PYTHON],
    ids=lambda definition: definition.name,
)
def test_kafka_python_reads_what_we_write_and_writes_the_same_bytes(definition: Definition) -> None:
    random = Random(definition.name)
    theirs = KAFKA_PYTHON[definition.name]
    for version in versions(definition):
        for _ in range(TRIES):
            message = random_message(definition, version, random)
            if definition.name == "ApiVersionsResponse":
                message.error_code = 0  # type: ignore[attr-defined]  # with any other, it expects version 0
            encoded = message.encode(version)
            decoded = theirs.decode(encoded, version=version)
            decoded._header = None
            assert decoded.encode(version=version) == encoded
