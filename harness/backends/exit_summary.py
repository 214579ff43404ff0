"""The message about a process that ended."""

from __future__ import annotations

from pathlib import Path

from fencepost.faults.capabilities import exit_in_words

LOG_TAIL = 15


def exit_summary(name: str, exit_code: int | None, log: Path) -> str:
    """Return a message about the end of a process, with the last lines of its log; a negative exit code is a signal."""
    with log.open(errors="replace") as lines:
        tail = "".join(f"\n  | {line.rstrip()}" for line in lines.readlines()[-LOG_TAIL:])
    return f"{name} ended with {exit_in_words(exit_code)}; the last lines of {log}:{tail or ' (empty)'}"
