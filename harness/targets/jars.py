"""Jars in a cache outside the repository, Apache Kafka's by version.

In this order: `$KAFKA_HOME/libs` if it holds that version; the cache; Maven; the Ivy that pyspark brings along.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from harness.errors import InfrastructureError

DOWNLOAD_TIMEOUT = 600
COMPLETE = "complete"
"""Marker file: everything of this folder was fetched."""

HOMES = {"org.apache.kafka": "KAFKA_HOME", "org.apache.zookeeper": "ZOOKEEPER_HOME"}
"""Where an unpacked release is named, by group."""

Coordinates = tuple[str, str, str]


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "fencepost"


def major_minor(version: str) -> tuple[int, int]:
    """`4.3.1` as (4, 3). Raises InfrastructureError for what is not a Kafka version."""
    parts = version.split(".")
    if len(parts) < 2 or not all(part.isdigit() for part in parts[:2]):
        raise InfrastructureError(f"{version!r} is no version of Apache Kafka: give one like 4.3.1")
    return int(parts[0]), int(parts[1])


def kafka_jars(version: str) -> Path:
    """The folder with the jars of this version; fetched if need be, once, whoever else wants them now."""
    home = os.environ.get("KAFKA_HOME")
    if home:
        libs = Path(home) / "libs"
        if not list(libs.glob(f"kafka_2.*-{version}.jar")):
            raise InfrastructureError(
                f"KAFKA_HOME={home} does not hold Apache Kafka {version}: unset it, or ask for its version"
            )
        return libs
    return fetched(f"kafka-{version}", _coordinates(version), f"kafka_2.13-{version}.jar", "Apache Kafka")


def fetched(name: str, wanted: Sequence[Coordinates], proof: str, title: str) -> Path:
    """The folder `name` of the cache with these jars and what they depend on; `proof` is one that has to be there."""
    folder = cache_folder() / name
    with locked(folder):
        if not (folder / COMPLETE).exists():
            _fetch(wanted, proof, f"{title} {wanted[0][2]}", folder)
    return folder


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One process at a time makes what belongs into this folder; the others wait."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(folder.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(wanted: Sequence[Coordinates], proof: str, title: str, folder: Path) -> None:
    print(f"fetching {title} into {folder}", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    problems = []
    for tool in (_maven, _ivy):
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            problem = tool(wanted, Path(scratch))
            jars = Path(scratch) / "libs"
            if problem is None and (jars / proof).exists():
                (jars / COMPLETE).touch()
                jars.rename(folder)
                return
            problems.append(problem or f"{tool.__name__.strip('_')} fetched no {proof}")
    raise InfrastructureError(
        f"{title} could not be fetched ({'; '.join(problems)}): unpack a release and set {HOMES[wanted[0][0]]} to it, "
        "or install Maven (apt-get install maven)"
    )


def _coordinates(version: str) -> Sequence[Coordinates]:
    """Kafka and a logger for it: log4j2 since 4.0, reload4j before."""
    kafka = ("org.apache.kafka", "kafka_2.13", version)
    if major_minor(version) >= (4, 0):
        log4j = "org.apache.logging.log4j"
        return kafka, (log4j, "log4j-core", "2.24.3"), (log4j, "log4j-slf4j-impl", "2.24.3")
    return kafka, ("org.slf4j", "slf4j-reload4j", "1.7.36")


def _maven(wanted: Sequence[Coordinates], scratch: Path) -> str | None:
    maven = shutil.which("mvn")
    if maven is None:
        return "mvn is not on the PATH"
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version></dependency>"
        for group, name, version in wanted
    )
    (scratch / "pom.xml").write_text(
        "<project><modelVersion>4.0.0</modelVersion>"
        "<groupId>fencepost</groupId><artifactId>kafka-jars</artifactId><version>1</version>"
        f"<packaging>pom</packaging><dependencies>{dependencies}</dependencies></project>"
    )
    return _run([maven, "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={scratch / 'libs'}"], scratch)


def _ivy(wanted: Sequence[Coordinates], scratch: Path) -> str | None:
    spark = find_spec("pyspark")
    jars = Path(spark.origin).parent / "jars" if spark is not None and spark.origin else Path()
    ivy = next(iter(sorted(jars.glob("ivy-*.jar"))), None) if spark else None
    java = shutil.which("java")
    if ivy is None or java is None:
        return "no Ivy (pyspark is not installed)" if ivy is None else "no java on the PATH"
    dependencies = "".join(
        f'<dependency org="{group}" name="{name}" rev="{version}" conf="default->default"/>'
        for group, name, version in wanted
    )
    (scratch / "ivy.xml").write_text(
        '<ivy-module version="2.0"><info organisation="fencepost" module="kafka-jars"/>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>"
    )
    options = ["-cache", str(scratch / "ivy"), "-ivy", str(scratch / "ivy.xml"), "-types", "jar", "bundle"]
    retrieve = ["-retrieve", f"{scratch / 'libs'}/[artifact]-[revision].[ext]"]
    return _run([java, "-jar", str(ivy), *options, *retrieve], scratch)


def _run(argv: Sequence[str], folder: Path) -> str | None:
    """None if it worked, else what it said last."""
    try:
        done = subprocess.run(
            argv, cwd=folder, capture_output=True, text=True, errors="replace", timeout=DOWNLOAD_TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{Path(argv[0]).name} did not end within {DOWNLOAD_TIMEOUT} s"
    if done.returncode == 0:
        return None
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return f"{Path(argv[0]).name} failed: {said[0] if said else f'exit code {done.returncode}'}"
