"""ReplicaStateEvent at the controller: what is refused, in which order, what is meant, and what is stopped later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import pytest

from fencepost.cluster_impl.designs.zk_controller.controller.brokers.replica_state_event import (
    ALL_PARTITIONS,
    EventValidation,
    OfflineReplicas,
    still_holds,
    validate,
)
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

Request = m.ReplicaStateEventRequest


@dataclass
class ControllerState:
    """4 holds both partitions of `a`, one of `b`, none of `c`."""

    epochs: dict[int, int] = field(default_factory=lambda: {4: 2**40, 5: 101})
    assignments: dict[str, Mapping[int, Sequence[int]]] = field(
        default_factory=lambda: {"b": {1: (5, 4), 0: (5, 6)}, "a": {0: (4, 5), 1: (5, 4)}, "c": {0: (5, 6)}}
    )

    deleted: set[str] = field(default_factory=set)
    """Topics that are being deleted: still known, and not affected."""

    def broker_epoch(self, broker_id: int) -> int | None:
        return self.epochs.get(broker_id)

    def assignment(self, topic: str) -> Mapping[int, Sequence[int]] | None:
        return None if topic in self.deleted else self.assignments.get(topic)

    def topics(self) -> Iterable[str]:
        return self.assignments


def about(name: str, *partitions: int, leader_epoch: int = -1) -> Request.TopicData:
    return Request.TopicData(
        topic=name,
        partitions=[Request.PartitionData(partition_id=index, leader_epoch=leader_epoch) for index in partitions],
    )


@dataclass(frozen=True)
class Ask:
    """An event of 4 about a-1; right as it stands."""

    broker: int = 4
    epoch: int = 2**40
    type: int = 1
    reason: str | None = "the disk is gone"
    topics: tuple[Request.TopicData, ...] | None = (about("a", 1),)
    allowed: bool = True
    is_controller: bool = True

    def send(self, controller: ControllerState) -> EventValidation:
        request = Request(
            broker_id=self.broker,
            broker_epoch=self.epoch,
            event_type=self.type,
            event_reason=self.reason,
            topics=None if self.topics is None else list(self.topics),
        )
        return validate(controller, request, allowed=self.allowed, is_controller=self.is_controller)


def results(validated: EventValidation) -> list[tuple[str, int, Error]]:
    assert validated.response.error_code == Error.NONE
    return [
        (topic.topic, each.partition_id, Error(each.error_code))
        for topic in validated.response.topics
        for each in topic.partitions
    ]


def offline(validated: EventValidation) -> list[str]:
    return [] if validated.event is None else [str(partition) for partition in validated.event.partitions]


WRONG: list[tuple[Error, dict[str, object]]] = [
    (Error.CLUSTER_AUTHORIZATION_FAILED, {"allowed": False}),
    (Error.NOT_CONTROLLER, {"is_controller": False}),
    (Error.STALE_BROKER_EPOCH, {"broker": 6}),
    (Error.STALE_BROKER_EPOCH, {"epoch": 2**40 - 1}),
    (Error.STALE_BROKER_EPOCH, {"epoch": 2**40 + 1}),
    (Error.UNKNOWN_REPLICA_EVENT_TYPE, {"type": 0}),
    (Error.UNKNOWN_REPLICA_EVENT_TYPE, {"type": 2}),
    (Error.UNKNOWN_REPLICA_EVENT_TYPE, {"type": -1}),
]
"""One thing wrong each, in the order in which they are looked for."""


@pytest.mark.parametrize(("error", "wrong"), WRONG)
@pytest.mark.requirement("RSE-13", "RSE-14", "RSE-15", "RSE-16", "RSE-25")
def test_a_request_that_is_wrong_as_a_whole_has_no_topics_and_leaves_nothing_to_do(
    error: Error, wrong: dict[str, object]
) -> None:
    validated = replace(Ask(), **wrong).send(ControllerState())  # type: ignore[arg-type]  # fields by name
    assert validated.response == m.ReplicaStateEventResponse(error_code=error)
    assert validated.event is None


@pytest.mark.parametrize(
    ("earlier", "later"), [pair for pair in combinations(WRONG, 2) if not pair[0][1].keys() & pair[1][1].keys()]
)
@pytest.mark.requirement("DRSE-04")
def test_what_is_wrong_twice_gets_the_error_of_the_earlier_guard(
    earlier: tuple[Error, dict[str, object]], later: tuple[Error, dict[str, object]]
) -> None:
    ask = replace(Ask(), **{**earlier[1], **later[1]})  # type: ignore[arg-type]  # fields by name
    assert ask.send(ControllerState()).response.error_code == earlier[0]


@pytest.mark.requirement("RSE-21", "RSE-22", "RSE-23")
def test_what_is_valid_is_answered_and_left_to_be_done() -> None:
    validated = Ask().send(ControllerState())
    assert results(validated) == [("a", 1, Error.NONE)]
    assert validated.event == OfflineReplicas(4, 2**40, (TopicPartition("a", 1),), "the disk is gone")


@pytest.mark.requirement("RSE-26")
@pytest.mark.parametrize("reason", [None, ""])
def test_the_reason_may_be_left_out(reason: str | None) -> None:
    validated = Ask(reason=reason).send(ControllerState())
    assert validated.event is not None
    assert validated.event.reason == "no reason was given"


@pytest.mark.requirement("RSE-27")
@pytest.mark.parametrize("topics", [None, ()])
def test_no_topic_means_all_replicas_of_the_broker(topics: tuple[Request.TopicData, ...] | None) -> None:
    validated = Ask(topics=topics).send(ControllerState())
    assert results(validated) == [("a", 0, Error.NONE), ("a", 1, Error.NONE), ("b", 1, Error.NONE)]
    assert [topic.topic for topic in validated.response.topics] == ["a", "b"]
    assert offline(validated) == ["a-0", "a-1", "b-1"]


@pytest.mark.requirement("RSE-27")
def test_topics_that_are_being_deleted_are_not_meant() -> None:
    validated = Ask(topics=None).send(ControllerState(deleted={"a"}))
    assert results(validated) == [("b", 1, Error.NONE)]


@pytest.mark.requirement("RSE-27")
def test_no_topic_of_a_broker_without_replicas_leaves_nothing_to_do() -> None:
    controller = ControllerState()
    controller.epochs[9] = 200
    validated = Ask(broker=9, epoch=200, topics=None).send(controller)
    assert results(validated) == []
    assert validated.event is None


@pytest.mark.requirement("RSE-28")
@pytest.mark.parametrize("partitions", [None, []])
def test_a_topic_without_partitions_means_all_of_it_that_the_broker_holds(
    partitions: list[Request.PartitionData] | None,
) -> None:
    topics = tuple(Request.TopicData(topic=name, partitions=partitions) for name in "bc")
    validated = Ask(topics=topics).send(ControllerState())
    assert results(validated) == [("b", 1, Error.NONE)]
    assert [topic.topic for topic in validated.response.topics] == ["b", "c"]
    assert offline(validated) == ["b-1"]


@pytest.mark.requirement("RSE-29")
@pytest.mark.parametrize("leader_epoch", [-1, 0, 2**31 - 1])
def test_the_leader_epoch_is_not_looked_at(leader_epoch: int) -> None:
    assert offline(Ask(topics=(about("a", 0, leader_epoch=leader_epoch),)).send(ControllerState())) == ["a-0"]


@pytest.mark.requirement("RSE-17", "RSE-18", "DRSE-02")
def test_each_partition_has_an_error_of_its_own_and_the_others_do_not_suffer() -> None:
    topics = (about("a", 1, 2, 1), about("absent", 0), about("b", 0, 1), about("gone"))
    validated = Ask(topics=topics).send(ControllerState())
    assert results(validated) == [
        ("a", 1, Error.NONE),
        ("a", 2, Error.UNKNOWN_TOPIC_OR_PARTITION),
        ("a", 1, Error.NONE),
        ("absent", 0, Error.UNKNOWN_TOPIC_OR_PARTITION),
        ("b", 0, Error.INVALID_REQUEST),
        ("b", 1, Error.NONE),
        ("gone", ALL_PARTITIONS, Error.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert offline(validated) == ["a-1", "b-1"]


@pytest.mark.requirement("RSE-24")
def test_an_event_of_a_process_that_was_restarted_since_is_stopped() -> None:
    controller = ControllerState()
    event = Ask().send(controller).event
    assert event is not None
    assert still_holds(controller, event)
    controller.epochs[4] += 1
    assert not still_holds(controller, event)
    del controller.epochs[4]
    assert not still_holds(controller, event)
