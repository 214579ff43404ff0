"""The tests of a conformance run end on SIGINT wherever they were started from."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from fencepost.harness.processes.interrupts import end_on_interrupt

SAYS_HOW_IT_ENDS = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"


@pytest.fixture
def deaf() -> Iterator[None]:
    """This process ignores SIGINT, as one does that a script put into the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("deaf")
@pytest.mark.parametrize(("prepare", "ignores"), [(None, b"True"), (end_on_interrupt, b"False")])
def test_a_child_of_a_deaf_process_hears_again(prepare: None, ignores: bytes) -> None:
    said = subprocess.run(
        [sys.executable, "-c", SAYS_HOW_IT_ENDS], capture_output=True, preexec_fn=prepare, check=True
    ).stdout
    assert said.strip() == ignores
