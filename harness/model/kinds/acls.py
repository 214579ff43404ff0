"""Access control entries: that those which were created and not deleted are there, and no others.

Sources: the descriptions of CreateAcls, DeleteAcls and DescribeAcls; KIP-140 (the requests), KIP-290 (prefixed
patterns, and filters of the type MATCH).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from fencepost.harness.model.effect import DONE, Effect
from fencepost.harness.model.kind import Kind, Question, Scope, results
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.worlds import State

THERE = "there"
ANY, MATCH, LITERAL, PREFIXED = "any", "match", "literal", "prefixed"
EVERY_NAME = "*"
RESOURCES = ("unknown", ANY, "topic", "group", "cluster", "transactional-id", "delegation-token", "user")
PATTERNS = ("unknown", ANY, MATCH, LITERAL, PREFIXED)
PERMISSIONS = ("unknown", ANY, "deny", "allow")
OPERATIONS = (
    *("unknown", ANY, "all", "read", "write", "create", "delete", "alter", "describe", "cluster-action"),
    *("describe-configs", "alter-configs", "idempotent-write", "create-tokens", "describe-tokens", "two-phase-commit"),
)
"""The words of the numbers in messages."""
EVERYTHING = {
    "resource_type_filter": 1,
    "resource_name_filter": None,
    "pattern_type_filter": 1,
    "principal_filter": None,
    "host_filter": None,
    "operation": 1,
    "permission_type": 1,
}
"""The filter that matches all entries."""


class Entry(NamedTuple):
    """One entry, or a filter of entries: there None and `any` match everything."""

    resource: str
    name: str | None
    pattern: str
    principal: str | None
    host: str | None
    operation: str
    permission: str

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Return the entry, or the filter, that these fields of any of the messages have."""

        def field(*names: str) -> Any:
            return next((fields[name] for name in names if name in fields), None)

        return cls(
            _word(RESOURCES, field("resource_type", "resource_type_filter")),
            field("resource_name", "resource_name_filter"),
            _word(PATTERNS, field("resource_pattern_type", "pattern_type", "pattern_type_filter")),
            field("principal", "principal_filter"),
            field("host", "host_filter"),
            _word(OPERATIONS, field("operation")),
            _word(PERMISSIONS, field("permission_type")),
        )

    @property
    def object(self) -> str:
        return json.dumps(self, ensure_ascii=False)

    def matches(self, entry: Entry) -> bool:
        """Return whether this filter finds the entry."""
        return (
            self.resource in (ANY, entry.resource)
            and self._matches_name(entry)
            and self.principal in (None, entry.principal)
            and self.host in (None, entry.host)
            and self.operation in (ANY, entry.operation)
            and self.permission in (ANY, entry.permission)
        )

    def _matches_name(self, entry: Entry) -> bool:
        if self.pattern != MATCH:
            return self.pattern in (ANY, entry.pattern) and self.name in (None, entry.name)
        if self.name is None:
            return True
        if entry.pattern == PREFIXED:
            return self.name.startswith(entry.name or "")
        return entry.name in (self.name, EVERY_NAME)


@dataclass(frozen=True)
class _Creation(Effect):
    @property
    def title(self) -> str:
        return f"create {self.object}"

    def after(self, state: State) -> State:
        return THERE


@dataclass(frozen=True)
class _Deletion(Effect):
    """`listed`: the answer has the entry among those that it deleted."""

    listed: bool

    @property
    def title(self) -> str:
        return f"delete what filters match, with {self.object}" + (", which the answer lists" if self.listed else "")

    def after(self, state: State) -> State:
        return None

    def step(self, state: State) -> Iterator[State]:
        """A request that was forwarded twice lists nothing the second time; an entry that is listed was there."""
        if not (self.code == DONE and self.listed and state is None):
            yield from super().step(state)


class Acls(Kind):
    """Each entry that was created and that no filter matched since is there."""

    name = "access control entries"
    forwarded = True
    requirement = "MDL-05"
    changed_by = frozenset({"create_acls", "delete_acls"})

    def questions(self, scope: Scope) -> Iterator[Question]:
        yield Question("describe_acls", EVERYTHING)

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if answer["error_code"]:
            return None
        return {Entry.of(resource | acl).object: THERE for resource in answer["resources"] for acl in resource["acls"]}

    def state(self, seen: Any) -> State:
        return THERE

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        answers = results(sent.response, "results", "filter_results")
        if sent.api == "create_acls":
            for place, creation in enumerate(sent.body["creations"]):
                code = answers[place]["error_code"] if place < len(answers) else None
                yield _Creation(Entry.of(creation).object, code)
        else:
            yield from _deletions(sent, answers, objects)


def _deletions(sent: Sent, answers: Sequence[Mapping[str, Any]], objects: Collection[str]) -> Iterator[Effect]:
    """Yield one effect for each entry, though several filters of the request may match it."""
    codes: dict[str, set[int | None]] = {}
    listed = {Entry.of(each).object: each["error_code"] for answer in answers for each in answer["matching_acls"]}
    entries = [Entry(*json.loads(name)) for name in {*objects, *listed}]
    for place, fields in enumerate(sent.body["filters"]):
        entry_filter = Entry.of(fields)
        code = answers[place]["error_code"] if place < len(answers) else None
        for entry in filter(entry_filter.matches, entries):
            codes.setdefault(entry.object, set()).add(code or listed.get(entry.object, code))
    for name, of_filters in sorted(codes.items()):
        code = DONE if DONE in of_filters else of_filters.pop() if len(of_filters) == 1 else None
        yield _Deletion(name, code, listed.get(name) == DONE)


def _word(words: Sequence[str], number: int) -> str:
    return words[number] if 0 <= number < len(words) else str(number)
