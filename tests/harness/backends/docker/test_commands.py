"""The command line of a node, translated for an image."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fencepost.harness.backends.docker import images
from fencepost.harness.backends.docker.commands import contained
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.processes.command import Command
from fencepost.harness.targets.registry import load_file
from fencepost.harness.targets.target import FILES, Target
from fencepost.harness.targets.upgrade import UpgradedTarget
from tests.harness.targets.test_target import BROKER

NOT_USED = cast("Any", None)


@pytest.fixture(autouse=True)
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is fetched for a test."""
    wheel = tmp_path / "kazoo-2.11.0-py2.py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    monkeypatch.setattr("fencepost.harness.backends.docker.wheels.wheels", lambda: [wheel])
    images.reference_image.cache_clear()
    yield
    images.reference_image.cache_clear()


def _jars(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).write_bytes(b"a jar")
    return folder


def test_a_node_of_the_reference_cluster_is_run_by_the_python_of_its_image() -> None:
    inside = contained(
        Command([sys.executable, "-m", "fencepost.cluster_impl", "/runs/1/nodes/node-4/node.properties"])
    )
    assert inside.argv == ("python3", "-m", "fencepost.cluster_impl", "/runs/1/nodes/node-4/node.properties")
    assert inside.image.kind == "reference"
    assert "code/fencepost/cluster_impl/__main__.py" in inside.image.context


def test_an_image_that_is_only_described_fetches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something is fetched")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("fencepost.harness.backends.docker.wheels._fetch", refuse)
    command = Command([sys.executable, "-m", "fencepost.cluster_impl", "node.properties"])
    context = contained(command, fetch=False).image.context
    [place] = [place for place in context if place.startswith("wheels/")]
    assert place == "wheels/requirements.txt"
    assert re.search(r"^kazoo==\d", context[place].read_text(), re.MULTILINE)


@pytest.mark.parametrize("given", ["kazoo.whl", "requirements.txt"])
def test_the_image_unpacks_its_wheels_and_fetches_only_those_that_are_named(tmp_path: Path, given: str) -> None:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / given).touch()
    python = tmp_path / "python3"
    python.write_text(
        f'#!/bin/sh\necho "$2" "$3" >> {tmp_path}/calls\n[ "$2" = pip ] && touch {tmp_path}/wheels/fetched.whl\ntrue\n'
    )
    python.chmod(0o755)
    dockerfile = (images.DOCKERFILES / "reference" / "Dockerfile").read_text().replace("\\\n", "")
    [script] = [line for line in dockerfile.splitlines() if line.startswith("RUN") and "/tmp/wheels" in line]
    done = subprocess.run(
        ["sh", "-ec", script.removeprefix("RUN ").replace("/tmp/wheels", f"{tmp_path}/wheels")],
        env={"PATH": f"{tmp_path}:/bin:/usr/bin"},
        check=False,
    )
    assert done.returncode == 0
    fetched = ["pip download"] if given == "requirements.txt" else []
    assert (tmp_path / "calls").read_text().splitlines() == [*fetched, "zipfile -e", "compileall -q"]


def test_a_program_that_wraps_the_reference_cluster_brings_its_package_along() -> None:
    inside = contained(Command([sys.executable, "-m", "tests.mutants.run", "node.properties"]))
    assert {"code/tests/__init__.py", "code/tests/mutants/run.py", "code/fencepost/cluster_impl/__main__.py"} <= set(
        inside.image.context
    )
    assert "code/tests/faults/fake.py" not in inside.image.context


def test_a_jvm_finds_its_jars_its_logging_and_its_classes_in_the_image(tmp_path: Path) -> None:
    jars = _jars(tmp_path / "libs", "kafka_2.13-3.9.1.jar", "slf4j-api-1.7.36.jar")
    inside = contained(
        Command(
            [
                *("java", "-Xmx256m", f"-Dlog4j.configuration=file:{FILES / 'log4j.properties'}", "-cp", f"{jars}/*"),
                *("-Djdk.net.hosts.file=/runs/1/nodes/node-4/hosts", "-XX:SharedArchiveFile=/home/me/classes.jsa"),
                *("kafka.Kafka", "/runs/1/nodes/node-4/node.properties"),
            ]
        )
    )
    assert inside.argv == (
        *("java", "-XX:SharedArchiveFile=/opt/archive/classes.jsa", "-Xmx256m"),
        *("-Dlog4j.configuration=file:/opt/fencepost/log4j.properties", "-cp", "/opt/jars/*"),
        *("-Djdk.net.hosts.file=/runs/1/nodes/node-4/hosts", "kafka.Kafka", "/runs/1/nodes/node-4/node.properties"),
    )
    assert (inside.image.kind, inside.image.arguments) == ("apache-kafka", (("KAFKA_VERSION", "3.9.1"),))
    assert {"jars/kafka_2.13-3.9.1.jar", "jars/slf4j-api-1.7.36.jar"} <= set(inside.image.context)


def test_a_zookeeper_server_has_an_image_of_its_own_wherever_its_jars_come_from(tmp_path: Path) -> None:
    jars = _jars(tmp_path / "libs", "zookeeper-3.9.5.jar", "jute-3.9.5.jar")
    class_path = f"{jars / 'zookeeper-3.9.5.jar'}:{jars / 'jute-3.9.5.jar'}"
    main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
    image = contained(Command(["java", "-cp", class_path, main, "zoo.cfg"])).image
    assert image.kind == "zookeeper"
    assert [place for place in image.context if place.startswith("jars/")] == [
        "jars/zookeeper-3.9.5.jar",
        "jars/jute-3.9.5.jar",
    ]


def test_what_there_is_no_image_for_is_refused_with_the_way_out() -> None:
    with pytest.raises(UsageError, match=r"sleep cannot be run in a container.*use --backend process"):
        contained(Command(["sleep", "60"]))


def test_a_jar_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match=r"missing\.jar is not there"):
        contained(Command(["java", "-cp", str(tmp_path / "missing.jar"), "kafka.Kafka"]))


def test_a_node_that_is_upgraded_is_started_in_the_image_of_the_other_release(tmp_path: Path) -> None:
    def driver(version: str) -> Target:
        jars = _jars(tmp_path / version, f"kafka_2.13-{version}.jar")
        command = Command(["java", "-cp", f"{jars}/*", "kafka.Kafka", "node.properties"])
        return cast("Target", SimpleNamespace(version=version, ids=None, command=lambda *_: command))

    old, new = driver("3.9.1"), driver("4.3.1")
    target = UpgradedTarget(load_file("apache-kafka"), "3.9.1..4.3.1", old, new)
    starts = [target.command(replace(BROKER, release=each), NOT_USED) for each in ("old", "new", "old")]
    images_of_starts = [contained(each).image for each in starts]
    assert [each.title for each in images_of_starts] == [f"Apache Kafka {each.version}" for each in starts]
    assert images_of_starts[0].tag("base") == images_of_starts[2].tag("base") != images_of_starts[1].tag("base")
