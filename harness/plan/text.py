"""The text of plan files as fencepost writes them, twenty times as fast as ruamel.yaml, which is for any YAML.

`write` gives the bytes that ruamel.yaml gives. `read` takes a text that `write` would give, and no other: it writes
what it has read, and compares. For all else both return None, and ruamel.yaml has to do the work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode

WIDTH = 110
"""The column after which a line is folded."""
_LONGEST_KEY = 100
_TEXT = "tag:yaml.org,2002:str"
_QUOTED = r"'(?:[^']|'')*'"
_KEY = re.compile(rf"({_QUOTED}|[^'\[{{\s].*?):(?: (.*))?$")
_ITEM = re.compile(rf" *({_QUOTED}|[^'].*?) *(?:,|$)")
_ENTRY = re.compile(rf" *({_QUOTED}|[^'].*?): ({_QUOTED}|[^'].*?) *(?:,|$)")
_CONSTANTS = {"true": True, "false": False, "null": None}


class _Unusual(Exception):
    """The text is not one that `write` gives, or the data is not what plans have."""


def write(data: Any) -> str | None:
    """Return plain data as YAML: mappings and lists of scalars on one line, all others in block style."""
    if not _is_block(data):
        return None
    writer = _Writer()
    try:
        writer.mapping(data, 0)
    except _Unusual:
        return None
    return writer.text()


def read(text: str) -> Any:
    """Return the plain data in a text that `write` gives, None for any other text."""
    try:
        data = _Reader(text).document()
    except (_Unusual, ValueError):
        return None
    return data if write(data) == text else None


class _Writer:
    """Follows the column and the pending space as ruamel's emitter does, on which the places of folds depend."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._column = 0
        self._spaced = True

    def text(self) -> str:
        return "".join(self._parts) + "\n"

    def mapping(self, data: Any, indent: int, *, in_item: bool = False) -> None:
        if not isinstance(data, dict) or not data:
            raise _Unusual
        for number, (key, value) in enumerate(data.items()):
            if self._parts and not (in_item and number == 0):
                self._break(indent)
            self._key(key, indent, flow=False)
            if _is_block(value):
                if isinstance(value, dict):
                    self.mapping(value, indent + 2)
                else:
                    self._sequence(value, indent)
            else:
                self._value(value, indent)

    def _sequence(self, items: Sequence[Any], indent: int) -> None:
        for item in items:
            self._break(indent)
            self._mark("-")
            if not _is_block(item):
                if not isinstance(item, dict | list):
                    raise _Unusual
                self._value(item, indent)
            elif isinstance(item, dict):
                self._put(" ")
                self._spaced = True
                self.mapping(item, indent + 2, in_item=True)
            else:
                raise _Unusual

    def _value(self, value: Any, indent: int) -> None:
        if isinstance(value, dict):
            self._flow("{}", value.items(), indent + 2)
        elif isinstance(value, list):
            self._flow("[]", [(None, item) for item in value], indent + 2)
        else:
            self._scalar(value, indent + 2, flow=False)

    def _flow(self, brackets: str, entries: Any, indent: int) -> None:
        self._mark(brackets[0], spaced=True)
        for number, (key, value) in enumerate(entries):
            if number:
                self._put(",")
                self._spaced = False
            if self._column > WIDTH:
                self._break(indent)
            if key is not None:
                self._key(key, indent, flow=True)
            self._scalar(value, indent + 2, flow=True)
        self._put(brackets[1])
        self._spaced = False

    def _key(self, key: Any, indent: int, *, flow: bool) -> None:
        if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY:
            raise _Unusual
        self._scalar(key, indent + 2, flow=flow, split=False)
        self._put(":")
        self._spaced = False

    def _scalar(self, value: Any, indent: int, *, flow: bool, split: bool = True) -> None:
        text, plain = _scalar(value, flow)
        if plain:
            self._plain(text, indent, split)
        else:
            self._quoted(text, indent, split)

    def _plain(self, text: str, indent: int, split: bool) -> None:
        if not self._spaced:
            self._put(" ")
        self._spaced = False
        for number, word in enumerate(text.split(" ")):
            if number and split and self._column >= WIDTH:
                self._break(indent, spaced=False)
            elif number:
                self._put(" ")
            if self._column + len(word) > WIDTH and self._column > indent:
                self._break(indent, spaced=False)
            self._put(word)

    def _quoted(self, text: str, indent: int, split: bool) -> None:
        self._mark("'")
        for number, word in enumerate(text.split(" ")):
            if number and split and self._column > WIDTH:
                self._break(indent, spaced=False)
            elif number:
                self._put(" ")
            self._put(word)
        self._put("'")
        self._spaced = False

    def _mark(self, indicator: str, *, spaced: bool = False) -> None:
        self._put(indicator if self._spaced else f" {indicator}")
        self._spaced = spaced

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._column += len(text)

    def _break(self, indent: int, *, spaced: bool = True) -> None:
        self._parts.append("\n" + " " * indent)
        self._column, self._spaced = indent, spaced


