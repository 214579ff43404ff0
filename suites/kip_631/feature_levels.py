"""The level of metadata.format: what needs it is refused below it, and what it allowed outlives a controller.

The entries that it allows are enforced by every broker, and every broker is shown as an observer of the quorum.
"""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v
from fencepost.suites.kip_631.metadata_log import log_holds

_AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
SETTINGS = v.NodeSettings(
    controller={**_AUTHORIZER, "metadata.format": "1", "controller.heartbeat.interval.ms": "200"}, broker=_AUTHORIZER
)
"""A cluster as older software left it. Clients, which do not log in, may do everything that no entry is about."""

ENTRY = {
    "resource_type": 2,
    "resource_name": "hers",
    "resource_pattern_type": 3,
    "principal": "User:alice",
    "host": "*",
    "operation": 3,
    "permission_type": 3,
}
SECRET = "secret-plans"
DENIED = {**ENTRY, "resource_name": "secret-", "resource_pattern_type": 4, "principal": "User:ANONYMOUS"}
CONTRADICTING = [
    {**DENIED, "operation": 2, "permission_type": 2},
    {**ENTRY, "resource_name": SECRET, "principal": "User:*", "operation": 2},
]
"""A prefix is denied to clients that do not log in, and one topic below it allowed to all: the denial wins."""
HERS = {
    "resource_type_filter": 2,
    "resource_name_filter": "hers",
    "pattern_type_filter": 3,
    "principal_filter": None,
    "host_filter": None,
    "operation": 1,
    "permission_type": 1,
}

RECORD = {
    "log[].principal": [ENTRY["principal"]],
    "log[0].resource_type": ENTRY["resource_type"],
    "log[0].pattern_type": ENTRY["resource_pattern_type"],
    "log[0].host": ENTRY["host"],
    "log[0].operation": ENTRY["operation"],
    "log[0].permission_type": ENTRY["permission_type"],
}
"""The entry as the metadata log has it."""


@v.scenario(
    "metadata-format-raised",
    "A record of level 2 is refused until the level is raised, and outlives the active controller",
    seconds=15,
    dialects=frozenset({v.Dialect.KIP_631}),
)
def raised(draft: v.Draft) -> v.Plan:
    """An entry is refused at level 1 and created at level 2; the successor of the active controller has it.

    All brokers refuse what the entries deny, before they look whether the topic exists.
    """
    leader, *followers = draft.roles
    brokers = sorted((leader, *followers))

    def ask(name: str, api: str, body: dict[str, Any], expect: v.ExpectOutcome, **more: Any) -> v.Step:
        return v.ask(name, leader, api, body, expect, **more)

    update = {"feature": "metadata.format", "max_version_level": 2, "upgrade_type": 1}
    steps: list[v.Step] = [
        ask("too-early", "create_acls", {"creations": [ENTRY]}, v.answers("K631-21", "error:35")),
        ask(
            "raise",
            "update_features",
            {"timeout": 4000, "feature_updates": [update], "validate_only": False},
            v.serves("K631-21", "D631-42"),
            version=1,
            within_ms=v.LIVENESS_TIMEOUT_MS,
        ),
        v.HeartbeatProbe(
            as_="below-the-level",
            node="active-controller",
            broker=leader,
            levels="none",
            timeout_ms=5000,
            expect=v.answers("K631-29", "error:35"),
            unchanged=("brokers", "t-0"),
        ),
        ask("create", "create_acls", {"creations": [ENTRY, *CONTRADICTING]}, v.serves("K631-66")),
        log_holds("entry", {"record": "AccessControlRecord", "resource_name": "hers"}, RECORD, "K631-66", "K631-19"),
        *map(_denied, brokers),
        v.Bind(as_="old", node="active-controller"),
        v.inject("away", v.KillParameters(nodes="$old", back="running")),
        v.ActiveController(as_="elected", is_not="$old", expect=v.must("LIVE-02")),
        ask(
            "describe",
            "describe_acls",
            HERS,
            v.serves("K631-66"),
            answer={"resources[].resource_name": ["hers"], "resources[0].acls[].principal": ["User:alice"]},
            within_ms=v.LIVENESS_TIMEOUT_MS,
        ),
        ask(
            "observers",
            "describe_quorum",
            {"topics": [{"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}]},
            v.serves("D631-33"),
            answer={"topics[0].partitions[0].observers[].replica_id": [v.node_id(broker) for broker in brokers]},
            within_ms=v.LIVENESS_TIMEOUT_MS,
        ),
        v.Heal(as_="restart", fault="away"),
    ]
    return draft.plan(steps, v.acknowledged("restart.ended"), settings=SETTINGS)


def _denied(broker: str) -> v.Step:
    """Ask a broker for the offsets of the topic of which the entries deny everything."""
    return v.listed(
        f"denied-{broker}",
        broker,
        SECRET,
        v.END,
        epoch=None,
        within_ms=v.LIVENESS_TIMEOUT_MS,
        expect=v.answers("D631-43", "error:29"),
    )
