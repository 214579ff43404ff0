"""A cluster that the harness knows nothing of: a controller and three brokers, started by the test itself.

Clients reach each broker through a forwarder of its own, which can be stopped: that is a broker off its network.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import KafkaError, KafkaException, NewTopic

from fencepost.harness.processes import table

CLUSTER = "7Ld1bGHBQNmE2g3xV0cAyw"
IDS = (111, 112, 113)
NET = "127.9.8"
FRONTS = {id_: f"{NET}.{id_ - 90}" for id_ in IDS}
USER, PASSWORD = "fencepost", "a-password"
WITHIN = 60.0

FORWARD = """\
import asyncio, sys
front, back = sys.argv[1:]
async def copy(reader, writer):
    try:
        while part := await reader.read(65536):
            writer.write(part)
            await writer.drain()
    except OSError:
        pass
    writer.close()
async def serve(reader, writer):
    try:
        onward = await asyncio.open_connection(back, 9092)
    except OSError:
        return writer.close()
    await asyncio.gather(copy(reader, onward[1]), copy(onward[0], writer))
async def main():
    await (await asyncio.start_server(serve, front, 9092)).serve_forever()
asyncio.run(main())
"""
NODE = """\
import os, pathlib, signal, subprocess, sys
verb, name = sys.argv[1:]
def pid(kind):
    return int(pathlib.Path(f"{name}.{kind}").read_text())
def start(kind, *command):
    with open(f"{name}.log", "ab") as log:
        done = subprocess.Popen([sys.executable, *command], stdout=log, stderr=log, start_new_session=True)
    pathlib.Path(f"{name}.{kind}").write_text(str(done.pid))
match verb:
    case "start":
        start("broker", "-m", "fencepost.cluster_impl", f"{name}.properties")
    case "wake":
        start("broker", "-m", "fencepost.cluster_impl", f"{name}.properties")
        os.kill(pid("forwarder"), signal.SIGCONT)
    case "vanish":
        os.kill(pid("forwarder"), signal.SIGSTOP)
        os.kill(pid("broker"), signal.SIGKILL)
    case "forward":
        start("forwarder", "forward.py", *pathlib.Path(f"{name}.front").read_text().split())
    case "cut":
        os.kill(pid("forwarder"), signal.SIGSTOP)
    case "heal":
        os.kill(pid("forwarder"), signal.SIGCONT)
    case _:
        os.kill(pid("broker"), getattr(signal, verb))
"""
TARGET = f"""\
name: ours
title: three brokers of ours
version: "1"
dialect: clients
brokers: {{ids: {list(IDS)}}}
promises: {{survives: kill}}
workloads: {{groups: null, transactions: null}}
timeout_factor: 6
running:
  bootstrap: ["{FRONTS[111]}:9092", "{FRONTS[112]}:9092"]
  security: {{protocol: SASL_SSL, mechanism: SCRAM-SHA-512, user: {USER}, password_from: OUR_PASSWORD, ca: ca.pem}}
  commands:
    kill: {sys.executable} node.py SIGKILL {{{{ name }}}}
    stop: {sys.executable} node.py SIGTERM {{{{ name }}}}
    start: {sys.executable} node.py start {{{{ name }}}}
    cut: {sys.executable} node.py cut {{{{ name }}}}
    heal: {sys.executable} node.py heal {{{{ name }}}}
"""
VANISHES = TARGET.replace("node.py SIGKILL", "node.py vanish").replace("node.py start", "node.py wake")


@contextmanager
def running(folder: Path) -> Iterator[AdminClient]:
    """Start the cluster in this folder, where its target file finds its commands; yield an administrator's client."""
    _write_files(folder)
    try:
        for name in ("controller", *(f"broker-{id_}" for id_ in IDS)):
            _do(folder, "start", name)
        for id_ in IDS:
            _do(folder, "forward", f"broker-{id_}")
        admin = AdminClient(
            {
                "bootstrap.servers": f"{FRONTS[111]}:9092",
                "security.protocol": "SASL_SSL",
                "ssl.ca.location": str(folder / "ca.pem"),
                "sasl.mechanism": "SCRAM-SHA-512",
                "sasl.username": USER,
                "sasl.password": PASSWORD,
                "log_level": 0,
            }
        )
        _await_topic(admin)
        yield admin
    finally:
        for file in [*folder.glob("*.broker"), *folder.glob("*.forwarder")]:
            with suppress(ProcessLookupError, ValueError):
                identity = table.identify(int(file.read_text()))
                if identity is not None:
                    table.end(identity)


def topics(admin: AdminClient) -> set[str]:
    return {name for name in admin.list_topics(timeout=WITHIN).topics if not name.startswith("__")}


def _do(folder: Path, verb: str, name: str) -> None:
    subprocess.run([sys.executable, "node.py", verb, name], cwd=folder, check=True)


def _await_topic(admin: AdminClient) -> None:
    """Create a topic on all brokers, once they are there."""
    deadline = time.monotonic() + WITHIN
    while True:
        try:
            admin.create_topics([NewTopic("theirs", 1, len(IDS))], request_timeout=5)["theirs"].result()
        except KafkaException as error:
            if error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:  # an answer came late
                return
            assert time.monotonic() < deadline, f"the brokers do not find each other: {error}"
            time.sleep(0.2)
        else:
            return


def _write_files(folder: Path) -> None:
    import trustme

    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    issued = authority.issue_cert(*FRONTS.values())
    issued.private_key_and_cert_chain_pem.write_to_path(str(folder / "key.pem"))
    (folder / "hosts").write_text(f"127.0.0.1 localhost\n{NET}.1 controller\n")
    (folder / "forward.py").write_text(FORWARD)
    (folder / "node.py").write_text(NODE)
    (folder / "ours.yaml").write_text(TARGET)
    (folder / "vanishes.yaml").write_text(VANISHES)
    _write(folder, "controller", _controller())
    for id_ in IDS:
        back = f"{NET}.{id_ - 100}"
        (folder / f"broker-{id_}.front").write_text(f"{FRONTS[id_]} {back}")
        _write(folder, f"broker-{id_}", _broker(id_, back))


def _write(folder: Path, name: str, properties: Mapping[str, Any]) -> None:
    lines = (f"{key}={value}\n" for key, value in properties.items())
    (folder / f"{name}.properties").write_text("".join(lines))


def _of_all() -> dict[str, Any]:
    return {
        "cluster.id": CLUSTER,
        "controller.connect": "1@controller:9091",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT,CLIENT:SASL_SSL",
        "controller.listeners": "CONTROLLER",
        "hosts.file": "hosts",
        "registration.lease.timeout.ms": 9000,
    }


def _controller() -> dict[str, Any]:
    return {
        **_of_all(),
        "process.roles": "controller",
        "listeners": f"CONTROLLER://{NET}.1:9091",
        "controller.id": 1,
        "log.dirs": "controller-data",
    }


def _broker(id_: int, back: str) -> dict[str, Any]:
    module = f'org.apache.kafka.common.security.scram.ScramLoginModule required user_{USER}="{PASSWORD}";'
    return {
        **_of_all(),
        "process.roles": "broker",
        "listeners": f"INTERNAL://{back}:9090,CLIENT://{back}:9092",
        "advertised.listeners": f"CLIENT://{FRONTS[id_]}:9092",
        "broker.id": id_,
        "inter.broker.listener.name": "INTERNAL",
        "log.dirs": f"data-{id_}",
        "ssl.keystore.location": "key.pem",
        "ssl.truststore.location": "ca.pem",
        "sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.client.scram-sha-512.sasl.jaas.config": module,
    }
