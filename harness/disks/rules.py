"""Which operations on a mounted log directory are delayed or refused, switched while files are open."""

from __future__ import annotations

import errno
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from fencepost.faults.capabilities import DiskRule, Operation

SLICE = 0.02
"""Seconds between two checks of a delayed operation that its rule still exists."""


class Rules:
    """Safe for many threads. `counts` says whether the operation that asks right now is one to be counted."""

    def __init__(self, counts: Callable[[], bool], dying: Callable[[], bool]) -> None:
        self._counts = counts
        self._dying = dying
        self._lock = threading.Lock()
        self._rules: dict[str, DiskRule] = {}
        self._hits: dict[str, Counter[str]] = {}

    def add(self, name: str, rule: DiskRule) -> None:
        with self._lock:
            self._rules = {**self._rules, name: rule}
            self._hits.setdefault(name, Counter())

    def remove(self, name: str) -> Mapping[str, int]:
        """Remove a rule; return how many operations of each kind matched it."""
        with self._lock:
            self._rules = {key: rule for key, rule in self._rules.items() if key != name}
            return dict(self._hits.pop(name, {}))

    def clear(self) -> None:
        with self._lock:
            self._rules = {}

    def check(self, operation: Operation, path: str, *, to_write: bool = False) -> None:
        """Waits as long as a rule says; raises OSError if one refuses the operation.

        An fsync whose process was killed while it waited fails (EINTR): a disk that is late has not done it.
        """
        if rule := self._meets((operation,), path, to_write):
            raise refusal(rule)

    def check_write(self, path: str, *, grows: bool) -> DiskRule | None:
        """As `check`, for a write of bytes: the rule that refuses it may let the first of them through."""
        return self._meets((Operation.WRITE, Operation.GROW) if grows else (Operation.WRITE,), path, True)

    def _meets(self, operations: Sequence[Operation], path: str, to_write: bool) -> DiskRule | None:
        refused_by = None
        for name, rule in self._rules.items():
            if not any(applies(rule, operation, path, to_write) for operation in operations):
                continue
            if self._counts():
                with self._lock:
                    self._hits.setdefault(name, Counter())[operations[0].value] += 1
            if rule.delay_ms and self._delay(name, rule) and Operation.FSYNC in operations:
                raise OSError(errno.EINTR, "the process was killed before its fsync had ended")
            if rule.error is not None:
                refused_by = refused_by or rule
        return refused_by

    def _delay(self, name: str, rule: DiskRule) -> bool:
        """Wait for the delay of a rule; stop when it is removed, or when SIGKILL is pending for the process.

        Return whether SIGKILL ended it.
        """
        until = time.monotonic() + rule.delay_ms / 1000
        while (remaining := until - time.monotonic()) > 0 and self._rules.get(name) == rule:
            if self._dying():
                return True
            time.sleep(min(remaining, SLICE))
        return False


def applies(rule: DiskRule, operation: Operation, path: str, to_write: bool = False) -> bool:
    if operation not in rule.operations or (operation is Operation.OPEN and rule.to_write and not to_write):
        return False
    return rule.files is None or matches(path, rule.files)


def matches(path: str, pattern: str) -> bool:
    """Return whether the pattern is for this path in a log directory, or for its last part."""
    return fnmatchcase(path, pattern) or fnmatchcase(PurePosixPath(path).name, pattern)


def example(files: str | None) -> str:
    """Return a path that a pattern matches."""
    if files is None:
        return "any"
    text, rest = "", files
    while rest:
        if rest[0] == "[" and "]" in rest[2:]:
            end = rest.index("]", 2)
            inside = rest[1:end]
            text += next(character for character in map(chr, range(33, 127)) if fnmatchcase(character, f"[{inside}]"))
            rest = rest[end + 1 :]
        else:
            text += "x" if rest[0] in "*?" else rest[0]
            rest = rest[1:]
    return text


def as_json(rule: DiskRule) -> dict[str, Any]:
    return {**vars(rule), "operations": sorted(operation.value for operation in rule.operations)}


def from_json(fields: Mapping[str, Any]) -> DiskRule:
    return DiskRule(**{**fields, "operations": frozenset(map(Operation, fields["operations"]))})


def refusal(rule: DiskRule) -> OSError:
    name = rule.error or "EIO"
    return OSError(getattr(errno, name), name)
