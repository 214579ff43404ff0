"""Members whose coordinator assigns partitions: static ones of groups (KIP-848), and of share groups (KIP-932)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fencepost.faults.capabilities import Capability
from fencepost.harness.campaign.operations.coordination import COORDINATOR, GROUP, SHARE
from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation
from fencepost.harness.campaign.operations.requests import ONLY_KAFKA, any_broker, api, excusing, must
from fencepost.harness.campaign.topics import Existence, ScriptTopic, new_name
from fencepost.harness.plan.base import ExpectOutcome, release_range
from fencepost.harness.plan.conditions.leader_is import LeaderIs
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.create_partitions import CreatePartitionsProbe
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.produce import Produce
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

JOINS, LEAVES_FOR_A_WHILE = 0, -2
"""Epochs of members in heartbeats."""
MEMBER = "Wq5JrJ0cQEaJ7h9pVQ3dPA"
SHARE_COORDINATOR = "leader:__share_group_state-0"
UNSET = -1
"""The offset of a partition that a share group has not begun, and the epoch of a leader that is none."""


class OfNewCoordinators(Operation):
    """Requests that a cluster serves which began with a release that has them."""

    at_end = of_whole_clusters = True
    left_out: Mapping[str, str] = {**ONLY_KAFKA, "apache-kafka-zk": "its coordinators speak the classic protocol only"}

    def left_out_reason(self, target: TargetFile, version: str, possible: frozenset[Capability]) -> str | None:
        if release_range(version):
            return "the features that it needs stay off in a cluster that began without them"
        return super().left_out_reason(target, version, possible)

    def sent(self, rng: random.Random, script: Script, node: str, expect: ExpectOutcome | None = None) -> Sender:
        return Sender(rng, script, node, expect)


class Sender:
    """Sends requests to one coordinator, and waits for those that are to be served."""

    def __init__(self, rng: random.Random, script: Script, node: str, expect: ExpectOutcome | None) -> None:
        self._script = script
        self._how = replace(any_broker(rng, script, "CRD-01"), node=node, expect=expect)
        self._found = any_broker(rng, script, "CRD-01")
        self._within = {"within_ms": script.cluster.liveness_timeout_ms}

    def find(self, type: int, key: str) -> ApiProbe:
        body = {"key_type": type, "coordinator_keys": [key]}
        return api(
            self._script, "find", self._found, "find_coordinator", body, version=4 + 2 * (type == SHARE), **self._within
        )

    def find_one(self, type: int, key: str) -> ApiProbe:
        """Find by a version that coordinators have had since there are groups."""
        body = {"key_type": type, "key": key}
        return api(self._script, "find", self._found, "find_coordinator", body, version=3, **self._within)

    def wait(
        self, name: str, request: str, body: dict[str, Any], expect: ExpectOutcome | None = None, **more: Any
    ) -> ApiProbe:
        how = self._how if expect is None else replace(self._how, expect=expect)
        return api(self._script, name, how, request, body, **self._within, **more)

    def unclaimed(self, name: str, request: str, body: dict[str, Any]) -> ApiProbe:
        return api(self._script, name, replace(self._how, expect=None), request, body)

    def claim(self, name: str, request: str, body: dict[str, Any], expect: ExpectOutcome, **more: Any) -> ApiProbe:
        return api(self._script, name, replace(self._how, expect=expect), request, body, **more)


class FullGroup(OfNewCoordinators):
    """A group gets as many static members as it may have; one leaves for a restart, and takes its place (CRD-04)."""

    name = "full-group"
    weight = 1
    releases: Mapping[str, Releases] = {"apache-kafka": ">=4.0"}
    settings: Mapping[str, str] = {"group.consumer.max.size": "4"}  # no plan's own group has more members

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        group, topic = script.name("full"), rng.choice(script.cluster.topics).name
        size = int(self.settings["group.consumer.max.size"])
        away = rng.randrange(size)
        send = self.sent(rng, script, COORDINATOR)

        def beat(place: int, member: str, epoch: int) -> dict[str, Any]:
            return {
                "group_id": group,
                "member_id": member,
                "member_epoch": epoch,
                "instance_id": f"i-{place}",
                "rebalance_timeout": 60_000,
                "subscribed_topic_names": [topic],
                "topic_partitions": [],
            }

        heartbeat, back = "consumer_group_heartbeat", excusing(must("CRD-04"), script, "KAFKA-20601")
        steps: list[Step] = [
            send.find(GROUP, group),
            *(send.wait("join", heartbeat, beat(place, f"first-{place}", JOINS)) for place in range(size)),
            send.wait("leave", heartbeat, beat(away, f"first-{away}", LEAVES_FOR_A_WHILE)),
            send.claim("back", heartbeat, beat(away, f"second-{away}", JOINS), back),
        ]
        return GeneratedOperation(f"a member of a group of {size}, its most, restarts", tuple(steps))


class ShareGroupGrows(OfNewCoordinators):
    """A topic that a share group reads gets a partition: the group gets all of its records (CRD-03)."""

    name = "share-group-grows"
    weight = 1
    releases: Mapping[str, Releases] = {"apache-kafka": ">=4.2"}
    settings: Mapping[str, str] = {"share.coordinator.state.topic.num.partitions": "1"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        group, within_ms = script.name("shared"), script.cluster.liveness_timeout_ms
        partitions = rng.choice((1, 2, 3))
        topic = ScriptTopic(
            new_name(rng, script.named_topics), partitions + 1, script.cluster.fewest_replicas, Existence.CERTAIN
        )
        created, grown = (any_broker(rng, script, "LIVE-04") for _ in range(2))
        send = self.sent(rng, script, COORDINATOR)
        member = {"group_id": group, "member_id": MEMBER, "member_epoch": JOINS, "subscribed_topic_names": [topic.name]}

        def joins(name: str, count: int) -> ApiProbe:
            """Join until all partitions are assigned: a coordinator learns of new ones later than their leaders."""
            assigned = {"assignment.topic_partitions[].partitions[]": list(range(count))}
            return send.wait(name, "share_group_heartbeat", member, answer=assigned)

        def led(partition: int) -> LeaderIs:
            return LeaderIs(as_=script.name("led"), partition=f"{topic.name}-{partition}", within_ms=within_ms)

        def begins_at(name: str, partition: int, offset: int, expect: ExpectOutcome | None = None) -> ApiProbe:
            asked_for = [{"topic_name": topic.name, "partitions": [partition]}]
            body = {"groups": [{"group_id": group, "topics": asked_for}]}
            answer = {"groups[0].topics[0].partitions[0].start_offset": offset}
            request = "describe_share_group_offsets"
            if expect is None:
                return send.wait(name, request, body, answer=answer)
            return send.claim(name, request, body, expect, answer=answer, within_ms=within_ms)

        steps: list[Step] = [
            created.send(
                CreateTopicProbe(
                    as_=script.name("create"),
                    node=created.node,
                    topic=topic.name,
                    partitions=partitions,
                    replicas=topic.replicas,
                )
            ),
            *map(led, range(partitions)),
            send.find(GROUP, group),
            joins("join", partitions),
            begins_at("reads", partitions - 1, UNSET),
            grown.send(
                CreatePartitionsProbe(as_=script.name("grow"), node=grown.node, topic=topic.name, count=partitions + 1)
            ),
            led(partitions),
            Produce(as_=script.name("write"), topic=topic.name, partition=partitions, records=10, acks="all"),
            joins("learns", partitions + 1),
            begins_at("begins", partitions, 0, excusing(must("CRD-03"), script, "KAFKA-20742")),
        ]
        title = f"{topic.name}, which a share group reads, grows to {partitions + 1} partitions"
        return GeneratedOperation(title, tuple(steps), (topic,))


class StaleShareState(OfNewCoordinators):
    """The state of a share group is written by an earlier leader, and by none: both are refused (CRD-02)."""

    name = "stale-share-state"
    weight = 1
    releases: Mapping[str, Releases] = {"apache-kafka": ">=4.2"}
    settings: Mapping[str, str] = {"share.coordinator.state.topic.num.partitions": "1"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        group, topic = script.name("shared"), rng.choice(script.cluster.topics).name
        leader, state, id = rng.randint(3, 9), rng.randint(3, 9), f"id-of-{topic}-{script.name('topic')}"
        send = self.sent(rng, script, SHARE_COORDINATOR)
        question = {"topics": [{"topic_id": None, "name": topic}], "allow_auto_topic_creation": False}
        named = any_broker(rng, script, "ADM-03")

        def of_topic(**more: Any) -> dict[str, Any]:
            return {"group_id": group, "topics": [{"topic_id": f"${id}", "partitions": [{"partition": 0, **more}]}]}

        def write(epoch: int, leads: int, expect: ExpectOutcome) -> ApiProbe:
            body = of_topic(state_epoch=epoch, leader_epoch=leads, start_offset=rng.randint(0, 99), state_batches=[])
            return send.claim("write", "write_share_group_state", body, expect)

        earlier = [(state - 1, leader), (state, leader - 1), (UNSET, UNSET)]
        refused = excusing(must("CRD-02", "refused"), script, "KAFKA-20743")
        steps: list[Step] = [
            api(script, "topic", named, "metadata", question, version=12, binds={id: "topics[0].topic_id"}),
            send.find(SHARE, f"{group}:{MEMBER}:0"),
            send.wait("begin", "initialize_share_group_state", of_topic(state_epoch=state, start_offset=0)),
            send.wait("read", "read_share_group_state", of_topic(leader_epoch=leader)),
            write(state, leader, must("CRD-02")),
            *(write(*epochs, refused) for epochs in rng.sample(earlier, len(earlier))),
        ]
        return GeneratedOperation("the state of a share group is written by leaders of the past", tuple(steps))
