"""A broker is asked while it is fenced: it hears nothing of those that could tell it that others took over."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fencepost.faults.capabilities import Capability
from fencepost.faults.links.cut import CutParameters
from fencepost.faults.links.stall import StallParameters
from fencepost.faults.parameters import FaultParameters
from fencepost.harness.campaign.cluster_spec import ClusterSpec
from fencepost.harness.campaign.operations.classic_members import ClassicGroup
from fencepost.harness.campaign.operations.coordination import COORDINATOR
from fencepost.harness.campaign.operations.requests import any_broker, api, never
from fencepost.harness.campaign.situations.nested import controller_elsewhere
from fencepost.harness.campaign.situations.situation import Situation, Staged
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps.bind import Bind

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

RULES: Mapping[Dialect, str] = {
    Dialect.KIP_631: "K631-32",
    Dialect.ZOOKEEPER: "K343-18",
    Dialect.LEADER_DRIVEN: "DLD-15",
}
"""The rule that a fenced broker serves no client, of each design that has it."""
NO_DEADLINE = "its brokers have no deadline of their own, by which they are fenced (AK-04)"
SENT = 5
BEYOND = 1.2
"""The deadlines of a fenced broker after which it is asked."""
SESSION = 2.5
"""The same for the session of the member: it is there when the broker is asked, and not owed in the end, as members do
not outlive their coordinator in the reference cluster."""
SOON_MS = 500
OFFSETS = "__consumer_offsets"


class AskedWhileFenced(Situation):
    """A broker is cut off from where its lease comes from, and gets requests beyond its deadline.

    It leads and coordinates no longer: its successors may have taken records and commits meanwhile, so that nothing
    that it would answer is right (GRP-01, GRP-02). It is the coordinator of a group, but where it might be the
    controller as well: then it is a broker that is not, and coordinates by chance.
    """

    name = "asked-while-fenced"
    weight = 6
    needs = frozenset({Capability.LINKS})
    left_out: Mapping[str, str] = dict.fromkeys(("apache-kafka", "apache-kafka-zk", Dialect.CLIENTS), NO_DEADLINE)

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        cluster, dialect = script.cluster, script.cluster.target.dialect
        if len(cluster.brokers) < 2:
            return False
        deadline_ms = _deadline_ms(cluster.timing, dialect)
        group = ClassicGroup(rng, script, "left")
        member, broker, led = f"member-of-{group.name}", f"${script.name('fenced')}", (OFFSETS, 0)
        staged.brokers = 1
        if cluster.broker_is_controller:  # it hears from itself what it hears from the controller
            broker = rng.choice(cluster.brokers)
            controller_elsewhere(staged, broker)
            led = next(iter(_preferring(cluster, broker)), led)
        staged.steps += [staged.whole(), group.find(), group.join(member, "i", session_ms=int(SESSION * deadline_ms))]
        staged.steps.append(group.sync(member, "i"))
        if broker.startswith("$"):
            staged.steps.append(Bind(as_=broker[1:], node=COORDINATOR))
        fault = staged.inject(_deaf(rng, dialect, broker))
        staged.hold(f"{fault}.proven", BEYOND * deadline_ms / cluster.timing.lease_ms)
        requests = _Requests(rng, script, broker, led, group, member)
        chosen = rng.sample(sorted(requests.possible), SENT)
        staged.steps += [requests.possible[each]() for each in chosen]
        staged.heal(fault)
        staged.title = f"{', '.join(chosen)} asked of a fenced broker"
        return True


def _deaf(rng: random.Random, dialect: Dialect, broker: str) -> FaultParameters:
    sources = {
        Dialect.LEADER_DRIVEN: ("zookeeper",),
        Dialect.ZOOKEEPER: ("zookeeper", "active-controller"),
    }.get(dialect, ("controllers",))
    return rng.choice((CutParameters, StallParameters))(from_=broker, to=sources)


def _preferring(cluster: ClusterSpec, broker: str) -> Iterator[tuple[str, int]]:
    """Yield the partitions whose preferred leader is the broker."""
    for topic in cluster.topics:
        for number, replicas in enumerate(topic.assignments):
            if replicas[0] == cluster.id_of(broker):
                yield topic.name, number


def _deadline_ms(timing: Any, dialect: Dialect) -> int:
    """Return how long a broker serves without an answer from where its lease comes from, in milliseconds."""
    if dialect is Dialect.LEADER_DRIVEN:
        return int(timing.session_ms)
    return int(timing.fence_ms if dialect is Dialect.ZOOKEEPER else timing.lease_ms)


class _Requests:
    """Requests of clients, each of which the broker would serve if it were not fenced."""

    def __init__(
        self, rng: random.Random, script: Script, node: str, led: tuple[str, int], group: ClassicGroup, member: str
    ) -> None:
        rule = RULES[script.cluster.target.dialect]
        how = replace(any_broker(rng, script, rule), node=node, expect=never(rule, "served"), background=False)
        self._how = replace(how, timeout_ms=SOON_MS * script.cluster.target.timeout_factor)
        self._script, self._led, self._group, self._member = script, led, group, member
        self._topic = rng.choice(script.cluster.topics).name
        self.possible: Mapping[str, Callable[[], ApiProbe]] = {
            "offset_fetch": self._offset_fetch,
            "offset_commit": self._offset_commit,
            "heartbeat": lambda: self._send("heartbeat", group.of(member, "i"), 3),
            "join_group": lambda: self._send("join_group", group.joining("i"), 5),
            "describe_groups": lambda: self._send("describe_groups", {"groups": [group.name]}, 5),
            "list_offsets": self._list_offsets,
            "fetch": self._fetch,
            "metadata": lambda: self._send("metadata", {"topics": None, "allow_auto_topic_creation": False}, 8),
            "find_coordinator": lambda: self._send("find_coordinator", {"key": group.name, "key_type": 0}, 3),
        }

    def _offset_fetch(self) -> ApiProbe:
        topics = [{"name": self._topic, "partition_indexes": [0]}]
        return self._send("offset_fetch", {"group_id": self._group.name, "topics": topics}, 7)

    def _offset_commit(self) -> ApiProbe:
        partition = {
            "partition_index": 0,
            "committed_offset": 1,
            "committed_leader_epoch": -1,
            "committed_metadata": "",
        }
        member = self._group.of(self._member, "i")
        body = {"generation_id_or_member_epoch" if key == "generation_id" else key: member[key] for key in member}
        return self._send("offset_commit", {**body, "topics": [{"name": self._topic, "partitions": [partition]}]}, 7)

    def _list_offsets(self) -> ApiProbe:
        partition = {"partition_index": self._led[1], "current_leader_epoch": -1, "timestamp": -1}
        topics = [{"name": self._led[0], "partitions": [partition]}]
        return self._send("list_offsets", {"replica_id": -1, "isolation_level": 0, "topics": topics}, 5)

    def _fetch(self) -> ApiProbe:
        partition = {"partition": self._led[1], "fetch_offset": 0, "partition_max_bytes": 1, "current_leader_epoch": -1}
        topics = [{"topic": self._led[0], "partitions": [partition]}]
        body = {"replica_id": -1, "max_wait": 0, "min_bytes": 0, "session_id": 0, "session_epoch": -1, "topics": topics}
        return self._send("fetch", body, 11)

    def _send(self, request: str, body: dict[str, Any], version: int) -> ApiProbe:
        return api(self._script, f"fenced-{request.replace('_', '-')}", self._how, request, body, version=version)
