"""IsrChange at the controller: what is refused, in which order, what is written, and what a late copy may not do."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations

import pytest

from fencepost.cluster_impl.designs.zk_controller.controller.brokers.isr_change import (
    IsrChangeDecision,
    IsrUpdate,
    decide,
)
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


@dataclass
class Known:
    leader: int = 4
    leader_epoch: int = 3
    isr: tuple[int, ...] = (4, 5, 6)
    replicas: tuple[int, ...] = (5, 4, 6, 7, 8)
    version: int = 9


@dataclass
class ControllerState:
    """t-0 and t-1 are led by 4 at leader epoch 3; 7 is not live, 8 is stopping."""

    partitions: dict[TopicPartition, Known] = field(default_factory=lambda: {T0: Known(), T1: Known()})
    incarnations: dict[int, int] = field(default_factory=lambda: {4: 100, 5: 101, 6: 102, 8: 103})

    def incarnation(self, broker_id: int) -> int | None:
        return self.incarnations.get(broker_id)

    def partition(self, of: TopicPartition) -> Known | None:
        return self.partitions.get(of)

    def is_live(self, broker_id: int) -> bool:
        return broker_id in self.incarnations

    def is_stopping(self, broker_id: int) -> bool:
        return broker_id == 8

    def write(self, decision: IsrChangeDecision) -> dict[TopicPartition, Error]:
        """As the controller does it: compare-and-set; the failures."""
        failures = {}
        for change in decision.changes:
            known = self.partitions[change.partition]
            if known.version != change.version:
                failures[change.partition] = Error.INVALID_UPDATE_VERSION
                continue
            known.isr, known.version = change.isr, known.version + 1
        return failures


@dataclass(frozen=True)
class Ask:
    """A request of 4 to shrink the ISR of t-0 to 4 and 6; right as it stands."""

    broker: int = 4
    incarnation: int = 100
    topic: str = "t"
    partition: int = 0
    leader_epoch: int = 3
    isr: tuple[int, ...] = (4, 6)

    def request(self) -> m.IsrChangeRequest:
        return request((self,), self.broker, self.incarnation)


def request(asks: tuple[Ask, ...], broker: int = 4, incarnation: int = 100) -> m.IsrChangeRequest:
    """Each in a topic of its own, so that topics and partitions are in any order."""
    topics = [
        m.IsrChangeRequest.TopicData(
            topic_name=ask.topic,
            partitions=[
                m.IsrChangeRequest.PartitionData(
                    leader_epoch=ask.leader_epoch, partition_index=ask.partition, isr_nodes=list(ask.isr)
                )
            ],
        )
        for ask in asks
    ]
    return m.IsrChangeRequest(broker_id=broker, incarnation_id=incarnation, topics=topics)


def answer(controller: ControllerState, asked: m.IsrChangeRequest) -> m.IsrChangeResponse:
    decision = decide(controller, asked)
    return decision.response(controller.write(decision))


def error_of(controller: ControllerState, asked: m.IsrChangeRequest) -> Error:
    response = answer(controller, asked)
    return Error(response.top_level_error_code or response.results[0].error_code)


WHOLE: list[tuple[Error, dict[str, object]]] = [
    (Error.INVALID_REQUEST, {"broker": -1}),
    (Error.INVALID_REQUEST, {"incarnation": -1}),
    (Error.INVALID_INCARNATION_ID, {"broker": 9}),
    (Error.INVALID_INCARNATION_ID, {"incarnation": 99}),
    (Error.INVALID_INCARNATION_ID, {"incarnation": 101}),
    (Error.INVALID_INCARNATION_ID, {"incarnation": 0}),
]
PARTITION: list[tuple[Error, dict[str, object]]] = [
    (Error.UNKNOWN_TOPIC_OR_PARTITION, {"topic": "absent"}),
    (Error.UNKNOWN_TOPIC_OR_PARTITION, {"partition": 7}),
    (Error.NOT_LEADER_OR_FOLLOWER, {"broker": 6, "incarnation": 102}),
    (Error.NOT_LEADER_OR_FOLLOWER, {"leader_epoch": 2}),
    (Error.NOT_LEADER_OR_FOLLOWER, {"leader_epoch": 4}),
    (Error.INVALID_REQUEST, {"isr": ()}),
    (Error.INVALID_REQUEST, {"isr": (4, 6, 6)}),
    (Error.INVALID_REQUEST, {"isr": (5, 6)}),
    (Error.INVALID_REQUEST, {"isr": (4, 9)}),
    (Error.INVALID_REQUEST, {"isr": (4, 7)}),
    (Error.INVALID_REQUEST, {"isr": (4, 8)}),
]
"""One thing wrong each, in the order in which they are looked for."""


@pytest.mark.requirement("K343-52")
def test_an_accepted_change_is_written_in_the_order_of_the_assignment_at_the_known_version() -> None:
    decision = decide(ControllerState(), Ask(isr=(6, 4)).request())
    assert decision.changes == (IsrUpdate(T0, (4, 6), leader_epoch=3, version=9),)
    assert answer(ControllerState(), Ask().request()).results == [m.IsrChangeResponse.Result()]


@pytest.mark.parametrize("isr", [(4,), (0, 4), (4, 5, 6), (0, 4, 5, 6)])
def test_any_live_replicas_may_be_the_isr_from_the_leader_alone_to_all_of_them(isr: tuple[int, ...]) -> None:
    controller = ControllerState()
    controller.incarnations[0] = 104
    controller.partitions[T0] = Known(isr=(4, 5), replicas=(4, 5, 6, 0))
    assert error_of(controller, Ask(isr=isr).request()) == Error.NONE
    assert set(controller.partitions[T0].isr) == set(isr)


def test_a_leader_may_have_the_id_0() -> None:
    controller = ControllerState()
    controller.incarnations[0] = 104
    controller.partitions[T0] = Known(leader=0, replicas=(0, 4, 5, 6), isr=(0, 4))
    assert error_of(controller, Ask(broker=0, incarnation=104, isr=(0,)).request()) == Error.NONE


@pytest.mark.parametrize(("error", "wrong"), WHOLE)
@pytest.mark.requirement("K343-47", "K343-41")
def test_a_request_that_is_wrong_as_a_whole_has_no_results_and_changes_nothing(
    error: Error, wrong: dict[str, object]
) -> None:
    decision = decide(ControllerState(), replace(Ask(), **wrong).request())  # type: ignore[arg-type]  # fields by name
    response = decision.response({})
    assert decision.changes == ()
    assert response.top_level_error_code == error
    assert response.top_level_error_message
    assert response.results == []


@pytest.mark.parametrize(("error", "wrong"), PARTITION)
@pytest.mark.requirement("K343-50", "K343-51", "D343-10", "D343-11")
def test_each_guard_refuses_with_its_error_and_a_message_and_changes_nothing(
    error: Error, wrong: dict[str, object]
) -> None:
    decision = decide(ControllerState(), replace(Ask(), **wrong).request())  # type: ignore[arg-type]  # fields by name
    response = decision.response({})
    assert decision.changes == ()
    assert response.top_level_error_code == Error.NONE
    (result,) = response.results
    assert result.error_code == error
    assert result.error_message


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (earlier, later)
        for earlier, later in combinations(WHOLE + PARTITION, 2)
        if not earlier[1].keys() & later[1].keys()
    ],
)
def test_what_is_wrong_twice_gets_the_error_of_the_earlier_guard(
    earlier: tuple[Error, dict[str, object]], later: tuple[Error, dict[str, object]]
) -> None:
    ask = replace(Ask(), **{**earlier[1], **later[1]})  # type: ignore[arg-type]  # fields by name
    assert error_of(ControllerState(), ask.request()) == earlier[0]


@pytest.mark.requirement("K343-48", "K343-49")
def test_results_are_in_the_order_of_the_request_whatever_becomes_of_each() -> None:
    controller = ControllerState()
    asks = (
        Ask(partition=1),
        Ask(topic="absent"),
        Ask(leader_epoch=2),
        Ask(),
        Ask(isr=(4, 5)),
        Ask(partition=1, isr=(4,)),
        Ask(partition=5),
    )
    assert [result.error_code for result in answer(controller, request(asks)).results] == [
        Error.NONE,
        Error.UNKNOWN_TOPIC_OR_PARTITION,
        Error.NOT_LEADER_OR_FOLLOWER,
        Error.INVALID_REQUEST,
        Error.INVALID_REQUEST,
        Error.INVALID_REQUEST,
        Error.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert controller.partitions[T1].isr == (4, 6)
    assert controller.partitions[T0].isr == (4, 5, 6)


def test_a_change_that_was_not_written_has_its_error_and_the_others_do_not_suffer() -> None:
    controller = ControllerState()
    decision = decide(controller, request((Ask(), Ask(partition=1))))
    controller.partitions[T0].version += 1
    results = decision.response(controller.write(decision)).results
    assert [result.error_code for result in results] == [Error.INVALID_UPDATE_VERSION, Error.NONE]
    assert controller.partitions[T0].isr == (4, 5, 6)


@pytest.mark.requirement("D343-08")
def test_a_retry_after_a_lost_reply_is_answered_and_written_no_second_time() -> None:
    controller = ControllerState()
    answer(controller, Ask().request())
    decision = decide(controller, Ask().request())
    assert decision.changes == ()
    assert decision.response({}).results == [m.IsrChangeResponse.Result()]
    assert controller.partitions[T0].version == 10


@pytest.mark.requirement("D343-08")
def test_a_retry_is_answered_though_a_member_is_not_live_any_more() -> None:
    controller = ControllerState()
    answer(controller, Ask().request())
    del controller.incarnations[6]
    assert error_of(controller, Ask().request()) == Error.NONE


@pytest.mark.requirement("D343-08")
def test_a_retry_after_an_election_overwrites_nothing() -> None:
    controller = ControllerState()
    answer(controller, Ask().request())
    controller.partitions[T0] = Known(leader=4, leader_epoch=4, isr=(4, 5, 6), version=11)
    assert error_of(controller, Ask().request()) == Error.NOT_LEADER_OR_FOLLOWER
    assert controller.partitions[T0].isr == (4, 5, 6)


def test_members_may_stay_while_they_stop_though_they_may_not_join() -> None:
    controller = ControllerState()
    controller.partitions[T0].isr = (4, 6, 8)
    assert error_of(controller, Ask(isr=(4, 8)).request()) == Error.NONE
