"""A plain Toxiproxy has no capability for messages, and doctor and plans say why."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.faults.capabilities import Capability
from fencepost.harness.backends import DOCKER, PROCESS
from fencepost.harness.cluster.availability import unavailable_reason
from fencepost.harness.doctor import MECHANISMS
from fencepost.harness.doctor.mechanism import diagnose


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    program = tmp_path / "toxiproxy-server"
    program.write_text("#!/bin/sh\necho toxiproxy-server version 2.12.0\n")
    program.chmod(0o755)
    monkeypatch.setenv("FENCEPOST_TOXIPROXY", str(program))
    return program


@pytest.mark.parametrize("backend", [PROCESS, DOCKER])
def test_a_plain_server_lacks_the_capability(backend: str, plain: Path) -> None:
    reason = unavailable_reason(backend, Capability.MESSAGES)
    assert reason is not None
    assert reason.startswith(f"{plain} is of version 2.12.0, and only 2.12.0+messages knows messages: get it by `make")


def test_doctor_says_what_is_lost_with_a_plain_server(plain: Path) -> None:
    (mechanism,) = (each for each in MECHANISMS if each.name == "messages")
    row = diagnose(mechanism)
    assert not row.available
    assert row.how == f"{plain} is of version 2.12.0, and only 2.12.0+messages knows messages"
    assert "lost-answer" in row.lost


def test_a_server_that_is_replaced_is_asked_again(plain: Path) -> None:
    assert unavailable_reason(PROCESS, Capability.MESSAGES)
    plain.unlink()
    plain.write_text("#!/bin/sh\necho toxiproxy-server version 2.12.0+messages\n")
    plain.chmod(0o755)
    assert unavailable_reason(PROCESS, Capability.MESSAGES) is None
