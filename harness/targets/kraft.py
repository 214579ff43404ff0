"""Apache Kafka in KRaft mode, from plain jars."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Collection
from pathlib import Path

from harness.backends.process import Command
from harness.errors import InfrastructureError
from harness.network.layout import Layout, Node
from harness.targets import listeners
from harness.targets.jars import cache_folder, kafka_jars, locked, major_minor
from harness.targets.readiness import unready
from harness.targets.target import FILES, Installation, TargetFile, new_uuid, write_properties

METADATA_TOPIC = "__cluster_metadata"
CONTROLLERS_ADVERTISE = (3, 9)
"""From here on controllers hand out the address of their listener, past all links, unless told a name; before, they
refuse to be told."""
FORMAT_TIMEOUT = 120
SMALL_JVM = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]


class ApacheKafka:
    def __init__(self, file: TargetFile, version: str) -> None:
        major_minor(version)
        self.file = file
        self.version = version

    def prepare(self) -> None:
        if shutil.which("java") is None:
            raise InfrastructureError("there is no java on the PATH: apt-get install openjdk-17-jre-headless")
        self._template()

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        layout = installation.layout
        properties = {
            "process.roles": ",".join(sorted(node.roles)),
            "node.id": str(node.id),
            "controller.quorum.voters": listeners.voters(layout),
            "listeners": listeners.listeners(node),
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": listeners.SECURITY,
            "log.dirs": str(installation.data(node)),
        }
        if node.is_broker:
            properties["inter.broker.listener.name"] = "INTERNAL"
        if node.is_broker or major_minor(self.version) >= CONTROLLERS_ADVERTISE:
            properties["advertised.listeners"] = listeners.advertised_listeners(node, layout)
        return properties | self.file.properties(node, installation.timing)

    def format(self, node: Node, installation: Installation) -> None:
        """Copy the directory that StorageTool formatted once, under this node's and this cluster's own ids."""
        data = installation.data(node)
        shutil.copytree(self._template(), data)
        write_properties(
            data / "meta.properties",
            {
                "version": "1",
                "cluster.id": installation.cluster_id,
                "node.id": str(node.id),
                "directory.id": new_uuid(),
            },
        )

    def command(self, node: Node, installation: Installation) -> Command:
        flags = [f"-Djdk.net.hosts.file={installation.hosts(node)}", "-Djava.net.preferIPv4Stack=true"]
        return Command(self._java(*flags, "kafka.Kafka", str(installation.properties(node))))

    def unready(self, nodes: Collection[Node], layout: Layout) -> str | None:
        return unready(nodes, layout, METADATA_TOPIC)

    def _java(self, *arguments: str) -> list[str]:
        if major_minor(self.version) >= (4, 0):
            logging = f"-Dlog4j2.configurationFile={FILES / 'log4j2.properties'}"
        else:
            logging = f"-Dlog4j.configuration=file:{FILES / 'log4j.properties'}"
        return ["java", *SMALL_JVM, logging, "-cp", f"{kafka_jars(self.version)}/*", *arguments]

    def _template(self) -> Path:
        """A data directory formatted by this version's StorageTool: seconds of a JVM, so it is made once."""
        folder = cache_folder() / f"formatted-{self.version}"
        with locked(folder):
            if not folder.exists():
                self._format(folder)
        return folder

    def _format(self, folder: Path) -> None:
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            data, properties = Path(scratch) / "data", Path(scratch) / "node.properties"
            write_properties(
                properties,
                {
                    "process.roles": "controller",
                    "node.id": "1",
                    "controller.quorum.voters": "1@localhost:9090",
                    "listeners": "CONTROLLER://localhost:9090",
                    "controller.listener.names": "CONTROLLER",
                    "log.dirs": str(data),
                },
            )
            done = subprocess.run(
                self._java("kafka.tools.StorageTool", "format", "-t", new_uuid(), "-c", str(properties)),
                capture_output=True,
                text=True,
                timeout=FORMAT_TIMEOUT,
                check=False,
            )
            if done.returncode != 0 or not (data / "meta.properties").is_file():
                raise InfrastructureError(
                    f"the StorageTool of Apache Kafka {self.version} could not format a directory: "
                    f"{(done.stderr or done.stdout).strip()[-2000:]}"
                )
            data.rename(folder)
