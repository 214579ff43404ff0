"""The message about a process that ended."""

from __future__ import annotations

import signal
from pathlib import Path

LOG_TAIL = 15


def exit_summary(name: str, exit_code: int | None, log: Path) -> str:
    """Return a message about the end of a process, with the last lines of its log; a negative exit code is a signal."""
    with log.open(errors="replace") as lines:
        tail = "".join(f"\n  | {line.rstrip()}" for line in lines.readlines()[-LOG_TAIL:])
    return f"{name} ended with {described_exit(exit_code)}; the last lines of {log}:{tail or ' (empty)'}"


def described_exit(exit_code: int | None) -> str:
    """Return the exit code in words; a negative one is a signal."""
    if exit_code is None:
        return "an unknown exit code"
    if exit_code < 0:
        return f"signal {signal.Signals(-exit_code).name}"
    return f"exit code {exit_code}"
