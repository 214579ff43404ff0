"""Files that are prepared once for a version of Apache Kafka, with a stand-in for its JVM."""

import sys
from pathlib import Path

import pytest

from fencepost.harness.errors import InfrastructureError
from fencepost.harness.targets.prepared import prepare

pytestmark = pytest.mark.integration

JVM = """
import pathlib, signal, sys
mode, arguments = sys.argv[1], sys.argv[2:]
properties = dict(line.split("=", 1) for line in pathlib.Path(arguments[-1]).read_text().splitlines())
if "kafka.tools.StorageTool" in arguments:
    if mode == "unformatted":
        sys.exit("no such feature")
    for number, data in enumerate(map(pathlib.Path, properties["log.dirs"].split(","))):
        data.mkdir()
        (data / "meta.properties").write_text("node.id=" + properties["node.id"])
        if properties["process.roles"] == "controller" and number == 0:
            (data / "first-records").touch()
elif mode == "unstarted":
    print("2026-11-23 13:40:00,000 INFO [main] KafkaServer starting")
    print("2026-11-23 13:40:00,001 ERROR [main] KafkaServer no such class")
    sys.exit("gone")
else:
    (pathlib.Path(properties["log.dirs"]) / "used").touch()
    archives = [each.split("=", 1)[1] for each in arguments if each.startswith("-XX:ArchiveClassesAtExit=")]
    if archives and mode == "unarchived":
        sys.exit("unrecognized option")
    signal.signal(signal.SIGTERM, lambda *_: ([pathlib.Path(each).touch() for each in archives], sys.exit()))
    print("Kafka Server started", flush=True)
    signal.pause()
"""


class Jvm:
    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.calls = 0

    def __call__(self, *arguments: str) -> list[str]:
        self.calls += 1
        return [sys.executable, "-c", JVM, self.mode, *arguments]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_formatted_directories_of_each_role_and_the_classes_of_a_node_are_made_once() -> None:
    jvm = Jvm("works")
    made = prepare("9.9.9", jvm)
    assert made.classes.exists()
    assert _names(made.log_dir(0, controller=True)) == {"meta.properties", "first-records"}
    for directory in (made.log_dir(1, controller=True), *(made.log_dir(each, controller=False) for each in range(3))):
        assert _names(directory) == {"meta.properties"}
    assert prepare("9.9.9", jvm) == made
    assert jvm.calls == 3


def test_without_a_class_archive_nodes_still_start(capsys: pytest.CaptureFixture[str]) -> None:
    made = prepare("9.9.9", Jvm("unarchived"))
    assert made.log_dir(0, controller=False).is_dir()
    assert not made.classes.exists()
    assert "nodes start slower" in capsys.readouterr().err


def test_a_release_that_does_not_start_is_refused_in_one_line_and_is_tried_again() -> None:
    with pytest.raises(InfrastructureError) as raised:
        prepare("9.9.9", Jvm("unstarted"))
    assert "\n" not in str(raised.value)
    assert "Apache Kafka 9.9.9 does not run on this machine" in str(raised.value)
    assert str(raised.value).endswith("KafkaServer no such class")
    assert prepare("9.9.9", Jvm("works")).classes.exists()


def test_a_directory_that_cannot_be_formatted_is_an_error_and_is_tried_again() -> None:
    with pytest.raises(InfrastructureError, match="could not format a directory: no such feature"):
        prepare("9.9.9", Jvm("unformatted"))
    assert prepare("9.9.9", Jvm("works")).log_dir(0, controller=False).is_dir()
