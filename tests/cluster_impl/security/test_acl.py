"""The list of permissions."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.cluster_impl.security.acl import AccessList, NoAuthorizer, Operation, Resource, Rule


def may(authorizer: AccessList | NoAuthorizer, name: str) -> bool:
    return authorizer.authorize(f"User:{name}", Operation.CLUSTER_ACTION, Resource.CLUSTER)


def test_without_a_list_every_user_has_every_permission() -> None:
    assert may(NoAuthorizer(), "ANONYMOUS")


def test_only_an_allowed_user_has_the_permission(tmp_path: Path) -> None:
    path = tmp_path / "acls"
    path.write_text("# nodes\nUser:broker Cluster ClusterAction Allow  # all of them\n\n")
    acls = AccessList.load(path, {"User:admin"})
    assert [may(acls, name) for name in ("broker", "admin", "alice", "ANONYMOUS", "*")] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_deny_wins_over_allow_and_super_users_over_both() -> None:
    acls = AccessList(
        [
            Rule.parse("User:* Cluster ClusterAction Allow"),
            Rule.parse("User:alice Cluster ClusterAction Deny"),
            Rule.parse("User:admin Cluster ClusterAction Deny"),
        ],
        {"User:admin"},
    )
    assert [may(acls, name) for name in ("bob", "alice", "admin", "alice")] == [True, False, True, False]


def test_an_empty_list_allows_no_user(tmp_path: Path) -> None:
    path = tmp_path / "acls"
    path.write_text("")
    assert not may(AccessList.load(path), "broker")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("User:a Cluster ClusterAction", "is not `User:NAME Cluster"),
        ("Group:a Cluster ClusterAction Allow", "'Group:a' is not User:NAME"),
        ("User: Cluster ClusterAction Allow", "'User:' is not User:NAME"),
        ("User:a Topic:t ClusterAction Allow", "'Topic:t' is not known here; this may be Cluster"),
        ("User:a Cluster Describe Allow", "'Describe' is not known here; this may be ClusterAction"),
        ("User:a Cluster ClusterAction Maybe", "'Maybe' is not known here; this may be Allow, Deny"),
    ],
)
def test_a_line_that_promises_what_is_not_kept_is_refused_with_its_number(
    tmp_path: Path, line: str, reason: str
) -> None:
    path = tmp_path / "acls"
    path.write_text(f"User:b Cluster ClusterAction Allow\n{line}\n")
    with pytest.raises(ValueError, match=r"acls, line 2: ") as raised:
        AccessList.load(path)
    assert reason in str(raised.value)
