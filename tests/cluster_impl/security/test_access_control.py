"""Decisions by access control entries."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.security.access_control import AccessControl
from fencepost.cluster_impl.security.entries import (
    AccessControlEntry,
    AclOperation,
    EntryFilter,
    PatternType,
    PermissionType,
    ResourceType,
)

TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
READ, WRITE, DESCRIBE, ALL = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE, AclOperation.ALL
ALICE, HERE = "User:alice", "127.0.0.1"


def entry(
    name: str,
    operation: AclOperation,
    *,
    kind: ResourceType = TOPIC,
    principal: str = ALICE,
    host: str = "*",
    prefixed: bool = False,
    deny: bool = False,
) -> AccessControlEntry:
    pattern = PatternType.PREFIXED if prefixed else PatternType.LITERAL
    permission = PermissionType.DENY if deny else PermissionType.ALLOW
    return AccessControlEntry(kind, name, pattern, principal, host, operation, permission)


def access(*entries: AccessControlEntry, allow_if_none: bool = False) -> AccessControl:
    kept = dict.fromkeys(entries)
    return AccessControl(lambda: kept, {"User:admin"}, allow_if_none=allow_if_none)


def may(control: AccessControl, operation: AclOperation, name: str, principal: str = ALICE, host: str = HERE) -> bool:
    return control.allows(principal, host, operation, TOPIC, name)


@pytest.mark.requirement("D631-43")
def test_only_a_super_user_may_do_what_no_entry_allows() -> None:
    control = access(entry("t", READ))
    assert may(control, READ, "t")
    assert not may(control, WRITE, "t")
    assert not may(control, READ, "u")
    assert not may(control, READ, "t", "User:bob")
    assert may(control, WRITE, "u", "User:admin")


@pytest.mark.requirement("D631-43")
def test_deny_wins_over_allow_whatever_pattern_each_has() -> None:
    control = access(entry("*", ALL, principal="User:*"), entry("secret-", READ, prefixed=True, deny=True))
    assert may(control, READ, "open")
    assert not may(control, READ, "secret-1")
    assert may(control, WRITE, "secret-1")
    assert may(control, READ, "secret-1", "User:bob")


def test_a_prefix_covers_the_names_that_begin_with_it_and_a_literal_star_all() -> None:
    control = access(entry("orders-", WRITE, prefixed=True), entry("*", READ, principal="User:bob"))
    assert [may(control, WRITE, name) for name in ("orders-1", "orders-", "orders", "my-orders-1")] == [
        True, True, False, False
    ]  # fmt: skip
    assert may(control, READ, "anything", "User:bob")
    assert not control.allows("User:bob", HERE, READ, GROUP, "anything")


def test_an_entry_for_a_host_is_for_that_host() -> None:
    control = access(entry("t", READ, host="10.0.0.7"))
    assert may(control, READ, "t", host="10.0.0.7")
    assert not may(control, READ, "t")


def test_a_user_that_may_read_may_also_describe_but_a_denial_is_of_one_operation() -> None:
    control = access(entry("t", WRITE), entry("u", DESCRIBE), entry("u", READ, deny=True))
    assert may(control, DESCRIBE, "t")
    assert may(control, DESCRIBE, "u")
    assert not may(control, READ, "u")


def test_without_any_entry_for_a_resource_the_setting_decides() -> None:
    control = access(entry("t", READ), allow_if_none=True)
    assert may(control, WRITE, "u", "User:bob")
    assert not may(control, WRITE, "t", "User:bob")


def test_entries_that_change_have_their_effect_at_once() -> None:
    kept = [dict.fromkeys([entry("t", READ)])]
    control = AccessControl(lambda: kept[0])
    assert may(control, READ, "t")
    kept[0] = {}
    assert not may(control, READ, "t")


@pytest.mark.parametrize(
    ("entries", "some"),
    [
        ([], False),
        ([entry("t", WRITE)], True),
        ([entry("t", READ)], False),
        ([entry("t", WRITE), entry("*", WRITE, deny=True)], False),
        ([entry("t", WRITE), entry("t", ALL, deny=True)], False),
        ([entry("team-1", WRITE), entry("team-", WRITE, prefixed=True, deny=True)], False),
        ([entry("team-", WRITE, prefixed=True), entry("t", WRITE, deny=True)], True),
    ],
)
def test_somewhere_to_write(entries: list[AccessControlEntry], some: bool) -> None:
    assert access(*entries).allows_on_some(ALICE, HERE, WRITE, TOPIC) is some


def test_the_allowed_operations_are_bits() -> None:
    control = access(entry("t", READ), entry("g", ALL, kind=GROUP))
    assert control.operations(ALICE, HERE, TOPIC, "t") == 1 << READ | 1 << DESCRIBE
    assert control.operations(ALICE, HERE, GROUP, "g") == 1 << READ | 1 << AclOperation.DELETE | 1 << DESCRIBE


@pytest.mark.parametrize(
    ("name", "pattern", "found"),
    [
        (None, PatternType.ANY, ["t", "t-", "*"]),
        ("t", PatternType.LITERAL, ["t"]),
        ("t-", PatternType.PREFIXED, ["t-"]),
        ("t-1", PatternType.MATCH, ["t-", "*"]),
        ("t-1", PatternType.ANY, []),
    ],
)
def test_a_filter_finds_entries_by_their_pattern(name: str | None, pattern: PatternType, found: list[str]) -> None:
    entries = [entry("t", READ), entry("t-", READ, prefixed=True), entry("*", WRITE)]
    wanted = EntryFilter(TOPIC, name, pattern, None, None, AclOperation.ANY, PermissionType.ANY)
    assert [each.resource_name for each in entries if wanted.matches(each)] == found


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (entry("", READ), "has no name"),
        (entry("t", READ, kind=CLUSTER), "kafka-cluster"),
        (entry("t", READ, principal="alice"), "not a principal"),
        (entry("t", AclOperation.ANY), "no operation"),
        (entry("t", READ, host=""), "host is empty"),
        (AccessControlEntry(TOPIC, "t", PatternType.MATCH, ALICE, "*", READ, PermissionType.ALLOW), "literal"),
        (AccessControlEntry(9, "t", PatternType.LITERAL, ALICE, "*", READ, PermissionType.ALLOW), "no type"),
        (AccessControlEntry(TOPIC, "t", PatternType.LITERAL, ALICE, "*", READ, PermissionType.ANY), "permission"),
    ],
)
def test_what_cannot_be_an_entry_has_a_message(bad: AccessControlEntry, why: str) -> None:
    assert why in (bad.problem() or "")
    assert entry("t", READ).problem() is None
