"""YAML files that users write, read into models. Each mistake names its file, its line and the nearest right key."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent

from fencepost.harness.errors import UsageError

Location = Sequence[str | int]
_Model = TypeVar("_Model", bound=BaseModel)

DEEPEST = 100
"""Levels of nesting that no file of a user needs."""


class YamlFileError(UsageError, ValueError):
    """A file that cannot be used. `messages` say what is wrong, where, and how to correct it."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__("\n".join(messages))
        self.messages = tuple(messages)


def read_text(path: Path, kind: str) -> str:
    """Return the text of a file. YamlFileError if it is no text or a folder; OSError if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise YamlFileError([f"{path} is not text (byte {error.start}): a {kind} is YAML in UTF-8"]) from None
    except IsADirectoryError:
        raise YamlFileError([f"{path} is a folder: name a {kind} file"]) from None


def parse_mapping(text: str, file: str, kind: str, begins: str) -> CommentedMap:
    """Return the mapping in `text`, which keeps its line numbers.

    Errors call the text `file`, say that it is no `kind`, and that such a file begins with `begins`. YamlFileError.
    """
    too_deep = f"more than {DEEPEST} levels of nesting at {file}:{{}}: no {kind} has so many"
    if open_brackets(text) > DEEPEST and (line := _line_of_depth(text)) is not None:
        raise YamlFileError([too_deep.format(line)])
    try:
        data = YAML(typ="rt").load(text)
    except YAMLError as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        line = mark.line + 1 if mark is not None else 1
        what = error.problem if isinstance(error, MarkedYAMLError) and error.problem else str(error)
        raise YamlFileError([f"{what} at {file}:{line}"]) from None
    except RecursionError:
        raise YamlFileError([too_deep.format(_line_of_depth(text))]) from None
    if not isinstance(data, CommentedMap):
        raise YamlFileError([f"no {kind} at {file}:1: a {kind} is a mapping that begins with `{begins}`"])
    return data


def validated(
    model: type[_Model], data: CommentedMap, file: str, defaults: Mapping[str, Any] = MappingProxyType({})
) -> _Model:
    """Return the model of a mapping, with `defaults` for keys that it lacks. YamlFileError with a line per mistake."""
    try:
        return model.model_validate({**defaults, **data})
    except ValidationError as error:
        messages = [_message(data, detail, file) for detail in error.errors()]
        raise YamlFileError(list(dict.fromkeys(messages))) from None


def line_of(data: Any, location: Location) -> int:
    """Return the line (from 1) of the value at `location`, or of the nearest value around it that is in the file.

    Pydantic puts the tags of unions into its locations: a part that the data does not have is skipped.
    """
    here = data
    line: int = data.lc.line + 1
    for part in location:
        if isinstance(here, CommentedMap) and part in here:
            line = here.lc.key(part)[0] + 1
        elif isinstance(here, CommentedSeq) and isinstance(part, int) and part < len(here):
            line = here.lc.item(part)[0] + 1
        else:
            continue
        here = here[part]
    return line


def _message(data: CommentedMap, detail: ErrorDetails, file: str) -> str:
    location, context = detail["loc"], detail.get("ctx", {})
    if detail["type"] == "unknown_key":
        line = line_of(data, [*location, context["key"]])
        return f"unknown key `{context['key']}` at {file}:{line}; {context['hint']}"
    line, name = line_of(data, location), _key(data, location) or file
    if detail["type"] == "missing":
        return f"missing key `{location[-1]}` at {file}:{line}"
    if detail["type"] in ("union_tag_invalid", "union_tag_not_found", "missing_keys"):
        return f"`{name}` at {file}:{line}: {detail['msg']}"
    return f"`{name}` at {file}:{line}: {detail['msg']}, not {detail['input']!r}{_nearest(detail)}"


def _key(data: Any, location: Location) -> str | None:
    """Return the last key of a location that the data has; None if it has none of them."""
    here, key = data, None
    for part in location:
        inside = isinstance(here, CommentedMap) and part in here
        if inside or (isinstance(here, CommentedSeq) and isinstance(part, int) and part < len(here)):
            here, key = here[part], part if isinstance(part, str) else key
    return key


def _nearest(detail: ErrorDetails) -> str:
    """Return `; did you mean 'kill'?` for a value that is nearly one of the allowed ones."""
    allowed = re.findall(r"'([^']*)'", str(detail.get("ctx", {}).get("expected", "")))
    near = difflib.get_close_matches(str(detail["input"]), allowed, n=1)
    return f"; did you mean '{near[0]}'?" if near else ""


def open_brackets(text: str) -> int:
    """Return the highest number of brackets that are open at one place, those in strings included."""
    steps = (1 if each in "[{" else -1 for each in re.findall(r"[\[\]{}]", text))
    return max(accumulate(steps), default=0)


def _line_of_depth(text: str) -> int | None:
    """Return the line at which the text is nested too deeply; None if it is not. The parser of events is no recursion.

    Of a text that ends too early it sees the nesting up to there.
    """
    depth = 0
    try:
        for event in YAML(typ="rt").parse(text):
            depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
            if depth > DEEPEST:
                return int(event.start_mark.line) + 1
    except YAMLError:
        pass
    return None
