"""Each condition holds when it should, and does not when one thing is otherwise."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fencepost.faults.capabilities import Running
from fencepost.harness.clients.raw import Unanswered
from fencepost.harness.clients.views import Answer, BrokerView, ControllerView, Observation, PartitionView
from fencepost.harness.engine.conditions import evaluation, holds, seen
from fencepost.harness.engine.topics import TopicCreation
from fencepost.harness.plan.conditions import Await
from fencepost.harness.plan.conditions.active_controller import ActiveController
from fencepost.harness.plan.conditions.broker_active import BrokerActive
from fencepost.harness.plan.conditions.broker_epoch_above import BrokerEpochAbove
from fencepost.harness.plan.conditions.broker_fenced import BrokerFenced
from fencepost.harness.plan.conditions.connected import Connected
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.conditions.isr_is import IsrIs
from fencepost.harness.plan.conditions.leader_epoch_above import LeaderEpochAbove
from fencepost.harness.plan.conditions.leader_is import LeaderIs
from fencepost.harness.plan.conditions.metadata_from import MetadataFrom
from fencepost.harness.plan.conditions.node_exited import NodeExited
from fencepost.harness.plan.conditions.workload_acks import WorkloadAcks
from fencepost.harness.plan.conditions.workload_reads import WorkloadReads
from tests.harness.engine.still_context import StillObserver, healthy, image, partition, serving, still_context


def of(kind: Callable[..., Any], **params: Any) -> Any:
    return kind(within_ms=1, **params)


LED_BY_4 = PartitionView("t", 0, 4, 3, (4, 5))
FENCED_4 = healthy(image=image(broker_4="fenced"))
REFUSING_4 = healthy(brokers={"node-4": BrokerView(Answer.REFUSING), "node-5": serving()})
SILENT_4 = healthy(brokers={"node-4": BrokerView(Answer.SILENT), "node-5": serving()})
LED_BY_5 = healthy(image=image(partition(5, 5, epoch=4)))
LEADERLESS = healthy(image=image(partition(-1, 5)))
STALE_5 = healthy(brokers={"node-4": serving(), "node-5": serving(leader=5)})
NO_CONTROLLER = healthy(controllers={"node-2": ControllerView(Answer.SILENT)})
DELETED_ON_5 = healthy(
    brokers={
        "node-4": serving(),
        "node-5": replace(serving(), partitions={"t-0": LED_BY_4, "gone-0": PartitionView("gone", 0, 4, 1, (4,))}),
    }
)
TOPIC, EARLIER_TOPIC = uuid.UUID(int=2), uuid.UUID(int=1)
EARLIER_ON_5 = healthy(
    image=replace(image(), topics={TOPIC: "t"}),
    brokers={
        "node-4": replace(serving(), partitions={"t-0": replace(LED_BY_4, topic_id=str(TOPIC))}),
        "node-5": replace(serving(), partitions={"t-0": replace(LED_BY_4, topic_id=str(EARLIER_TOPIC))}),
    },
)
BLIND_5 = healthy(brokers={"node-4": serving(), "node-5": serving(brokers=frozenset({5}))})


@pytest.mark.parametrize(
    ("condition", "now", "holds_now"),
    [
        (of(BrokerActive, node="node-4"), healthy(), True),
        (of(BrokerActive, node="node-4"), FENCED_4, False),
        (of(BrokerActive, node="node-4"), REFUSING_4, False),
        (of(BrokerFenced, node="node-4"), healthy(), False),
        (of(BrokerFenced, node="node-4"), FENCED_4, True),
        (of(BrokerFenced, node="node-4", by="itself"), FENCED_4, False),
        (of(BrokerFenced, node="node-4", by="itself"), REFUSING_4, True),
        (of(BrokerFenced, node="node-4", by="itself"), SILENT_4, False),
        (of(BrokerEpochAbove, node="node-4", value=13), healthy(), True),
        (of(BrokerEpochAbove, node="node-4", value="current"), healthy(), False),
        (of(LeaderIs, partition="t-0"), healthy(), True),
        (of(LeaderIs, partition="t-0"), LEADERLESS, False),
        (of(LeaderIs, partition="t-1"), healthy(), False),
        (of(LeaderIs, partition="t-0", is_="node-4"), healthy(), True),
        (of(LeaderIs, partition="t-0", is_="node-5"), healthy(), False),
        (of(LeaderIs, partition="t-0", is_="none"), LEADERLESS, True),
        (of(LeaderIs, partition="t-0", is_="none"), healthy(), False),
        (of(LeaderIs, partition="t-0", is_not="node-4"), LED_BY_5, True),
        (of(LeaderIs, partition="t-0", is_not="node-4"), healthy(), False),
        (of(LeaderIs, partition="t-0", is_not="node-4"), LEADERLESS, False),
        (of(LeaderEpochAbove, partition="t-0", value=3), LED_BY_5, True),
        (of(LeaderEpochAbove, partition="t-0", value=3), healthy(), False),
        (of(IsrIs, partition="t-0", has="node-5"), healthy(), True),
        (of(IsrIs, partition="t-0", lacks="node-5"), healthy(), False),
        (of(IsrIs, partition="t-0", lacks="node-4"), LED_BY_5, True),
        (of(IsrIs, partition="t-0", is_="brokers"), healthy(), True),
        (of(IsrIs, partition="t-0", is_="brokers"), LED_BY_5, False),
        (of(IsrIs, partition="t-0", has="node-5", lacks="node-4"), healthy(), False),
        (of(ActiveController), healthy(), True),
        (of(ActiveController), NO_CONTROLLER, False),
        (of(ActiveController, is_not="node-2"), healthy(), False),
        (of(ActiveController, is_="node-2"), healthy(), True),
        (of(Connected, node="node-4", to="node-1"), healthy(), True),
        (of(Connected, node="node-4", to="node-5"), healthy(), False),
        (of(MetadataFrom, node="node-5", has="brokers"), healthy(), True),
        (of(MetadataFrom, node="node-5", has="brokers"), BLIND_5, False),
        (of(MetadataFrom, node="node-5", lacks="node-4"), BLIND_5, True),
        (of(MetadataFrom, node="node-5", partition="t-0", leader="node-4"), healthy(), True),
        (of(MetadataFrom, node="node-5", partition="t-0", leader="node-4"), STALE_5, False),
        (of(MetadataFrom, node="node-4"), SILENT_4, False),
        (of(Converged), healthy(), True),
        (of(Converged), FENCED_4, False),
        (of(Converged), REFUSING_4, False),
        (of(Converged), LED_BY_5, False),
        (of(Converged), LEADERLESS, False),
        (of(Converged), STALE_5, False),
        (of(Converged), BLIND_5, False),
        (of(Converged), DELETED_ON_5, False),
        (of(Converged), EARLIER_ON_5, False),
        (of(Converged), NO_CONTROLLER, False),
    ],
)
def test_a_condition(condition: Await, now: Observation, holds_now: bool, tmp_path: Path) -> None:
    assert holds(evaluation(condition, "wait", still_context(tmp_path, now)).holds) is holds_now


def test_a_node_that_died_is_not_waited_for_in_converging(tmp_path: Path) -> None:
    without_4 = healthy(
        image=image(partition(5, 5), broker_4="fenced"),
        brokers={
            "node-4": BrokerView(Answer.CLOSED),
            "node-5": serving(leader=5, isr=(5,), brokers=frozenset({5})),
        },
    )
    context = still_context(tmp_path, without_4)
    context.cluster.processes.kill("node-4")
    assert context.cluster.processes.status("node-4").running is Running.EXITED
    assert holds(evaluation(of(Converged), "wait", context).holds)


def test_a_node_has_exited(tmp_path: Path) -> None:
    context = still_context(tmp_path, healthy())
    condition = evaluation(of(NodeExited, node="node-4"), "wait", context)
    assert not holds(condition.holds)
    assert seen(condition) == "node-4 is running"
    context.cluster.processes.kill("node-4")
    assert holds(condition.holds)


def test_references_are_resolved_when_the_waiting_begins(tmp_path: Path) -> None:
    observer = StillObserver(healthy())
    context = still_context(tmp_path, healthy(), observer=observer)
    condition = evaluation(of(LeaderIs, partition="t-0", is_not="leader:t-0"), "wait", context)
    assert not holds(condition.holds)
    observer.now = replace(healthy(), image=image(partition(5, 5)))
    assert holds(condition.holds)


@pytest.mark.parametrize(
    ("condition", "now", "message"),
    [
        (of(IsrIs, partition="t-0"), LED_BY_5, "t-0 has leader 5 at epoch 4, ISR [5] of [4, 5]"),
        (of(LeaderIs, partition="t-0"), LEADERLESS, "t-0 has no leader at epoch 3, ISR [5] of [4, 5]"),
        (of(LeaderIs, partition="t-1"), healthy(), "t-1 is not in the metadata log"),
        (of(ActiveController), healthy(), "node-1 says -1 at epoch -1, node-2 says 2 at epoch 5"),
        (of(BrokerActive, node="node-4"), FENCED_4, "node-4 is fenced at epoch 14 for the controllers, and serving"),
        (of(Converged), REFUSING_4, "node-4 is not active"),
        (of(Converged), BLIND_5, "node-5 knows the brokers [5] only"),
        (of(Converged), STALE_5, "node-5 does not know that t-0 has leader 4"),
        (of(Converged), DELETED_ON_5, "node-5 describes gone-0, which does not exist"),
        (of(Converged), EARLIER_ON_5, f"node-5 describes t by the id {EARLIER_TOPIC}, in place of {TOPIC}"),
        (of(Converged), NO_CONTROLLER, "no controller says that it is active"),
    ],
)
def test_the_state_in_its_place_is_described(condition: Await, now: Observation, message: str, tmp_path: Path) -> None:
    context = still_context(tmp_path, now)
    waited = evaluation(condition, "wait", context)
    holds(waited.holds)
    assert seen(waited).startswith(message)


def test_a_topic_that_is_not_created_is_described_by_its_last_answer_and_the_controllers(tmp_path: Path) -> None:
    """The message has the last answer of the broker, and the leader that each controller names."""
    context = still_context(tmp_path, healthy())

    def connect(node: str, *_: object) -> Any:
        raise Unanswered(f"{node} was silent for 1.0 s")

    clients = cast("Any", SimpleNamespace(connect=connect))
    condition = TopicCreation("node-4", "created-at-fault-1", context.references, clients)
    assert not condition()
    assert not condition()
    assert condition.seen == (
        "created-at-fault-1 was asked for 2 times, at last node-4 gave no answer: node-4 was silent for 1.0 s; "
        "of the controllers node-2 names 2 at epoch 5"
    )


def test_clients_that_do_not_get_on_are_described_by_the_records_that_were_counted(tmp_path: Path) -> None:
    context = still_context(tmp_path, healthy())
    counts = iter((30, 37, 37))
    workload = SimpleNamespace(acked=lambda producer: next(counts))
    context.clients = cast("Any", SimpleNamespace(workload=workload))
    step = of(WorkloadAcks, more=20, producer="p1")
    condition = evaluation(step, "progress", context)
    assert not condition.holds()
    assert seen(condition) == "7 of 20 records were acknowledged to p1"


@pytest.mark.parametrize(("since", "reached"), [("step", False), ("start", True)])
def test_records_that_were_read_before_the_step_count_from_the_start(tmp_path: Path, since: str, reached: bool) -> None:
    context = still_context(tmp_path, healthy())
    workload = SimpleNamespace(read=lambda consumer, group: 30)
    context.clients = cast("Any", SimpleNamespace(workload=workload))
    condition = evaluation(of(WorkloadReads, more=20, consumer="c1", since=since), "reads", context)
    assert condition.holds() is reached
