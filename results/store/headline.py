"""The line of a failure that says what failed, among stack frames and the frame of the runner."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_EMPTY: Final = re.compile(
    r"(?:(?:test )?fail(?:ed|ure)?:?|error|null|none|undefined|runs? [\d, ]+ summary:|unknown file"
    r"|thread '[^']*'(?: \(\d+\))? panicked at \S+:\d+:\d+:?"  # Rust: the reason is the next line
    r"|\S+\.\w+:\d+:\d+ .*)",  # Playwright: the place and the title of the test
    re.IGNORECASE,
)
"""A message that does not say why: the reason is in the text, if anywhere."""
_FRAME: Final = re.compile(
    r"at\s.+\((?:.*:\d+|Native Method|Unknown Source|<anonymous>|index \d+|\S+\.(?:java|kt|scala|groovy))\)"
    r"|at\s(?:async )?\S+:\d+(?::\d+)?"
    r"|\.\.\. \d+ more"
    r"|File \".*\", line \d+.*"
    r"|\S*[/\\.]\w[^\s]*:\d+(?::\d+)?:?"  # a place alone
    r"|\d+: .+::.+|stack backtrace:|note: (?:run with|Some details).*"
    r"|=== (?:RUN|PAUSE|CONT|NAME)\b.*|--- (?:FAIL|PASS|SKIP):.*|(?:FAIL|ok)\s+\S+\s+\(?[\d.]+s\)?|exit status \d+"
    r"|Traceback \(most recent call last\):"
    r"|\(?(?:from function|in test file) .*|`.*' failed.*"  # bats: the place, and the command that failed
)

_VALUES: Final = re.compile(r"^\s*((?:Expected|Received)\b.*\S)", re.MULTILINE)


def says_nothing(message: str | None) -> bool:
    """Return whether a message names no reason: none, `Failed`, `null`, the place of the test alone."""
    return not (message or "").strip() or bool(_EMPTY.fullmatch((message or "").strip()))


def headline(message: str | None, text: str | None, names: tuple[str, ...] = ()) -> str:
    """Return the line of a failure that says what failed; empty if none does.

    `message` is the attribute of the failure, `text` what it encloses, `names` those of the test, which say nothing.
    """
    for source in (message, text):
        lines = list(_telling(source or "", names))
        if lines:
            is_python = "Traceback (most recent call last):" in (source or "")
            return lines[-1] if is_python else _with_values(lines[0], f"{message}\n{text}")
    return ""


def _with_values(line: str, text: str) -> str:
    """Return a line; of the matchers that Jest, Vitest and Playwright have, also the two values."""
    values = _VALUES.findall(text)[:2] if "expect(" in line else []
    return ", ".join([line, *(each for each in values if each not in line)])


def last_line(output: str | None) -> str:
    """Return the last line of an output that says something; empty if none does."""
    return ["", *_telling(output or "", ())][-1]


def _telling(text: str, names: tuple[str, ...]) -> Iterator[str]:
    for line in map(str.strip, text.splitlines()):
        if (
            line.lower() not in {name.lower() for name in names}
            and not says_nothing(line)
            and not _FRAME.fullmatch(line)
        ):
            yield line
