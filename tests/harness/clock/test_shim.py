"""A process with the library reads the wall clock that the file says, and no other clock changes for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fencepost.harness.clock import library, unavailable_reason
from fencepost.harness.clock.clocks import FILE_OF_MINE, NO_TRACE, PRELOAD
from fencepost.harness.clock.file import ClockFile
from fencepost.harness.errors import InfrastructureError

HOUR_NS = 3_600_000_000_000
SLACK_NS = 1_000_000_000
"""Two readings of one process may be that far apart on a busy machine."""
TELLS = """
import datetime, json, sys, threading, time
wall = lambda: time.clock_gettime_ns(time.CLOCK_REALTIME)
for _ in sys.stdin:
    slept = time.monotonic()
    time.sleep(0.05)
    threading.Event().wait(0.05)
    said = {
        "ahead": [each() - time.monotonic_ns() for each in (time.time_ns, wall)],
        "date": datetime.datetime.now(datetime.timezone.utc).timestamp(),
        "slept": time.monotonic() - slept,
    }
    print(json.dumps(said), flush=True)
"""

needs_compiler = pytest.mark.skipif(unavailable_reason() is not None, reason=unavailable_reason() or "")


@pytest.fixture
def file(tmp_path: Path) -> ClockFile:
    made = ClockFile(tmp_path / "clock")
    made.make()
    return made


class Teller:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def tell(self) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def ahead_ns(self) -> list[int]:
        ours = time.time_ns() - time.monotonic_ns()
        return [theirs - ours for theirs in self.tell()["ahead"]]


@contextmanager
def telling(path: Path, **more: str) -> Iterator[Teller]:
    environment = {**os.environ, PRELOAD: str(library.library()), FILE_OF_MINE: str(path), **more}
    with subprocess.Popen(
        [sys.executable, "-c", TELLS], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Teller(process)
        finally:
            process.kill()


@needs_compiler
@pytest.mark.integration
def test_a_running_process_follows_its_clock_there_and_back(file: ClockFile) -> None:
    with telling(file.path) as teller:
        for offset in (0, -HOUR_NS, 24 * HOUR_NS, 0):
            file.set(offset, 0)
            assert teller.ahead_ns() == pytest.approx([offset, offset], abs=SLACK_NS)


@needs_compiler
@pytest.mark.integration
def test_waits_last_as_long_as_ever_and_dates_follow_the_wall_clock(file: ClockFile) -> None:
    with telling(file.path) as teller:
        file.set(-HOUR_NS, 0)
        answer = teller.tell()
        assert 0.1 <= answer["slept"] < 5.0
        assert answer["date"] == pytest.approx(time.time() - 3600, abs=5.0)


@needs_compiler
@pytest.mark.integration
def test_a_clock_that_stands_still_shows_the_moment_it_stopped(file: ClockFile) -> None:
    with telling(file.path) as teller:
        file.set(0, -1_000_000)
        first, second = teller.tell()["date"], teller.tell()["date"]
        assert second == pytest.approx(first, abs=0.001)


@needs_compiler
@pytest.mark.integration
def test_an_answer_leaves_a_trace_and_a_probe_leaves_none(file: ClockFile) -> None:
    file.set(HOUR_NS, 0)
    with telling(file.path, **{NO_TRACE: "1"}) as teller:
        teller.tell()
    assert file.setting().query_count == 0
    with telling(file.path) as teller:
        teller.tell()
        assert file.setting().query_count > 0
        assert file.setting().last_answer_ns == pytest.approx(time.time_ns() + HOUR_NS, abs=5_000_000_000)


@needs_compiler
@pytest.mark.integration
def test_a_process_without_a_file_has_the_machine_s_clock(tmp_path: Path) -> None:
    with telling(tmp_path / "none") as teller:
        assert teller.ahead_ns() == pytest.approx([0, 0], abs=SLACK_NS)


@needs_compiler
@pytest.mark.integration
def test_another_source_becomes_another_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first = library.library()
    changed = tmp_path / "shim.c"
    changed.write_text(library.SOURCE.read_text() + "\n/* changed */\n")
    monkeypatch.setattr(library, "SOURCE", changed)
    second = library.library()
    assert first != second and first.exists() and second.exists()
    assert sorted(path.name for path in first.parent.iterdir()) == sorted([first.name, second.name])


def test_without_a_compiler_a_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    reason = unavailable_reason()
    assert reason is not None and reason.endswith("apt-get install gcc libc6-dev")
    with pytest.raises(InfrastructureError, match="no C compiler"):
        library.library()


def test_a_compiler_that_is_named_and_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CC", "no-such-compiler -m64")
    assert "CC=no-such-compiler -m64 is no program" in (unavailable_reason() or "")
