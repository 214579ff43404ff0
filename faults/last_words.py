"""The lines with which a node's log says why it ended, or why it does not answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

LAST_WORDS = 5
"""The number of lines for the journal."""
LONGEST = 400
"""Characters of a line that are shown."""
_ERRORS = (
    re.compile(r"\b(ERROR|FATAL|CRITICAL|SEVERE|PANIC)\b|^(panic|fatal error|fatal|error)\b"),
    re.compile(r"^(Exception in thread .*|Caused by: .*|(\w+[.$])*\w*(Exception|Error)\b.*)"),
    re.compile(r"(?i)\b(fatal|panic\w*|exception|error|fail\w*|refus\w*|cannot|could not|invalid|corrupt\w*|abort\w*)"),
)
"""How a log marks an error: by a level, by the name of an exception, by a word. The first that is found counts."""
_NOTICE = re.compile(r"(?i)\b(trace|debug|info|notice|warn|warning)\b")
"""The levels of a line that is no error."""


def last_words(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the last lines, without stacks."""
    return tuple(_without_stacks(lines)[-LAST_WORDS:])


def last_error(lines: Sequence[str]) -> str:
    """Return the last line that is an error; empty if there is none."""
    kept = _without_stacks(lines)
    for marks in _ERRORS:
        for line in reversed(kept):
            if marks.search(line):
                return line[:LONGEST].strip()
    return ""


def reason_for_end(lines: Sequence[str]) -> str:
    """Return the last error of a process that ended, or its very last line if no level makes that a mere notice: a
    program that refuses what it was given often prints why, plainly, and ends. Empty if there is neither."""
    kept = _without_stacks(lines)
    plain = kept[-1][:LONGEST].strip() if kept and not _NOTICE.search(kept[-1]) else ""
    return last_error(lines) or plain


def _without_stacks(lines: Sequence[str]) -> list[str]:
    """Stacks are indented, in Java as in Python: the reason stands before or after them, at the margin."""
    return [line for line in lines if line.strip() and not line[0].isspace()]
