"""Access control entries are created and deleted, and requests are sent that they deny.

No entry is about anything that another step uses: an entry that allows something to one principal refuses it to all
others. Where no entry is, everything is allowed to the clients of plans, which do not log in.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
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
class Right:
    """The right to an operation on resources of a type."""

    type: int
    operation: int


READ, WRITE, DELETE, ALTER, ALTER_CONFIGS = 3, 4, 6, 7, 11
CHANGES = (
    Right(TRANSACTIONAL_ID, WRITE),
    *(Right(TOPIC, each) for each in (WRITE, DELETE, ALTER, ALTER_CONFIGS)),
    *(Right(GROUP, each) for each in (READ, DELETE)),
)
"""The rights to change something: groups are read by members and commits. A refusal by the last one shows that all are
denied; that of a transactional id does not, since designs without transactions refuse it anyway."""
TO_READ = Right(TOPIC, READ)
"""The right that the harness needs, too, to read everything at the end."""
TOPIC_DENIED, GROUP_DENIED, TRANSACTIONAL_ID_DENIED = 29, 30, 53
ERRORS = {TOPIC: TOPIC_DENIED, GROUP: GROUP_DENIED, TRANSACTIONAL_ID: TRANSACTIONAL_ID_DENIED}
SENDER = "User:ANONYMOUS"
"""The principal of clients that do not log in."""
NO_ID = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True)
class Refusal:
    """A request, the right that its sender lacks, and its newest version that names topics."""

    api: str
    body: Mapping[str, Any]
    right: Right
    version: int | None = None
    forwarded: bool = False
    """Apache Kafka leaves it to the controller whether the sender may do it."""
    repeatable: bool = False
    """It may be served any number of times before the entries are known, and changes nothing that counts."""

    @property
    def error(self) -> int:
        """The error that says that the sender lacks the right."""
        return ERRORS[self.right.type]


class RefusedRequests(Operation):
    """One right, or each right to change something, is denied to a client, which sends requests that need it.

    Each request is refused with the error for that (ADM-06), and has changed nothing. It is described and read as
    before. In half of all cases the denial is lifted, and a change is served; always if it denies to read.
    """

    name = "refused-requests"
    weight = 3
    at_end = of_whole_clusters = True
    settings = AUTHORIZER
    settings_of_controllers = OF_CONTROLLERS
    left_out = WITHOUT_ENTRIES

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        name, bound, id = script.name("denied"), script.name("named"), script.name("id")
        within: dict[str, Any] = {"within_ms": script.cluster.liveness_timeout_ms}
        served = any_broker(rng, script, "LIVE-04")
        how = any_broker(rng, script, "ADM-06")  # the same broker for all: others may hear of the entries later

        def refused(title: str, refusal: Refusal, **more: Any) -> ApiProbe:
            version = {} if refusal.version is None else {"version": refusal.version}
            sent = replace(how, expect=must("ADM-06", f"error:{refusal.error}"))
            return api(script, title, sent, refusal.api, dict(refusal.body), **version, **more)

        by_controller = script.cluster.target.dialect is Dialect.KRAFT
        refusals = [each for each in refusals_of(f"${bound}", f"${id}") if not (each.forwarded and by_controller)]
        changes = [each for each in CHANGES if any(refusal.right == each for refusal in refusals)]
        denied = rng.choice((changes, changes, [rng.choice(changes)], [TO_READ]))
        refusals = [each for each in refusals if each.right in denied]
        asked_for = rng.sample(refusals, rng.randint(min(MOST, len(refusals)), len(refusals)))
        known = next(each for each in refusals if each.repeatable and each.right == denied[-1])
        replicas = script.cluster.fewest_replicas
        created = {"name": name, "num_partitions": 1, "replication_factor": replicas, "assignments": []}
        entries = denials(name, denied)
        ours = _filter_of(entries[0]) | {"resource_type_filter": ANY, "operation": ANY, "permission_type": ANY}
        named = {"topics": [{"topic_id": NO_ID, "name": f"${bound}"}], "allow_auto_topic_creation": False}
        steps: list[Step] = [
            api(script, "create", served, "create_topics", {"topics": [created], "timeout": 5000}),
            LeaderIs(as_=script.name("led"), partition=f"{name}-0", **within),
            api(script, "deny", served, "create_acls", {"creations": entries}, **within),
            # Without entries the name is not bound, and nothing is asked for.
            api(
                script, "entries", served, "describe_acls", ours, binds={bound: "resources[0].resource_name"}, **within
            ),
            refused("known", known, **within),
            api(script, "id", served, "metadata", named, binds={id: "topics[0].topic_id"}, **within),
            *(refused("denied", refusal) for refusal in asked_for),
        ]
        if TO_READ in denied or rng.random() < 0.5:
            steps += [
                api(script, "lift", served, "delete_acls", {"filters": [ours]}, **within),
                api(script, "alter", how, "incremental_alter_configs", _changed(name), **within),
            ]
        return GeneratedOperation(f"{len(asked_for)} requests refused for want of a permission", tuple(steps))


def denials(name: str, denied: Iterable[Right]) -> list[dict[str, Any]]:
    """Return the entries that allow everything else to be done to the resources of this name, and deny these rights."""
    entry = {"resource_name": name, "resource_pattern_type": LITERAL, "principal": SENDER, "host": "*"}
    rights = [(type, ALL, ALLOW) for type in ERRORS] + [(each.type, each.operation, DENY) for each in denied]
    keys = ("resource_type", "operation", "permission_type")
    return [{**entry, **dict(zip(keys, each, strict=True))} for each in rights]


def refusals_of(name: str, id: str) -> Iterator[Refusal]:
    """Yield requests on the resources of this name, and on the topic of this id, each with the one right that it lacks.

    The group that commits an offset of the topic has no entry, so that it may.
    """
    partition = {"partition_index": 0, "committed_offset": 0, "committed_metadata": ""}
    committed = [{"name": name, "partitions": [partition]}]
    whole = {"resource_type": TOPIC, "resource_name": name, "configs": [{"name": "retention.ms", "value": "3600000"}]}
    grown = {"name": name, "count": 3, "assignments": None}
    producer = {"transactional_id": name, "producer_id": 0, "producer_epoch": 0}
    to_produce, to_write, to_delete, to_alter, to_alter_configs, to_commit, to_delete_group = CHANGES
    yield Refusal("produce", _written(name), to_write, 9, repeatable=True)
    yield Refusal("delete_records", _truncated(name), to_delete, repeatable=True)
    for repeatable in (False, True):
        body = {"topics": [grown], "timeout": 5000, "validate_only": repeatable}
        yield Refusal("create_partitions", body, to_alter, forwarded=True, repeatable=repeatable)
    changed = _changed(name)
    yield Refusal("incremental_alter_configs", changed, to_alter_configs, forwarded=True, repeatable=True)
    body = {"resources": [whole], "validate_only": False}
    yield Refusal("alter_configs", body, to_alter_configs, forwarded=True)
    for topic in ({"topic_id": NO_ID, "name": name}, {"topic_id": id, "name": None}):
        yield Refusal("delete_topics", {"topics": [topic], "timeout": 5000}, to_delete, forwarded=True)
    alone = {"generation_id_or_member_epoch": -1, "member_id": "", "topics": committed}
    yield Refusal("offset_commit", {"group_id": name, **alone}, to_commit, 8, repeatable=True)
    yield Refusal("offset_commit", {"group_id": "free", **alone}, TO_READ, 8)
    yield Refusal("fetch", _fetched(name), TO_READ, 12, repeatable=True)
    yield Refusal("offset_delete", {"group_id": name, "topics": []}, to_delete_group, repeatable=True)
    yield Refusal("delete_groups", {"groups_names": [name]}, to_delete_group)
    unborn = {"producer_id": -1, "producer_epoch": -1}
    begun = {"transactional_id": name, "transaction_timeout": 5000, **unborn}
    yield Refusal("init_producer_id", begun, to_produce, 3, repeatable=True)
    yield Refusal("end_txn", {**producer, "committed": True}, to_produce, 3)


def _fetched(name: str) -> dict[str, Any]:
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1}
    return {"max_wait": 0, "min_bytes": 0, "topics": [{"topic": name, "partitions": [partition]}], "session_epoch": -1}


def _written(name: str) -> dict[str, Any]:
    data = {"name": name, "partition_data": [{"index": 0, "records": {"records": [{"value": "refused"}]}}]}
    return {"transactional_id": None, "acks": -1, "timeout": 5000, "topic_data": [data]}


def _truncated(name: str) -> dict[str, Any]:
    """Return a deletion of records that deletes none."""
    return {"topics": [{"name": name, "partitions": [{"partition_index": 0, "offset": 0}]}], "timeout": 5000}


def _changed(name: str) -> dict[str, Any]:
    return altered(TOPIC, name, "retention.ms", "3600000")
