"""Access control entries are created and deleted, and requests are sent that they deny.

No entry is about anything that another step uses: an entry that allows something to one principal refuses it to all
others. Where no entry is, everything is allowed to the clients of plans, which do not log in.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.mistakes import Mistake, MistakenRequests
from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation, asked
from fencepost.harness.campaign.operations.requests import TOPIC, altered, any_broker, api, must
from fencepost.harness.campaign.topics import LONGEST
from fencepost.harness.plan.conditions.leader_is import LeaderIs
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps import Step

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

AUTHORIZER: Mapping[str, str] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
OF_CONTROLLERS: Mapping[str, str] = {"super.users": "User:ANONYMOUS"}
"""Controllers know no entries before they have a leader, and then only super users may vote: the other nodes, which do
not log in. So only brokers refuse what entries deny."""
WITHOUT_ENTRIES: Mapping[str, str] = {
    Dialect.LEADER_DRIVEN: "it keeps no access control entries",
    "zk-controller": "it keeps no access control entries",
    "apache-kafka-zk": "its authorizer is another class in each of three ranges of releases",
}
ANY, MATCH, LITERAL, PREFIXED = 1, 2, 3, 4
"""Types of patterns; ANY stands for every resource, operation and permission, too."""
GROUP, TRANSACTIONAL_ID = 3, 5
ALL, DENY, ALLOW = 2, 2, 3
"""The operation that stands for all, and the permissions."""
OPERATIONS = (ALL, 3, 4, 6, 7, 8, 10, 11)
NAMES = ("acl", "acl-a", "acl-ab", "acl-" + "b" * (LONGEST - 4), "acl-ä b/*")
"""Names of resources, of which some are the beginning of others. One is as long as that of a topic can be, and one is
none that a topic can have."""
PRINCIPALS = ("User:alice", "User:*", "User:CN=alice,OU=a b", "User:" + "p" * 1000)
HOSTS = ("*", "192.0.2.1")
FOR_ALL = {
    "resource_type": TOPIC,
    "resource_name": "*",
    "resource_pattern_type": LITERAL,
    "principal": "User:*",
    "host": "*",
    "operation": ALL,
    "permission_type": ALLOW,
}
"""An entry about all topics, which allows what is allowed anyway."""
MOST = 4
"""Requests of one operation, and entries of one request."""
INVALID = 42


class ChangeAcls(Operation):
    """Entries are created, and deleted by filters of all kinds, each request once or twice.

    All of that is legal whatever there is: an entry that exists may be created, and a filter may match none.
    """

    name = "change-acls"
    weight = 3
    at_end = True
    settings = AUTHORIZER
    settings_of_controllers = OF_CONTROLLERS
    left_out = WITHOUT_ENTRIES

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        steps: list[Step] = []
        entries: list[Mapping[str, Any]] = []
        for _ in range(rng.randint(1, MOST)):
            if not entries or rng.random() < 0.6:
                created = [_entry(rng) for _ in range(rng.randint(1, MOST))]
                entries += created
                name, request, body = "create", "create_acls", {"creations": created}
            else:
                filters = [_filter(rng, rng.choice(entries)) for _ in range(rng.choice((1, 1, 2)))]
                name, request, body = "delete", "delete_acls", {"filters": filters}
            times = range(rng.choice((1, 2)))
            steps += [api(script, name, asked(rng, script, of_any=True), request, body) for _ in times]
        return GeneratedOperation(f"access control entries changed by {len(steps)} requests", tuple(steps))


class MistakenAcls(MistakenRequests):
    """An entry is created that no entry can be, or a filter names what is unknown."""

    name = "mistaken-acls"
    weight = 1
    settings = AUTHORIZER
    settings_of_controllers = OF_CONTROLLERS
    left_out = WITHOUT_ENTRIES

    def mistakes(self, rng: random.Random, script: Script) -> Iterator[Mistake]:
        entry = _entry(rng)
        unknown = {**_filter_of(entry), "operation": 0}
        nameless = {"creations": [{**entry, "resource_name": ""}]}
        yield Mistake("an entry of a resource without a name", "create_acls", nameless, (INVALID,), of_any=True)
        if script.cluster.target.dialect is Dialect.KRAFT:
            return  # Apache Kafka 4.4.0 answers the others with an unknown server error, or ends the connection
        yield Mistake(
            "a filter with an unknown operation", "delete_acls", {"filters": [unknown]}, (INVALID,), of_any=True
        )
        for title, wrong in (
            ("the pattern of a filter", {"resource_pattern_type": MATCH}),
            ("any operation", {"operation": ANY}),
            ("any permission", {"permission_type": ANY}),
            ("any type of resource", {"resource_type": ANY}),
        ):
            body = {"creations": [{**entry, **wrong}]}
            yield Mistake(f"an entry with {title}", "create_acls", body, (INVALID,), of_any=True)


def _entry(rng: random.Random) -> dict[str, Any]:
    if rng.random() < 0.1:
        return FOR_ALL
    return {
        "resource_type": rng.choice((TOPIC, GROUP, TRANSACTIONAL_ID)),
        "resource_name": rng.choice(NAMES),
        "resource_pattern_type": rng.choice((LITERAL, PREFIXED)),
        "principal": rng.choice(PRINCIPALS),
        "host": rng.choice(HOSTS),
        "operation": rng.choice(OPERATIONS),
        "permission_type": rng.choice((DENY, ALLOW)),
    }


def _filter_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filter that matches this entry only."""
    return {
        "resource_type_filter": entry["resource_type"],
        "resource_name_filter": entry["resource_name"],
        "pattern_type_filter": entry["resource_pattern_type"],
        "principal_filter": entry["principal"],
        "host_filter": entry["host"],
        "operation": entry["operation"],
        "permission_type": entry["permission_type"],
    }


