"""Output to a pipe that the same Ctrl-C closes, as with `| tee`, and to one that was closed before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

HELD = """
import threading
from fencepost.harness.cli import signals
from fencepost.harness.terminal import terminal
signals.install_handlers()
console = terminal()
try:
    print("up", end="", flush=True)
    threading.Event().wait()
except KeyboardInterrupt:
    console.print("ending the cluster")
    print("the last line")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_after_a_signal_what_a_closed_pipe_does_not_take_goes_to_standard_error(
    number: signal.Signals, unbuffered: str
) -> None:
    reading, writing = os.pipe()
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    argv = [sys.executable, "-c", HELD]
    child = subprocess.Popen(argv, stdout=writing, stderr=subprocess.PIPE, text=True, env=environment)
    os.close(writing)
    assert os.read(reading, 100) == b"up"
    os.close(reading)
    child.send_signal(number)
    said = child.communicate(timeout=30)[1]
    assert said == "ending the cluster\nthe last line\n"
    assert child.returncode == 0


def test_after_a_signal_two_closed_pipes_disturb_nothing() -> None:
    reading, writing = os.pipe()
    child = subprocess.Popen([sys.executable, "-c", HELD], stdout=writing, stderr=writing)
    os.close(writing)
    assert os.read(reading, 100) == b"up"
    os.close(reading)
    child.send_signal(signal.SIGINT)
    assert child.wait(30) == 0


@pytest.mark.parametrize("command", ["doctor", "faults", "clean"])
def test_a_reader_that_closed_early_is_no_violation(command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    argv = [sys.executable, "-m", "fencepost.harness.cli", command]
    done = subprocess.run(argv, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")
