"""Users with some rights and with none, before, during and after a failover, in a cluster with TLS and logins."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v

SECRET, HERS = "secret", "hers"
RECORDS = 10
"""Records of the topic that the user may not read."""
USER = "alice"
TOPIC_REFUSED, GROUP_REFUSED, NO_LOGIN = "error:29", "error:30", "error:58"
CREATION_REFUSED = "error:[29,31]"
"""A creation is refused in the name of the topic or of the cluster."""
ANSWER_MS = 5000
READ, WRITE = 3, 4
"""Operations of access control entries."""
DELETED_BY_NAME, FIRST_JOIN, PLAIN_METADATA = 5, 0, 4
"""Versions of requests: the last DeleteTopics by name, the first JoinGroup, a Metadata that creates nothing."""


@v.fault_scenario(
    "rights-outlast-the-leader",
    "A user gets and changes only what entries allow: before a leader fails, meanwhile, and when it is back",
    "leader:secret-0",
    v.LeaderIs(as_="another", partition="secret-0", is_not="$failed", expect=v.must("LIVE-01")),
    seconds=25,
    dialects=frozenset({v.Dialect.KIP_631, v.Dialect.KRAFT}),
)
@v.fault_scenario(
    "rights-outlast-the-controller",
    "A user gets and changes only what entries allow: before the active controller fails, meanwhile, and afterwards",
    "active-controller",
    v.ActiveController(as_="another", is_not="$failed", expect=v.must("LIVE-02")),
    seconds=25,
    dialects=frozenset({v.Dialect.KIP_631, v.Dialect.KRAFT}),
)
def rights(failing: str, succeeded: v.Step, draft: v.Draft) -> v.Plan:
    """Entries let the user read and write one topic. All else is refused, by every broker and at all times."""
    leader, follower, _ = draft.roles
    steps: list[v.Step] = [
        v.burst("filled", SECRET, RECORDS),
        v.ask("allow", leader, "create_acls", {"creations": [_entry(READ), _entry(WRITE)]}, v.serves("SEC-06")),
        *_allowed("before"),
        *_refused("before", leader, follower),
        *_unaltered("before", leader),
        v.Bind(as_="failed", node=failing),
        v.inject("crash", v.KillParameters(nodes="$failed")),
        *_refused("meanwhile", follower, leader),
        succeeded,
        *_allowed("after"),
        *_refused("after", follower, leader),
        *_unaltered("after", follower),
        v.Heal(as_="restart", fault="crash"),
        *_refused("again", leader, follower),
        *_unaltered("again", leader),
        *_allowed("again"),
        v.listed(
            "nothing-written",
            f"leader:{SECRET}-0",
            SECRET,
            v.END,
            answer={f"{v.LISTED}.offset": RECORDS},
            expect=v.serves("SEC-02"),
            within_ms=v.LIVENESS_TIMEOUT_MS,
        ),
    ]
    topics = [v.promised_topic(draft.target, draft.roles, name=name) for name in ("t", SECRET, HERS)]
    return draft.plan(steps, "nothing-written", v.acknowledged("crash.proven"), topics=topics, security="tls-scram")


def _entry(operation: int) -> dict[str, Any]:
    return {
        "resource_type": 2,
        "resource_name": HERS,
        "resource_pattern_type": 3,
        "principal": f"User:{USER}",
        "host": "*",
        "operation": operation,
        "permission_type": 3,
    }


def _allowed(when: str) -> list[v.Step]:
    """Write and read the user's own topic: a broker may have to learn of the entries, or of its leader, first."""
    node = f"leader:{HERS}-0"
    values: dict[str, Any] = {"user": USER, "within_ms": v.LIVENESS_TIMEOUT_MS}
    served = v.serves("SEC-06")
    return [
        v.produced(f"{when}-own-write", node, HERS, [{"value": "x"}], expect=served, **values),
        v.fetched(f"{when}-own-read", node, HERS, 0, expect=served, **values),
    ]


def _refused(when: str, node: str, other: str) -> list[v.Step]:
    """Ask a broker, which leads or not, for what the user may not do; it refuses before it looks for more."""
    member = {"group_id": "secret-group", "session_timeout": 6000, "member_id": "", "protocol_type": "consumer"}
    joining = {**member, "protocols": [{"name": "range", "metadata": ""}]}

    def hers(rule: str, outcome: str, **more: Any) -> dict[str, Any]:
        return {"expect": v.answers(rule, outcome), "user": USER, **more}

    def described(name: str, outcome: str, **login: Any) -> v.Step:
        body = {"topics": [], "allow_auto_topic_creation": False}
        expect = v.answers("SEC-07", outcome)
        return v.ask(f"{when}-{name}", node, "metadata", body, expect, version=PLAIN_METADATA, **login)

    as_broker = hers("SEC-05", TOPIC_REFUSED, follower=v.node_id(other))
    return [
        v.fetched(f"{when}-read", node, SECRET, 0, **hers("SEC-01", TOPIC_REFUSED)),
        v.produced(f"{when}-write", node, SECRET, [{"value": "x"}], **hers("SEC-02", TOPIC_REFUSED)),
        v.ask(f"{when}-join", node, "join_group", joining, version=FIRST_JOIN, **hers("SEC-04", GROUP_REFUSED)),
        v.fetched(f"{when}-follow", node, HERS, 0, **as_broker),
        described("unknown", NO_LOGIN, user="unknown"),
        described("wrong-password", NO_LOGIN, password="guessed"),
        described("without-login", "refused", login=False),
    ]


def _unaltered(when: str, node: str) -> list[v.Step]:
    """Ask a broker to create, to delete and to set what the user may not; a controller decides about these."""
    creation = {"topics": [v.new_topic("made")], "timeout": ANSWER_MS, "validate_only": False}
    deletion = {"topic_names": [SECRET], "timeout": ANSWER_MS}
    setting = {"retention.ms": "1"}
    refused = v.answers
    user: dict[str, Any] = {"user": USER}
    return [
        v.ask(f"{when}-create", node, "create_topics", creation, refused("SEC-03", CREATION_REFUSED), **user),
        v.ask(
            f"{when}-delete",
            node,
            "delete_topics",
            deletion,
            refused("SEC-03", TOPIC_REFUSED),
            version=DELETED_BY_NAME,
            **user,
        ),
        v.configured(f"{when}-set", node, SECRET, setting, expect=refused("SEC-03", TOPIC_REFUSED), **user),
    ]
