"""Without an engine there is one sentence, and exit code 2."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.capabilities import Capability
from harness.backends import DOCKER, PROCESS, check_backend, lacking
from harness.backends.docker.engine import engine
from harness.errors import UsageError


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    engine.cache_clear()
    yield
    engine.cache_clear()


def test_an_engine_that_does_not_answer_is_named_with_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    with pytest.raises(UsageError) as refused:
        check_backend(DOCKER)
    sentence = str(refused.value)
    assert f"no Docker engine answers at unix://{tmp_path}/docker.sock (No such file or directory)" in sentence
    assert "apt-get install docker.io" in sentence
    assert "\n" not in sentence


def test_an_engine_elsewhere_cannot_share_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    with pytest.raises(UsageError, match=r"is on another machine.*unset DOCKER_HOST"):
        check_backend(DOCKER)


def test_the_command_line_ends_with_2_before_anything_is_made(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "harness.cli", "run", "duplicate-id-empty", "--backend", "docker"]
    done = subprocess.run(
        [*command, "--runs", str(tmp_path / "runs")],
        env={**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/docker.sock"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "no Docker engine answers" in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("capability", [Capability.NETWORK, Capability.RESOURCES])
def test_only_containers_have_a_network_and_limits_of_their_own(capability: Capability) -> None:
    assert lacking(DOCKER, capability) is None
    assert "--backend docker" in str(lacking(PROCESS, capability))
