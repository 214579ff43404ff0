"""Without an engine there is one message, and exit code 2."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.faults.capabilities import Capability
from fencepost.harness.backends import DOCKER, PROCESS, check_backend
from fencepost.harness.backends.docker.engine import engine
from fencepost.harness.cluster.availability import unavailable_reason
from fencepost.harness.errors import InfrastructureError


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    engine.cache_clear()
    yield
    engine.cache_clear()


def test_an_engine_that_does_not_answer_is_named_with_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    with pytest.raises(InfrastructureError) as refused:
        check_backend(DOCKER)
    message = str(refused.value)
    assert f"no Docker engine answers at unix://{tmp_path}/docker.sock (No such file or directory)" in message
    assert "apt-get install docker.io" in message
    assert "\n" not in message


def test_an_engine_elsewhere_cannot_share_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    with pytest.raises(InfrastructureError, match=r"is on another machine.*unset DOCKER_HOST"):
        check_backend(DOCKER)


def test_the_command_line_ends_with_2_before_anything_is_made(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fencepost.harness.cli", "run", "duplicate-id-empty", "--backend", "docker"]
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
    assert unavailable_reason(DOCKER, capability) is None
    assert "--backend docker" in str(unavailable_reason(PROCESS, capability))
