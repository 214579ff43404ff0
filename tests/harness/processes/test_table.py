"""The identity of a pid, and the end of exactly that process."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from fencepost.harness.processes import table
from fencepost.harness.processes.table import Identity

pytestmark = pytest.mark.integration


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"], env={"FENCEPOST_TEST": "a=b", "PATH": os.environ["PATH"]}) as process:
        yield process
        process.kill()


def test_a_process_is_identified_by_pid_and_start_time(sleeper: subprocess.Popen[bytes]) -> None:
    identity = table.identify(sleeper.pid)
    assert identity is not None
    assert table.is_alive(identity)
    assert not table.is_alive(Identity(identity.pid, identity.start_time + 1))


def test_the_start_time_agrees_with_psutil(sleeper: subprocess.Popen[bytes]) -> None:
    identity = table.identify(sleeper.pid)
    assert identity is not None
    assert table.started(identity) == pytest.approx(psutil.Process(sleeper.pid).create_time(), abs=1.0)


def test_a_zombie_has_no_identity() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert table.identify(process.pid) is None
    assert table.identify_child(process.pid).pid == process.pid
    process.wait()
    with pytest.raises(ProcessLookupError, match="not in the process table"):
        table.identify_child(process.pid)


def test_end_spares_a_process_that_got_a_recycled_pid(sleeper: subprocess.Popen[bytes]) -> None:
    identity = table.identify(sleeper.pid)
    assert identity is not None
    assert not table.end(Identity(identity.pid, identity.start_time - 1))
    assert table.is_alive(identity)


def test_end_returns_when_the_process_is_gone(sleeper: subprocess.Popen[bytes]) -> None:
    identity = table.identify(sleeper.pid)
    assert identity is not None
    assert table.end(identity)
    assert not table.is_alive(identity)
    assert not table.end(identity)


def test_the_environment_is_that_of_the_start(sleeper: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while table.environment(sleeper.pid).get("FENCEPOST_TEST") != "a=b":  # until exec replaced the forked copy of us
        assert time.monotonic() < deadline
    assert table.environment(2**22 + 1) == {}
