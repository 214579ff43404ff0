"""The codec against Apache Kafka itself, for the requests that its controllers in ZooKeeper sent.

Their definitions are in the jar of the last release that had such controllers.
"""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fencepost.cluster_impl.wire.messages import DEFINITIONS
from fencepost.cluster_impl.wire.schema import Definition, StructDefinition, Versions
from fencepost.harness.targets.jars import kafka_jars
from tests.cluster_impl.wire.random_messages import random_message

OF_CONTROLLERS_IN_ZOOKEEPER = {"LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown"}
VERSION = "3.9.1"
TRIES = 30
OUR_OWN_TAG = 1000
REENCODE = Path(__file__).with_name("Reencode.java")

COMPARED = [
    definition
    for definition in DEFINITIONS
    if definition.name.removesuffix("Request").removesuffix("Response") in OF_CONTROLLERS_IN_ZOOKEEPER
]


@pytest.fixture(scope="module")
def jars() -> Path:
    return kafka_jars(VERSION)


@pytest.mark.integration
def test_apache_kafka_reads_what_we_write_and_writes_the_same_bytes(jars: Path) -> None:
    random = Random(VERSION)
    lines = [
        f"{definition.name} {version} {random_message(definition, version, random).encode(version).hex()}"
        for definition in COMPARED
        for version in range(definition.versions.low, definition.versions.high + 1)
        for _ in range(TRIES)
    ]
    java = subprocess.run(
        ["java", "-Xshare:auto", "-cp", f"{jars}/*", str(REENCODE)],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert java.returncode == 0, java.stderr
    ours = [line.split(" ")[2] for line in lines]
    assert java.stdout.splitlines() == ours


@pytest.mark.integration
@pytest.mark.parametrize("definition", COMPARED, ids=lambda definition: definition.name)
def test_apache_kafka_has_the_same_fields_in_the_same_versions(jars: Path, definition: Definition) -> None:
    theirs = _theirs(jars, definition.name)
    assert Versions.parse(theirs["validVersions"]) == definition.versions
    assert Versions.parse(theirs["flexibleVersions"]) == definition.flexible
    assert theirs["apiKey"] == definition.api_key
    assert dict(_our_structs(definition)) == dict(_their_structs(theirs))


def _theirs(jars: Path, name: str) -> dict[str, Any]:
    with zipfile.ZipFile(jars / f"kafka-clients-{VERSION}.jar") as jar:
        text = jar.read(f"common/message/{name}.json").decode()
    definition: dict[str, Any] = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    return definition


Fields = list[tuple[str, str, Versions, Versions, Versions, int]]


def _our_structs(definition: Definition) -> Iterator[tuple[str, Fields]]:
    for struct in (*definition.structs, definition.root):
        yield struct.name, _our_fields(struct)


def _our_fields(struct: StructDefinition) -> Fields:
    return [
        (
            each.name.lower(),
            ("[]" if each.is_array else "") + (each.struct.name if each.struct else each.type),
            each.versions,
            each.nullable,
            each.tagged,
            each.tag,
        )
        for each in struct.fields
        if each.tag != OUR_OWN_TAG
    ]


def _their_structs(theirs: dict[str, Any]) -> Iterator[tuple[str, Fields]]:
    fields = []
    for each in theirs["fields"]:
        fields.append(
            (
                each["name"].lower(),
                each["type"],
                Versions.parse(each["versions"]),
                Versions.parse(each.get("nullableVersions", "none")),
                Versions.parse(each.get("taggedVersions", "none")),
                each.get("tag", -1),
            )
        )
        if "fields" in each:
            yield from _their_structs({"name": each["type"].removeprefix("[]"), "fields": each["fields"]})
    yield theirs["name"], fields
    for common in theirs.get("commonStructs", ()):
        yield from _their_structs(common)
