"""The sources of Apache Kafka's jars, with stand-ins for Maven and Ivy."""

import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.harness.cache_folder import COMPLETE
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.targets.jars import class_path, coordinates, kafka_jars, major_minor

MAVEN = """#!{python}
import pathlib, sys, time
calls = pathlib.Path({calls!r})
calls.write_text(calls.read_text() + "x" if calls.exists() else "x")
time.sleep({pause})
out = next(each.split("=", 1)[1] for each in sys.argv if each.startswith("-DoutputDirectory="))
pathlib.Path(out).mkdir()
if {works}:
    (pathlib.Path(out) / "kafka_2.13-9.9.9.jar").touch()
else:
    print("[\\x1b[1;31mERROR\\x1b[m] Could not resolve kafka_2.13:9.9.9")
sys.exit(0 if {works} else 1)
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("KAFKA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()


def _maven(tmp_path: Path, *, works: bool = True, pause: float = 0) -> None:
    program = tmp_path / "bin" / "mvn"
    program.write_text(MAVEN.format(python=sys.executable, calls=str(tmp_path / "calls"), works=works, pause=pause))
    program.chmod(0o755)


def test_jars_are_fetched_once_into_the_cache(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _maven(tmp_path)
    folder = kafka_jars("9.9.9")
    assert folder == tmp_path / "cache" / "fencepost" / "kafka-9.9.9"
    assert (folder / "kafka_2.13-9.9.9.jar").exists()
    assert "fetching Apache Kafka 9.9.9" in capsys.readouterr().err
    assert kafka_jars("9.9.9") == folder
    assert (tmp_path / "calls").read_text() == "x"
    assert capsys.readouterr().err == ""


def test_runs_that_start_together_fetch_once(tmp_path: Path) -> None:
    _maven(tmp_path, pause=0.3)
    script = [sys.executable, "-c", "from fencepost.harness.targets.jars import kafka_jars; print(kafka_jars('9.9.9'))"]
    both = [subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(2)]
    assert len({process.communicate()[0] for process in both}) == 1
    assert (tmp_path / "calls").read_text() == "x"


def test_what_a_broken_fetch_left_is_not_taken_for_jars(tmp_path: Path) -> None:
    half = tmp_path / "cache" / "fencepost" / "kafka-9.9.9"
    half.mkdir(parents=True)
    (half / "kafka_2.13-9.9.9.jar").touch()
    _maven(tmp_path)
    assert (kafka_jars("9.9.9") / COMPLETE).exists()
    assert (tmp_path / "calls").exists()


def test_a_failed_fetch_says_why_and_what_to_do(tmp_path: Path) -> None:
    _maven(tmp_path, works=False)
    with pytest.raises(InfrastructureError) as raised:
        kafka_jars("9.9.9")
    assert "mvn failed: Could not resolve kafka_2.13:9.9.9" in str(raised.value)
    assert "no java on the PATH" in str(raised.value)
    assert "set KAFKA_HOME" in str(raised.value)


def test_a_maven_that_is_there_is_not_to_be_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InfrastructureError, match="install Maven"):
        kafka_jars("9.9.9")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    _maven(tmp_path, works=False)
    with pytest.raises(InfrastructureError, match="let Maven reach a repository") as raised:
        kafka_jars("9.9.9")
    assert "install Maven" not in str(raised.value)


def test_an_unpacked_release_is_used_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kafka" / "libs").mkdir(parents=True)
    (tmp_path / "kafka" / "libs" / "kafka_2.13-9.9.9.jar").touch()
    monkeypatch.setenv("KAFKA_HOME", str(tmp_path / "kafka"))
    assert kafka_jars("9.9.9") == tmp_path / "kafka" / "libs"
    with pytest.raises(InfrastructureError, match=r"does not hold Apache Kafka 8\.0\.0"):
        kafka_jars("8.0.0")


@pytest.mark.parametrize(
    ("version", "scala", "beside"),
    [
        ("0.10.2.2", "2.11", {"slf4j-reload4j", "zookeeper", "jaxb-api"}),
        ("0.11.0.3", "2.11", {"slf4j-reload4j", "zookeeper", "jaxb-api"}),
        ("1.0.0", "2.12", {"slf4j-reload4j", "zookeeper"}),
        ("2.3.1", "2.12", {"slf4j-reload4j", "zookeeper"}),
        ("2.4.0", "2.13", {"slf4j-reload4j"}),
        ("3.9.1", "2.13", {"slf4j-reload4j"}),
        ("4.0.0", "2.13", {"log4j-core", "log4j-slf4j-impl"}),
    ],
)
def test_each_release_has_its_scala_its_logger_and_what_java_no_longer_brings(
    version: str, scala: str, beside: set[str]
) -> None:
    (_, artifact, wanted), *others = coordinates(version)
    assert (artifact, wanted) == (f"kafka_{scala}", version)
    assert {name for _, name, _ in others} == beside


def test_an_unpacked_old_release_gets_a_client_that_connects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "mvn"
    _maven(tmp_path)
    program.write_text(program.read_text().replace("kafka_2.13-9.9.9.jar", "zookeeper-3.4.10.jar"))
    libs = tmp_path / "kafka" / "libs"
    libs.mkdir(parents=True)
    for version in ("2.12-2.1.1", "2.13-2.4.1"):
        (libs / f"kafka_{version}.jar").touch()
    monkeypatch.setenv("KAFKA_HOME", str(tmp_path / "kafka"))
    first, second = class_path("2.1.1").split(":")
    assert (Path(first).parent / "zookeeper-3.4.10.jar").is_file()
    assert second == f"{libs}/*"
    assert class_path("2.4.1") == f"{libs}/*"


def test_versions_are_compared_as_numbers() -> None:
    assert major_minor("3.10.0") > major_minor("3.9.1")
    with pytest.raises(InfrastructureError, match="not a version of Apache Kafka"):
        major_minor("4")