def _filter(rng: random.Random, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a filter that matches the entry, and maybe others with its name, or of its principal."""
    wider = {
        "resource_type_filter": ANY,
        "pattern_type_filter": rng.choice((ANY, MATCH)),
        "host_filter": None,
        "operation": ANY,
        "permission_type": ANY,
        rng.choice(("resource_name_filter", "principal_filter")): None,
    }
    widened = rng.sample(sorted(wider), rng.randint(0, len(wider)))
    return _filter_of(entry) | {key: wider[key] for key in widened}


@dataclass(frozen=True)
class Refusal:
    """A request that changes something, the error that says that its sender may not, and its newest version that names
    topics."""

    api: str
    body: Mapping[str, Any]
    error: int
    version: int | None = None
    forwarded: bool = False
    """Apache Kafka leaves it to the controller whether the sender may do it."""


class RefusedRequests(Operation):
    """A topic, a group and a transactional id are denied to a client, which asks for changes of them.

    Each request is refused with the error for that (ADM-06), and has changed nothing. It is described and read as
    before. In half of all cases the denial is lifted, and a change is served.
    """

    name = "refused-requests"
    weight = 3
    at_end = of_whole_clusters = True
    settings = AUTHORIZER
    settings_of_controllers = OF_CONTROLLERS
    left_out = WITHOUT_ENTRIES

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        name, bound = script.name("denied"), script.name("named")
        within: dict[str, Any] = {"within_ms": script.cluster.liveness_timeout_ms}
        served = any_broker(rng, script, "LIVE-04")
        how = any_broker(rng, script, "ADM-06")  # the same broker for all: others may hear of the entries later

        def refused(title: str, refusal: Refusal, **more: Any) -> ApiProbe:
            version = {} if refusal.version is None else {"version": refusal.version}
            sent = replace(how, expect=must("ADM-06", f"error:{refusal.error}"))
            return api(script, title, sent, refusal.api, dict(refusal.body), **version, **more)

        replicas = script.cluster.fewest_replicas
        created = {"name": name, "num_partitions": 1, "replication_factor": replicas, "assignments": []}
        ours = _filter_of(denials(name)[0]) | {"resource_type_filter": ANY, "operation": ANY, "permission_type": ANY}
        steps: list[Step] = [
            api(script, "create", served, "create_topics", {"topics": [created], "timeout": 5000}),
            LeaderIs(as_=script.name("led"), partition=f"{name}-0", **within),
            api(script, "deny", served, "create_acls", {"creations": denials(name)}, **within),
            # Without entries the name is not bound, and nothing is asked for.
            api(
                script, "entries", served, "describe_acls", ours, binds={bound: "resources[0].resource_name"}, **within
            ),
        ]
        by_controller = script.cluster.target.dialect is Dialect.KRAFT
        refusals = [each for each in refusals_of(f"${bound}") if not (each.forwarded and by_controller)]
        asked_for = rng.sample(refusals, rng.randint(MOST, len(refusals)))
        harmless = Refusal("delete_records", _truncated(f"${bound}"), TOPIC_DENIED)
        steps.append(refused("known", harmless, **within))
        steps += [refused("denied", refusal) for refusal in asked_for]
        if rng.random() < 0.5:
            steps += [
                api(script, "lift", served, "delete_acls", {"filters": [ours]}, **within),
                api(script, "alter", how, "incremental_alter_configs", _changed(name), **within),
            ]
        return GeneratedOperation(f"{len(asked_for)} requests refused for want of a permission", tuple(steps))


TOPIC_DENIED, GROUP_DENIED, TRANSACTIONAL_ID_DENIED = 29, 30, 53
SENDER = "User:ANONYMOUS"
"""The principal of clients that do not log in."""
DENIED: Mapping[int, Sequence[int]] = {TOPIC: (4, 6, 7, 11), GROUP: (3, 6), TRANSACTIONAL_ID: (4,)}
"""The operations on each type of resource that change something: of topics to write, delete, alter, and alter settings;
of groups to read, as members and commits do, and delete; of transactional ids to write."""


def denials(name: str) -> list[dict[str, Any]]:
    """Return the entries that allow everything else to be done to the resources of this name, and deny changes."""
    entry = {"resource_name": name, "resource_pattern_type": LITERAL, "principal": SENDER, "host": "*"}
    rights = [(type, ALL, ALLOW) for type in DENIED]
    rights += [(type, operation, DENY) for type, operations in DENIED.items() for operation in operations]
    keys = ("resource_type", "operation", "permission_type")
    return [{**entry, **dict(zip(keys, each, strict=True))} for each in rights]


def refusals_of(name: str) -> Iterator[Refusal]:
    """Yield the requests that `denials` refuse."""
    partition = {"partition_index": 0, "committed_offset": 0, "committed_metadata": ""}
    committed = [{"name": name, "partitions": [partition]}]
    by_name = {"topic_id": "00000000-0000-0000-0000-000000000000", "name": name}
    whole = {"resource_type": TOPIC, "resource_name": name, "configs": [{"name": "retention.ms", "value": "3600000"}]}
    grown = {"name": name, "count": 3, "assignments": None}
    producer = {"transactional_id": name, "producer_id": 0, "producer_epoch": 0}
    of_topic, of_group, of_producer = TOPIC_DENIED, GROUP_DENIED, TRANSACTIONAL_ID_DENIED
    yield Refusal("produce", _written(name), of_topic, 9)
    yield Refusal("delete_records", _truncated(name), of_topic)
    yield Refusal(
        "create_partitions", {"topics": [grown], "timeout": 5000, "validate_only": False}, of_topic, forwarded=True
    )
    yield Refusal("incremental_alter_configs", _changed(name), of_topic, forwarded=True)
    yield Refusal("alter_configs", {"resources": [whole], "validate_only": False}, of_topic, forwarded=True)
    yield Refusal("delete_topics", {"topics": [by_name], "timeout": 5000}, of_topic, forwarded=True)
    commit = {"group_id": name, "generation_id_or_member_epoch": -1, "member_id": "", "topics": committed}
    yield Refusal("offset_commit", commit, of_group, 8)
    yield Refusal("offset_delete", {"group_id": name, "topics": []}, of_group)
    yield Refusal("delete_groups", {"groups_names": [name]}, of_group)
    unborn = {"producer_id": -1, "producer_epoch": -1}
    yield Refusal("init_producer_id", {"transactional_id": name, "transaction_timeout": 5000, **unborn}, of_producer, 3)
    yield Refusal("end_txn", {**producer, "committed": True}, of_producer, 3)


def _written(name: str) -> dict[str, Any]:
    data = {"name": name, "partition_data": [{"index": 0, "records": {"records": [{"value": "refused"}]}}]}
    return {"transactional_id": None, "acks": -1, "timeout": 5000, "topic_data": [data]}


def _truncated(name: str) -> dict[str, Any]:
    """Return a deletion of records that deletes none."""
    return {"topics": [{"name": name, "partitions": [{"partition_index": 0, "offset": 0}]}], "timeout": 5000}


def _changed(name: str) -> dict[str, Any]:
    return altered(TOPIC, name, "retention.ms", "3600000")
