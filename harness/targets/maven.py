"""Jars and lists of releases from Maven registries, as Maven reads them: with its mirrors, proxies and settings.

Where there is no Maven, jars come by the Ivy in pyspark.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

from packaging.version import InvalidVersion, Version

from fencepost.harness.cache_folder import cache_folder, cached
from fencepost.harness.errors import InfrastructureError

Coordinates = tuple[str, str, str]
"""Group, artifact and version."""

TIMEOUT_S = 600
NO_VERSION = "[999999,)"
HOMES = {"org.apache.kafka": "KAFKA_HOME", "org.apache.zookeeper": "ZOOKEEPER_HOME"}
"""The variable that names an unpacked release, by Maven group."""
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
"""Colours that Maven writes even into a pipe, if its options say so."""
_REPOSITORY = re.compile(r"Using local repository at (.+)")
_READ = re.compile(r"Downloaded from \S+: \S+/maven-metadata\.xml")


def fetched(name: str, artifacts: Sequence[Coordinates], title: str) -> Path:
    """Return the folder `name` of the cache with the jars of these artifacts and of all that they depend on.

    InfrastructureError if they cannot be fetched, which the jar of the first one proves.
    """
    title = f"{title} {artifacts[0][2]}"
    progress = f"fetching {title} into {cache_folder() / name}"
    return cached(name, progress, lambda folder: _fetch(artifacts, title, folder))


def _fetch(artifacts: Sequence[Coordinates], title: str, folder: Path) -> None:
    group, name, version = artifacts[0]
    proof = f"{name}-{version}.jar"
    problems = []
    for tool in (_maven, _ivy):
        scratch = folder.with_name(tool.__name__.strip("_"))
        scratch.mkdir()
        problem = tool(artifacts, scratch)
        if problem is None and (scratch / "libs" / proof).exists():
            (scratch / "libs").rename(folder)
            return
        problems.append(problem or f"{scratch.name} fetched no {proof}")
    maven = (
        "let Maven reach a repository that has it (~/.m2/settings.xml names a mirror)"
        if shutil.which("mvn")
        else "install Maven (apt-get install maven)"
    )
    raise InfrastructureError(
        f"{title} could not be fetched ({'; '.join(problems)}): check the version, unpack a release and set "
        f"{HOMES[group]} to it, or {maven}"
    )


def _maven(artifacts: Sequence[Coordinates], scratch: Path) -> str | None:
    """Put the jars into `scratch/libs`; return why it failed, or None. So does `_ivy`."""
    maven = shutil.which("mvn")
    if maven is None:
        return "mvn is not on the PATH"
    _write_pom(artifacts, scratch)
    return _failure(
        [maven, "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={scratch / 'libs'}"], scratch
    )


def _ivy(artifacts: Sequence[Coordinates], scratch: Path) -> str | None:
    spark, java = pyspark_jars(), shutil.which("java")
    ivy = next(iter(sorted(spark.glob("ivy-*.jar"))), None) if spark is not None else None
    if ivy is None or java is None:
        return "no Ivy (pyspark is not installed)" if ivy is None else "no java on the PATH"
    dependencies = "".join(
        f'<dependency org="{group}" name="{name}" rev="{version}" force="true" conf="default->default"/>'
        for group, name, version in artifacts
    )
    (scratch / "ivy.xml").write_text(
        '<ivy-module version="2.0"><info organisation="fencepost" module="kafka-jars"/>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>"
    )
    options = ["-cache", str(scratch / "ivy"), "-ivy", str(scratch / "ivy.xml"), "-types", "jar", "bundle"]
    retrieve = ["-retrieve", f"{scratch / 'libs'}/[artifact]-[revision].[ext]"]
    return _failure([java, "-jar", str(ivy), *options, *retrieve], scratch)


def pyspark_jars() -> Path | None:
    """Return the folder of the jars that pyspark brings, which has Ivy and a ZooKeeper server; None without pyspark."""
    spark = find_spec("pyspark")
    return Path(spark.origin).parent / "jars" if spark is not None and spark.origin is not None else None


def published(group: str, name: str) -> list[str]:
    """Return the releases of an artifact in the order of their numbers, without release candidates.

    Maven is asked for a version that there cannot be. It then reads the list of all that there are,
    `maven-metadata.xml`, into its local repository, and fetches nothing else.

    InfrastructureError if there is no Maven, or if it reaches no registry: what it knows from earlier may be old.
    """
    maven = shutil.which("mvn")
    if maven is None:
        raise InfrastructureError("no registry can be asked: mvn is not on the PATH (apt-get install maven)")
    with tempfile.TemporaryDirectory() as scratch:
        _write_pom([(group, name, NO_VERSION)], Path(scratch))
        try:
            _, output = _run([maven, "-B", "-X", "-U", "dependency:copy-dependencies"], Path(scratch))
        except subprocess.TimeoutExpired:
            raise InfrastructureError(f"the registry did not answer Maven within {TIMEOUT_S} s") from None
    repository = _REPOSITORY.search(output)
    if repository is None or not _READ.search(output):
        raise InfrastructureError(
            f"no registry can be asked for the releases of {group}:{name}: {_reason(output)}. Let Maven reach one "
            "(~/.m2/settings.xml names mirrors and proxies)"
        )
    lists = Path(repository[1].strip(), *group.split("."), name).glob("maven-metadata-*.xml")
    texts = {
        (version.text or "").strip()
        for file in lists
        for version in ElementTree.parse(file).iterfind("./versioning/versions/version")
    }
    return sorted(filter(_is_release, texts), key=Version)


def _is_release(text: str) -> bool:
    try:
        return not Version(text).is_prerelease
    except InvalidVersion:
        return False


def _reason(output: str) -> str:
    """Return the first line of Maven's that says what failed."""
    lines = [line for line in output.splitlines() if line.startswith(("[WARNING]", "[ERROR]"))]
    causes = [line for line in lines if "Could not transfer" in line or "offline" in line] or lines
    return causes[0].partition("] ")[2].strip().rstrip(".") if causes else "Maven said nothing"


def _write_pom(artifacts: Sequence[Coordinates], folder: Path) -> None:
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version></dependency>"
        for group, name, version in artifacts
    )
    (folder / "pom.xml").write_text(
        "<project><modelVersion>4.0.0</modelVersion>"
        "<groupId>fencepost</groupId><artifactId>kafka-jars</artifactId><version>1</version>"
        f"<packaging>pom</packaging><dependencies>{dependencies}</dependencies></project>"
    )


def _failure(argv: Sequence[str], folder: Path) -> str | None:
    """Run a command; return None if it succeeded, else the reason that it gave."""
    program = Path(argv[0]).name
    try:
        code, output = _run(argv, folder)
    except subprocess.TimeoutExpired:
        return f"{program} did not end within {TIMEOUT_S} s"
    if code == 0:
        return None
    lines = [line.removeprefix("[ERROR] ") for line in output.splitlines() if line.strip()]
    return f"{program} failed: {lines[0] if lines else f'exit code {code}'}"


def _run(argv: Sequence[str], folder: Path) -> tuple[int, str]:
    """Return the exit code of a command and its output, without colours."""
    done = subprocess.run(
        argv, cwd=folder, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, check=False
    )
    return done.returncode, _ANSI.sub("", done.stdout + done.stderr)
