"""What is said of a process that ended."""

from __future__ import annotations

import signal
from pathlib import Path

LOG_TAIL = 15


def obituary(name: str, exit_code: int | None, log: Path) -> str:
    """A sentence about how it ended, with the last lines of its log. A negative exit code is a signal."""
    with log.open(errors="replace") as lines:
        tail = "".join(f"\n  | {line.rstrip()}" for line in lines.readlines()[-LOG_TAIL:])
    return f"{name} ended with {_described(exit_code)}; the last lines of {log}:{tail or ' (empty)'}"


def _described(exit_code: int | None) -> str:
    if exit_code is None:
        return "an unknown exit code"
    if exit_code < 0:
        return f"signal {signal.Signals(-exit_code).name}"
    return f"exit code {exit_code}"
