"""What is wrong with a file or a place is told in one sentence with the remedy, exit code 2, and nothing is made."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import InfrastructureError
from harness.room import check_room, room
from suites import requirements
from tests.harness.cli.conftest import Fencepost

STORY = "refused-duplicate"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB."""
    place = tmp_path / "small"
    place.mkdir()
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root can mount a small file system")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def _refused(fencepost: Fencepost, *arguments: str) -> str:
    done = fencepost(*arguments)
    assert (done.code, done.out.partition(":")[0]) in ((2, ""), (2, "starting quorum")), done
    assert done.err.startswith("fencepost: ")
    return done.err


@pytest.mark.parametrize("command", [("run", STORY), ("up",), ("conformance",)])
def test_a_disk_without_space_is_refused_before_anything_is_made(
    fencepost: Fencepost, small: Path, command: tuple[str, ...]
) -> None:
    said = _refused(fencepost, *command, "--runs", str(small / "runs")).replace("\n", " ")
    assert f"MB are free in {small}" in said
    assert "make room, or name another place with --runs" in said
    assert list(small.iterdir()) == []


@pytest.mark.parametrize("command", [("run", STORY), ("up",), ("conformance",)])
@pytest.mark.parametrize("place", ["/proc/runs", "/etc/hostname/runs"])
def test_a_place_that_takes_no_folders_is_refused(fencepost: Fencepost, command: tuple[str, ...], place: str) -> None:
    said = _refused(fencepost, *command, "--runs", place)
    assert f"run folders cannot be made in {place}" in said
    assert "name another place with --runs" in said


def test_a_folder_that_this_user_may_not_write_is_named(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    with pytest.raises(Exception, match="is not writable"):
        check_room(tmp_path / "runs")


def test_space_that_gives_out_in_the_middle_is_told_with_the_place(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="no space is left in") as refused, room(tmp_path):
        Path("/dev/full").write_text("x")
    assert str(tmp_path) in str(refused.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no plan at mine.yaml:1"),
        ("a: [", "mine.yaml:2"),
        ("\x00", "mine.yaml"),
        ("format: fencepost-plan/9\n", "`format` at mine.yaml:1"),
        ("- a list\n", "a plan is a mapping"),
    ],
)
def test_a_plan_that_is_none_is_refused_at_its_line(
    fencepost: Fencepost, tmp_path: Path, text: str, sentence: str
) -> None:
    (tmp_path / "mine.yaml").write_text(text + ("\n" if text else ""))
    assert sentence in _refused(fencepost, "run", str(tmp_path / "mine.yaml"), "--runs", str(tmp_path / "runs"))
    assert not (tmp_path / "runs").exists()


def test_a_plan_that_is_no_text_or_a_folder_is_refused(fencepost: Fencepost, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_bytes(b"\xff\xfe\x00")
    assert "mine.yaml" in _refused(fencepost, "run", str(tmp_path / "mine.yaml"))
    (tmp_path / "dir.yaml").mkdir()
    assert "dir.yaml" in _refused(fencepost, "run", str(tmp_path / "dir.yaml"))


def test_a_catalogue_with_a_mistake_is_refused_at_its_line(
    fencepost: Fencepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "requirements.yaml"
    broken.write_text(requirements.PATH.read_text().replace("level: must", "level: perhaps", 1))
    monkeypatch.setattr(requirements.load, "__defaults__", (broken,))
    said = _refused(fencepost, "conformance", "--runs", str(tmp_path / "runs"))
    assert f"{broken}:" in said
    assert "level perhaps is none of must, should, may" in said


def test_a_target_file_with_a_mistake_is_named(
    fencepost: Fencepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "quorum.yaml").write_text("name: quorum\ntitel: x\n")
    monkeypatch.setattr("harness.targets.target.FILES", tmp_path)
    assert f"the target file {tmp_path}/quorum.yaml is not right" in _refused(fencepost, "stories")


def test_a_toxiproxy_that_is_none_is_named(
    fencepost: Fencepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FENCEPOST_TOXIPROXY", str(tmp_path / "none"))
    done = fencepost("up", "--runs", str(tmp_path / "runs"))
    assert "is no program that can be run: correct or unset it" in done.err
    assert done.code == 2
