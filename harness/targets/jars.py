"""Jars in a cache outside the repository, Apache Kafka's by version.

They come from the first of these that has them: `$KAFKA_HOME/libs`, if it holds that version; the cache; Maven; the Ivy
in pyspark.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from fencepost.harness.cache_folder import cache_folder
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.targets.coordinates import Coordinates, coordinates, core_jar, replacements, scala

DOWNLOAD_TIMEOUT = 600
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
"""Colours that Maven writes even into a pipe, if its options say so."""
COMPLETE = "complete"
"""Marker file of a folder whose download is complete."""

HOMES = {"org.apache.kafka": "KAFKA_HOME", "org.apache.zookeeper": "ZOOKEEPER_HOME"}
"""The variable that names an unpacked release, by Maven group."""


SOURCES = "; one is looked for in $KAFKA_HOME/libs, then in the cache, and then fetched with Maven"


def is_at_home(version: str) -> bool:
    """Return whether `$KAFKA_HOME` holds this version, so that it need not be a known release."""
    home = os.environ.get("KAFKA_HOME")
    return home is not None and any((Path(home) / "libs").glob(f"kafka_2.*-{version}.jar"))


def kafka_jars(version: str) -> Path:
    """Return the folder with the jars of this version. One process fetches them if needed, others wait for it."""
    home = os.environ.get("KAFKA_HOME")
    if home:
        libs = Path(home) / "libs"
        if not is_at_home(version):
            raise InfrastructureError(
                f"KAFKA_HOME={home} does not hold Apache Kafka {version}: unset it, or ask for its version"
            )
        return libs
    return fetched(f"kafka-{version}", coordinates(version), core_jar(version), "Apache Kafka")


def class_path(version: str) -> str:
    """Return the class path of a node. Before the jars of an unpacked old release come those that fit today's Java."""
    folders = [kafka_jars(version)]
    if is_at_home(version) and (wanted := replacements(version)):
        _, name, number = wanted[0]
        beside = fetched(f"beside-kafka-{scala(version)}", wanted, f"{name}-{number}.jar", "ZooKeeper's client")
        folders.insert(0, beside)
    return os.pathsep.join(f"{folder}/*" for folder in folders)


def fetched(name: str, wanted: Sequence[Coordinates], proof: str, title: str) -> Path:
    """Return the folder `name` of the cache with these jars and their dependencies.

    `proof` is a jar that has to be in it. InfrastructureError if they cannot be fetched.
    """
    folder = cache_folder() / name
    with locked(folder):
        if not (folder / COMPLETE).exists():
            _fetch(wanted, proof, f"{title} {wanted[0][2]}", folder)
    return folder


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder for the block: one process at a time fills it, the others wait."""
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
    maven = (
        "let Maven reach a repository that has it (~/.m2/settings.xml names a mirror)"
        if shutil.which("mvn")
        else "install Maven (apt-get install maven)"
    )
    raise InfrastructureError(
        f"{title} could not be fetched ({'; '.join(problems)}): check the version, unpack a release and set "
        f"{HOMES[wanted[0][0]]} to it, or {maven}"
    )


def pom(wanted: Sequence[Coordinates]) -> str:
    """Return the project file by which Maven resolves these artifacts."""
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version></dependency>"
        for group, name, version in wanted
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion>"
        "<groupId>fencepost</groupId><artifactId>kafka-jars</artifactId><version>1</version>"
        f"<packaging>pom</packaging><dependencies>{dependencies}</dependencies></project>"
    )


def _maven(wanted: Sequence[Coordinates], scratch: Path) -> str | None:
    maven = shutil.which("mvn")
    if maven is None:
        return "mvn is not on the PATH"
    (scratch / "pom.xml").write_text(pom(wanted))
    return _run([maven, "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={scratch / 'libs'}"], scratch)


def _ivy(wanted: Sequence[Coordinates], scratch: Path) -> str | None:
    spark = find_spec("pyspark")
    jars = Path(spark.origin).parent / "jars" if spark is not None and spark.origin else Path()
    ivy = next(iter(sorted(jars.glob("ivy-*.jar"))), None) if spark else None
    java = shutil.which("java")
    if ivy is None or java is None:
        return "no Ivy (pyspark is not installed)" if ivy is None else "no java on the PATH"
    dependencies = "".join(
        f'<dependency org="{group}" name="{name}" rev="{version}" force="true" conf="default->default"/>'
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
    """Run a command; return None if it succeeded, else the reason that it gave."""
    try:
        done = subprocess.run(
            argv, cwd=folder, capture_output=True, text=True, errors="replace", timeout=DOWNLOAD_TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{Path(argv[0]).name} did not end within {DOWNLOAD_TIMEOUT} s"
    if done.returncode == 0:
        return None
    plain = ANSI.sub("", done.stdout + done.stderr)
    output = [line.removeprefix("[ERROR] ") for line in plain.splitlines() if line.strip()]
    return f"{Path(argv[0]).name} failed: {output[0] if output else f'exit code {done.returncode}'}"
