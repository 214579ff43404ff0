"""What is made once for a version of Apache Kafka, with a stand-in for its JVM."""

import sys
from pathlib import Path

import pytest

from harness.errors import InfrastructureError
from harness.targets.prepared import prepare

pytestmark = pytest.mark.integration

JVM = """
import pathlib, signal, sys
mode, arguments = sys.argv[1], sys.argv[2:]
properties = dict(line.split("=", 1) for line in pathlib.Path(arguments[-1]).read_text().splitlines())
if "kafka.tools.StorageTool" in arguments:
    if mode == "unformatted":
        sys.exit("no such feature")
    data = pathlib.Path(properties["log.dirs"])
    data.mkdir()
    (data / "meta.properties").write_text("node.id=1")
elif mode == "unarchived":
    sys.exit("unrecognized option")
else:
    (pathlib.Path(properties["log.dirs"]) / "used").touch()
    archive = next(each.split("=", 1)[1] for each in arguments if each.startswith("-XX:ArchiveClassesAtExit="))
    signal.signal(signal.SIGTERM, lambda *_: (pathlib.Path(archive).touch(), sys.exit()))
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


def test_a_formatted_directory_and_the_classes_of_a_node_are_made_once() -> None:
    jvm = Jvm("works")
    made = prepare("9.9.9", jvm)
    assert made.classes.exists()
    assert [path.name for path in made.data.iterdir()] == ["meta.properties"]
    assert prepare("9.9.9", jvm) == made
    assert jvm.calls == 2


def test_without_a_class_archive_nodes_still_start(capsys: pytest.CaptureFixture[str]) -> None:
    made = prepare("9.9.9", Jvm("unarchived"))
    assert made.data.is_dir()
    assert not made.classes.exists()
    assert "nodes start slower" in capsys.readouterr().err


def test_a_directory_that_cannot_be_formatted_is_an_error_and_is_tried_again() -> None:
    with pytest.raises(InfrastructureError, match="could not format a directory: no such feature"):
        prepare("9.9.9", Jvm("unformatted"))
    assert prepare("9.9.9", Jvm("works")).data.is_dir()