def _is_block(value: Any) -> bool:
    """Return whether a value is a mapping or a list with another one in it."""
    if isinstance(value, dict):
        return any(isinstance(item, dict | list) for item in value.values())
    return isinstance(value, list) and any(isinstance(item, dict | list) for item in value)


def _scalar(value: Any, flow: bool) -> tuple[str, bool]:
    """Return the text of a scalar, and whether it stands without quotes."""
    match value:
        case str():
            return _text(value, flow)
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value], True
        case int():
            return str(value), True
        case float() if re.fullmatch(r"-?\d+\.\d+", repr(value)):
            return repr(value), True
    raise _Unusual


@lru_cache(maxsize=1 << 14)
def _text(text: str, flow: bool) -> tuple[str, bool]:
    emitter, resolver = _judges()
    analysis = emitter.analyze_scalar(text)
    allowed = analysis.allow_flow_plain if flow else analysis.allow_block_plain
    if not text.isascii() or not text.isprintable() or "  " in text or text != text.strip():
        raise _Unusual
    if not text:
        return text, False
    if allowed and resolver.resolve(ScalarNode, text, (True, False)) == _TEXT:
        return text, True
    if "'" in text or not analysis.allow_single_quoted:
        raise _Unusual
    return text, False


@cache
def _judges() -> tuple[Any, Any]:
    """Return the parts of ruamel.yaml that decide which texts stand without quotes."""
    yaml = YAML(typ="safe", pure=True)
    _, _, emitter = yaml.get_serializer_representer_emitter(StringIO(), None)
    return emitter, yaml.resolver


class _Reader:
    """Reads by lines. What is indented further than a key or a dash with a value beside it continues the value."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._next = 0

    def document(self) -> Any:
        if self._lines.pop() != "":
            raise _Unusual
        return self._mapping(0)

    def _mapping(self, indent: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while (line := self._at(indent)) is not None and not line.startswith("- "):
            match = _KEY.match(line)
            if match is None:
                raise _Unusual
            key, rest = str(_value(match[1])), match[2]
            self._next += 1
            if rest is not None:
                found[key] = _inline(self._continued(rest, indent))
            elif (below := self._at(indent)) is not None and below.startswith("- "):
                found[key] = self._sequence(indent)
            else:
                found[key] = self._mapping(indent + 2)
        if not found:
            raise _Unusual
        return found

    def _sequence(self, indent: int) -> list[Any]:
        found: list[Any] = []
        while (line := self._at(indent)) is not None and line.startswith("- "):
            if line[2] in "{[":
                self._next += 1
                found.append(_inline(self._continued(line[2:], indent)))
            else:
                self._lines[self._next] = " " * (indent + 2) + line[2:]
                found.append(self._mapping(indent + 2))
        return found

    def _at(self, indent: int) -> str | None:
        """Return the line that is next without its indentation, None if that is another, or there is no line."""
        if self._next == len(self._lines):
            return None
        line = self._lines[self._next]
        return line[indent:] if len(line) - len(line.lstrip(" ")) == indent else None

    def _continued(self, value: str, indent: int) -> str:
        parts = [value.rstrip(" ")]
        prefix = " " * (indent + 1)
        while self._next < len(self._lines) and self._lines[self._next].startswith(prefix):
            parts.append(self._lines[self._next].strip(" "))
            self._next += 1
        return " ".join(filter(None, parts))


def _inline(text: str) -> Any:
    if text[:1] == "[" and text[-1:] == "]":
        return [_value(match[1]) for match in _matches(_ITEM, text[1:-1])]
    if text[:1] == "{" and text[-1:] == "}":
        return {str(_value(match[1])): _value(match[2]) for match in _matches(_ENTRY, text[1:-1])}
    return _value(text)


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    place = 0
    while place < len(text):
        match = pattern.match(text, place)
        if match is None:
            raise _Unusual
        yield match
        place = match.end()


def _value(text: str) -> Any:
    if text[:1] == "'":
        return text[1:-1].replace("''", "'")
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d+\.\d+", text) else text
