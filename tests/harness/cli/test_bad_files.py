"""A mistake in a file or a place ends in one message with the remedy, and nothing is created."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.harness.catalogue import catalogue
from fencepost.harness.catalogue.installed import FILE, read_catalogues
from fencepost.harness.disk_space import check_disk_space, disk_space_errors
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.targets.registry import VARIABLE
from tests.harness.cli.conftest import Fencepost

SCENARIO = "refused-duplicate"


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


def _refused(fencepost: Fencepost, *arguments: str, code: int = 64) -> str:
    done = fencepost(*arguments)
    assert (done.code, done.out.partition(":")[0]) in ((code, ""), (code, "starting quorum")), done
    assert done.err.startswith("fencepost: ")
    return done.err


@pytest.mark.parametrize("command", [("run", SCENARIO), ("up",), ("conformance",)])
def test_a_disk_without_space_is_refused_before_anything_is_made(
    fencepost: Fencepost, small: Path, command: tuple[str, ...]
) -> None:
    said = _refused(fencepost, *command, "--runs", str(small / "runs"), code=2).replace("\n", " ")
    assert f"MB are free in {small}" in said
    assert "make room, or name another place with --runs" in said
    assert list(small.iterdir()) == []


@pytest.mark.parametrize("command", [("run", SCENARIO), ("up",), ("conformance",)])
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
        check_disk_space(tmp_path / "runs")


def test_a_place_behind_a_forbidden_folder_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o000)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        with pytest.raises(UsageError, match=r"run folders cannot be made in .*Permission denied; .*--runs"):
            check_disk_space(tmp_path / "inside" / "runs")
    finally:
        if root:
            os.seteuid(0)
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("place", ["nope/../../../../../../../../../../proc/1/runs", "x" * 300])
def test_a_place_that_cannot_be_one_is_refused(fencepost: Fencepost, tmp_path: Path, place: str) -> None:
    said = _refused(fencepost, "run", SCENARIO, "--runs", str(tmp_path / place))
    assert "run folders cannot be made in" in said
    assert "name another place with --runs" in said


def test_space_that_gives_out_in_the_middle_is_reported_with_the_place(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="no space is left in") as refused, disk_space_errors(tmp_path):
        Path("/dev/full").write_text("x")
    assert str(tmp_path) in str(refused.value)


def test_threads_that_meet_the_full_disk_add_no_tracebacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda failed: shown.append(failed.exc_type))
    with pytest.raises(InfrastructureError, match="no space is left in"), disk_space_errors(tmp_path):
        for work in (lambda: Path("/dev/full").write_text("x"), lambda: 1 // 0):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        Path("/dev/full").write_text("x")
    assert shown == [ZeroDivisionError]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no plan at mine.yaml:1"),
        ("a: [", "mine.yaml:2"),
        ("\x00", "mine.yaml"),
        ("format: fencepost-plan/9\n", "`format` at mine.yaml:1"),
        ("- a list\n", "a plan is a mapping"),
    ],
)
def test_a_plan_that_is_none_is_refused_at_its_line(
    fencepost: Fencepost, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "mine.yaml").write_text(text + ("\n" if text else ""))
    assert message in _refused(fencepost, "run", str(tmp_path / "mine.yaml"), "--runs", str(tmp_path / "runs"))
    assert not (tmp_path / "runs").exists()


def test_a_plan_that_is_no_text_or_a_folder_is_refused(fencepost: Fencepost, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_bytes(b"\xff\xfe\x00")
    assert "mine.yaml" in _refused(fencepost, "run", str(tmp_path / "mine.yaml"))
    (tmp_path / "dir.yaml").mkdir()
    assert "dir.yaml" in _refused(fencepost, "run", str(tmp_path / "dir.yaml"))


def test_a_catalogue_with_a_mistake_is_refused_at_its_line(
    fencepost: Fencepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / FILE
    broken.write_text(catalogue().paths[0].read_text().replace("level: must", "level: perhaps", 1))
    monkeypatch.setattr("fencepost.harness.catalogue.installed.files", lambda _package: tmp_path)
    read_catalogues.cache_clear()
    said = _refused(fencepost, "conformance", "--runs", str(tmp_path / "runs"))
    assert f"`level` at {broken}:" in said
    assert "should be 'must', 'should' or 'may', not 'perhaps'" in said


def test_a_target_file_with_a_mistake_is_named(
    fencepost: Fencepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "quorum.yaml").write_text("name: quorum\ntitel: x\n")
    monkeypatch.setattr("fencepost.harness.targets.registry.FILES", tmp_path)
    message = f"unknown key `titel` at {tmp_path}/quorum.yaml:2; did you mean `title`?"
    assert message in _refused(fencepost, "scenarios")


def test_a_toxiproxy_that_is_none_is_named(
    fencepost: Fencepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FENCEPOST_TOXIPROXY", str(tmp_path / "none"))
    done = fencepost("up", "--runs", str(tmp_path / "runs"))
    assert "is no program that can be run: correct or unset it" in done.err
    assert done.code == 2


def test_a_plan_for_an_unknown_target_is_refused_with_the_ways_to_name_its_file(
    fencepost: Fencepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "")
    plan = tmp_path / "plan.yaml"
    plan.write_text(fencepost("plan", "starts-fenced").out.replace("target: quorum:1", "target: acme:1"))
    refused = _refused(fencepost, "run", str(plan))
    assert "there is no target 'acme': the targets are apache-kafka, " in refused
    assert f"named by its path, such as ./acme.yaml, or listed in {VARIABLE}" in refused
