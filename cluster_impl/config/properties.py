"""Java's property file syntax, as Kafka's own configuration files use it.

Supported: `#` and `!` comments, `=`, `:` or white space between key and value, a backslash at the end of a line to
continue it, and the escapes `\\t \\n \\r \\f \\uXXXX` (any other escaped character stands for itself). Of a key that
occurs twice the last value holds, as in Java.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_SEPARATOR = re.compile(r"(?<!\\)(?:\\\\)*(?:[ \t\f]*[=:][ \t\f]*|[ \t\f]+)")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_NAMED_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parse_properties(text: str) -> dict[str, str]:
    """Key to value, both unescaped. Trailing white space of a value is kept, as in Java."""
    pairs: dict[str, str] = {}
    for line in _logical_lines(text):
        separator = _SEPARATOR.search(line)
        if separator is None:
            key, value = line, ""
        else:
            backslashes = len(separator.group()) - len(separator.group().lstrip("\\"))
            key, value = line[: separator.start() + backslashes], line[separator.end() :]
        pairs[_unescape(key)] = _unescape(value)
    return pairs


def _logical_lines(text: str) -> Iterator[str]:
    continued = ""
    for raw in text.splitlines():
        line = continued + raw.lstrip(" \t\f")
        continued = ""
        if not line or (line[0] in "#!"):
            continue
        if (len(line) - len(line.rstrip("\\"))) % 2:
            continued = line[:-1]
            continue
        yield line
    if continued:
        yield continued


def _unescape(text: str) -> str:
    def replacement(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return _NAMED_ESCAPES.get(match[2], match[2])

    return _ESCAPE.sub(replacement, text)
