"""Programs of others that the harness starts: each is started, and asked for its version or a service."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from fencepost.harness.doctor.mechanism import Unavailable, output
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.network.server import (
    MESSAGES_REMEDY,
    NoToxiproxy,
    await_version,
    find_toxiproxy,
    server_command,
    without_messages,
)
from fencepost.harness.network.toxiproxy import Toxiproxy
from fencepost.harness.targets.maven import pyspark_jars
from fencepost.harness.targets.zookeeper import ZooKeeperServers, serves
from fencepost.harness.targets.zookeeper_jars import found_jars

SPARK_SECONDS = 120.0
"""A JVM that loads Spark's jars: seconds of processor time, and many times that on a busy machine."""


def toxiproxy() -> str:
    """Start the server that runs would use, on a free port, and ask its version."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            api = Endpoint(*probe.getsockname())
        command = server_command(api)
        server = subprocess.Popen(
            command.argv,
            env={**os.environ, **command.environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            version = await_version(Toxiproxy(api), lambda: server.poll() is None)
        finally:
            server.kill()
            server.wait()
    except NoToxiproxy as error:
        raise Unavailable(error.what) from error
    unknown = " (its version is 'git': it was built without -ldflags, so its release is not known)"
    return f"{version}, {command.argv[0]}, answered on {api}{unknown if version == 'git' else ''}"


def messages() -> str:
    """Check that the server that runs would use has toxics for single messages."""
    if reason := without_messages():
        raise Unavailable(reason.removesuffix(f": get it {MESSAGES_REMEDY}"))
    return f"{find_toxiproxy()} knows the messages of Kafka"


def java() -> str:
    """Check that Java reports version 17 or newer."""
    text = output("java", "-version")
    match = re.search(r'version "(\d+)([^"]*)"', text)
    if match is None or int(match[1]) < 17:
        raise Unavailable(f"{shutil.which('java')} says {text.splitlines()[0]!r}; 17 or newer is needed")
    return f"{match[1]}{match[2]}, {shutil.which('java')}"


def _spark_jars() -> Path:
    jars = pyspark_jars()
    if jars is None:
        raise Unavailable("the package pyspark is not installed")
    return jars


def resolver() -> str:
    """Find a source of Apache Kafka's jars: KAFKA_HOME, Maven, or the Ivy in pyspark."""
    home = os.environ.get("KAFKA_HOME")
    if home and list(Path(home, "libs").glob("kafka_2.13-*.jar")):
        return f"KAFKA_HOME={home} holds the jars"
    try:
        return output("mvn", "--version").splitlines()[0]
    except Unavailable as no_maven:
        ivy = sorted(_spark_jars().glob("ivy-*.jar"))
        if not ivy:
            raise Unavailable(f"{no_maven}, and pyspark carries no Ivy") from None
        java()
        return f"Ivy inside pyspark, {ivy[0].name}"


def zookeeper() -> str:
    """Start a server from the jars that runs use, and check that it accepts sessions."""
    jars = found_jars()
    if jars is None:
        raise Unavailable("no jars of it: no ZOOKEEPER_HOME, no pyspark, no Debian package; Maven would fetch them")
    java()
    with tempfile.TemporaryDirectory() as folder, ZooKeeperServers(jars).standalone(Path(folder)) as endpoint:
        if not serves(endpoint):
            raise Unavailable(f"a server from {jars.origin} was started and did not serve")
    return f"a server from {jars.origin} served"


def docker_engine() -> str:
    """Check that a Docker engine answers; an installed client alone does not count."""
    import docker  # optional dependency

    try:
        client = docker.from_env(timeout=5)
    except docker.errors.DockerException as error:
        where = os.environ.get("DOCKER_HOST", "/var/run/docker.sock")
        forbidden = "Permission denied" in str(error)
        remedy = f"allow this user to use {where}: add it to the group docker, and log in again" if forbidden else None
        raise Unavailable(f"no engine answered at {where}: {error}", remedy) from None
    try:
        return f"engine {client.version()['Version']} answered"
    finally:
        client.close()


def spark() -> str:
    """Let Spark print its version, on the Java that jobs use."""
    jars = _spark_jars()
    text = output("java", "-cp", f"{jars}/*", "org.apache.spark.deploy.SparkSubmit", "--version", seconds=SPARK_SECONDS)
    match = re.search(r"version (\d[\d.]*)", text)
    if match is None:
        raise Unavailable(f"Spark started and printed no version: {text[-120:]}")
    return f"{match[1]}, {jars.parent}"
