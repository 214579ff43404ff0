"""The doctor tries what it reports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import docker
from fencepost.harness import doctor
from fencepost.harness.cleaning.mounts import mounts as mount_table
from fencepost.harness.disks import mounts
from fencepost.harness.doctor import programs
from fencepost.harness.doctor.mechanism import Diagnosis, Mechanism, Unavailable, diagnose
from tests.waiting import eventually


def test_a_probe_that_raises_means_not_available_and_says_why() -> None:
    def refuse() -> str:
        raise Unavailable("no such thing here")

    def break_down() -> str:
        raise OSError(13, "Permission denied")

    assert diagnose(Mechanism("x", refuse, "a", "b")).how == "no such thing here"
    row = diagnose(Mechanism("x", break_down, "a", "b"))
    assert not row.available
    assert "Permission denied" in row.how


def test_a_program_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    row = diagnose(Mechanism("java", programs.java, "lost", "remedy"))
    assert (row.available, row.how) == (False, "no java on the PATH")


def test_an_old_java_does_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "java"
    program.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    row = diagnose(Mechanism("java", programs.java, "lost", "remedy"))
    assert not row.available
    assert "17 or newer is needed" in row.how


def test_a_program_that_answers_too_late_is_not_called_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "java"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(programs, "SPARK_SECONDS", 0.5)
    monkeypatch.setattr(programs, "_spark_jars", lambda: tmp_path)
    row = diagnose(Mechanism("spark", programs.spark, "fencepost trends", "pip install 'fencepost[mining]'"))
    assert row.how == "it did not answer within 0.5 s"
    doctor._print_table([row])
    said = capsys.readouterr().out
    assert "  spark   ?" in said
    assert "pip install" not in said and "ask again when this machine is less busy" in said


def test_an_engine_that_does_not_answer_is_not_an_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/absent.sock")
    row = diagnose(Mechanism("docker", programs.docker_engine, "lost", "remedy"))
    assert not row.available
    assert f"no engine answered at unix://{tmp_path}/absent.sock" in row.how


def test_a_device_that_may_not_be_opened_is_not_answered_with_what_is_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    device = tmp_path / "fuse"
    device.mkdir()  # no user may open it for writing, not even root
    monkeypatch.setattr(mounts, "DEVICE", device)
    mounts.unavailable_reason.cache_clear()
    try:
        [fuse] = [each for each in doctor.MECHANISMS if each.name == "fuse"]
        row = diagnose(fuse)
    finally:
        mounts.unavailable_reason.cache_clear()
    assert row.how == f"{device} cannot be opened (Is a directory)"
    assert row.remedy == "allow it to this user, or to the container"


def test_a_socket_that_may_not_be_used_is_not_answered_with_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise docker.errors.DockerException("PermissionError(13, 'Permission denied')")

    monkeypatch.setattr("docker.from_env", refuse)
    row = diagnose(Mechanism("docker", programs.docker_engine, "lost", "apt-get install docker.io"))
    assert "add it to the group docker" in row.remedy


def test_the_table_tells_versions_reasons_and_what_to_install_to_the_letter(capsys: pytest.CaptureFixture[str]) -> None:
    there = Diagnosis("java", True, "17.0.15, /usr/bin/java", "", "")
    absent = Diagnosis("spark", False, "no pyspark", "fencepost trends", "pip install 'fencepost[mining]'")
    doctor._print_table([there, absent])
    said = capsys.readouterr().out
    assert "  java    17.0.15   /usr/bin/java" in said
    assert "get it   pip install 'fencepost[mining]'" in said
    assert "\x1b" not in said, "colours only on a terminal"


@pytest.mark.integration
def test_this_machine_can_run_the_process_backend(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.main(as_json=True) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["toxiproxy"]["available"]
    assert "answered on" in rows["toxiproxy"]["how"]


HANGING = """
import pathlib, tempfile, time
from fencepost.harness.doctor import machine
tempfile.tempdir = {folder!r}
pathlib.Path.read_bytes = lambda self: time.sleep(600)
machine.fuse()
"""


@pytest.mark.integration
@pytest.mark.skipif(mounts.unavailable_reason() is not None, reason=str(mounts.unavailable_reason()))
def test_a_doctor_that_is_killed_leaves_no_mount(tmp_path: Path) -> None:
    def mounted() -> bool:
        # The mount table: a mount whose server has died is no mount point to `os.path.ismount`.
        return any(mount.point.startswith(f"{tmp_path}/") for mount in mount_table())

    asking = subprocess.Popen([sys.executable, "-c", HANGING.format(folder=str(tmp_path))])
    try:
        eventually(mounted)
    finally:
        asking.kill()
        asking.wait()
    eventually(lambda: not mounted())
