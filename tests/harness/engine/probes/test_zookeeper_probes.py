"""Probes send requests in the name of a node and read the answers; other tests compare the bytes with the cluster's."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from kio.schema.alter_partition_reassignments.v0 import response as altered
from kio.schema.create_partitions.v2 import response as created
from kio.schema.errors import ErrorCode
from kio.schema.list_partition_reassignments.v0 import response as listed
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i32, i32Timedelta

from fencepost.harness.clients.metadata.image import AdvertisedListener, BrokerEntry
from fencepost.harness.engine.errors import StepError
from fencepost.harness.engine.probes.asked import AskedRun
from fencepost.harness.plan.answers import ProbeOutcome
from fencepost.harness.plan.requests.controlled_shutdown import ControlledShutdownProbe
from fencepost.harness.plan.requests.create_partitions import CreatePartitionsProbe
from fencepost.harness.plan.requests.isr_change import IsrChangeProbe
from fencepost.harness.plan.requests.leader_and_isr import LeaderAndIsrProbe
from fencepost.harness.plan.requests.list_reassignments import ListReassignmentsProbe
from fencepost.harness.plan.requests.metadata_heartbeat import MetadataHeartbeatProbe
from fencepost.harness.plan.requests.reassign import ReassignProbe
from fencepost.harness.plan.requests.replica_state_event import EventTopic, ReplicaStateEventProbe
from fencepost.harness.plan.requests.stop_replica import StopReplicaProbe
from fencepost.harness.plan.requests.update_metadata import UpdateMetadataProbe
from fencepost.harness.wire import versions
from fencepost.harness.wire.entities import entity, own_module
from fencepost.harness.wire.versions import Api
from tests.harness.engine.still_context import IN_ZOOKEEPER, image, in_zookeeper, still_context


class Connection:
    """Remembers what it was asked, and answers in turn."""

    def __init__(self, *answers: Any) -> None:
        self.asked: list[Any] = []
        self._answers = iter(answers)

    def newest(self, api: Api) -> Any:
        return api.newest({api.key: (api.low, api.high)}, "node-4")

    def call(self, request: Any, response: type[Any], timeout: float | None = None) -> Any:
        self.asked.append(request)
        answer = next(self._answers)
        assert isinstance(answer, response)
        return answer


@pytest.fixture
def run(tmp_path: Path) -> AskedRun:
    """Broker 4 is the controller at epoch 5 and leads t-0 at epoch 3, version 7; brokers have epochs 14 and 15."""
    return AskedRun(still_context(tmp_path, in_zookeeper(), plan=IN_ZOOKEEPER), "node-5")


def response(api: Api, **values: object) -> Any:
    """A response that kio does not have."""
    return entity(getattr(own_module(api.key, api.high), f"{api.name}Response"), values)


def answer_of(error: ErrorCode, *partitions: ErrorCode) -> Any:
    errors = [{"partition_index": 0, "error_code": each} for each in partitions]
    return response(versions.LEADER_AND_ISR, error_code=error, topics=[{"topic_id": None, "partition_errors": errors}])


def test_a_command_repeats_what_zookeeper_holds_with_the_epochs_that_the_plan_names(run: AskedRun) -> None:
    connection: Any = Connection(answer_of(ErrorCode.none, ErrorCode.none))
    probe = LeaderAndIsrProbe(node="node-5", topic="t", controller_epoch="stale", broker_epoch="stale")
    assert probe.exchange(connection, run).outcome is ProbeOutcome.SERVED
    (request,) = connection.asked
    assert (request.controller_id, request.controller_epoch, request.broker_epoch) == (4, 4, 14)
    (partition,) = request.topic_states[0].partition_states
    assert (partition.leader, partition.leader_epoch, partition.partition_epoch) == (4, 3, 7)
    assert (partition.isr, partition.replicas) == ((4, 5), (4, 5))


def test_a_command_may_name_another_leader_and_isr(run: AskedRun) -> None:
    connection: Any = Connection(answer_of(ErrorCode.none), answer_of(ErrorCode.none))
    probe = LeaderAndIsrProbe(node="node-5", topic="t", leader="node-5", isr="node-5", leader_epoch=9, version=1)
    probe.exchange(connection, run)
    probe.model_copy(update={"leader": "none", "isr": "none"}).exchange(connection, run)
    first, second = (request.topic_states[0].partition_states[0] for request in connection.asked)
    assert (first.leader, first.isr, first.leader_epoch, first.partition_epoch) == (5, (5,), 9, 1)
    assert (second.leader, second.isr) == (-1, ())


@pytest.mark.parametrize(
    ("answer", "error", "of"),
    [
        (answer_of(ErrorCode.stale_controller_epoch), 11, "the request"),
        (answer_of(ErrorCode.none, ErrorCode.fenced_leader_epoch), 74, "the partition"),
        (answer_of(ErrorCode.none, ErrorCode.none), None, None),
    ],
)
def test_a_refusal_of_the_whole_is_distinguished_from_that_of_a_partition(
    answer: Any, error: int | None, of: str | None, run: AskedRun
) -> None:
    connection: Any = Connection(answer)
    found = LeaderAndIsrProbe(node="node-5", topic="t").exchange(connection, run)
    assert (found.error, found.body.get("of")) == (error, of)


def test_metadata_is_sent_as_it_is_with_the_registration_of_each_live_broker(run: AskedRun) -> None:
    observer: Any = run.observations
    endpoint = AdvertisedListener("INTERNAL", "node-4", 9090, "SASL_PLAINTEXT")
    brokers = {4: BrokerEntry(4, 14, "active", 14, 5, (endpoint,)), 5: BrokerEntry(5, 15, "inactive", 15, 5)}
    observer.now = replace(run.now, image=replace(image(), brokers=brokers))
    connection: Any = Connection(response(versions.UPDATE_METADATA, error_code=ErrorCode.stale_broker_epoch))
    found = UpdateMetadataProbe(node="node-5", broker_epoch=3).exchange(connection, run)
    assert (found.outcome, found.error) == (ProbeOutcome.REFUSED, 77)
    (request,) = connection.asked
    (broker,) = request.live_brokers
    assert (broker.id, broker.broker_epoch, broker.endpoints[0].security_protocol) == (4, 14, 2)
    assert request.topic_states[0].partition_states[0].leader_epoch == 3


def test_a_replica_is_stopped_at_an_epoch(run: AskedRun) -> None:
    error = {"topic_name": "t", "partition_index": 0, "error_code": ErrorCode.fenced_leader_epoch}
    stopped = response(versions.STOP_REPLICA, error_code=ErrorCode.none, partition_errors=[error])
    connection: Any = Connection(stopped)
    probe = StopReplicaProbe(node="node-5", topic="t", leader_epoch="stale", delete=True)
    assert probe.exchange(connection, run).error == 74
    partition = connection.asked[0].topic_states[0].partition_states[0]
    assert (partition.leader_epoch, partition.delete_partition) == (2, True)


def test_a_shutdown_reports_what_the_broker_still_leads(run: AskedRun) -> None:
    remaining = [{"topic_name": "t", "partition_index": 0}]
    connection: Any = Connection(
        response(versions.CONTROLLED_SHUTDOWN, error_code=ErrorCode.none, remaining_partitions=remaining)
    )
    probe = ControlledShutdownProbe(node="node-4", broker="node-5", broker_epoch="stale")
    assert probe.exchange(connection, run).body["remaining"] == ["t-0"]
    assert (connection.asked[0].broker_id, connection.asked[0].broker_epoch) == (5, 14)


def heartbeat(error: int, state: int = 2) -> Any:
    sent_by: dict[str, object] = {"broker_id": 5, "incarnation_id": 15, "current_state": state}
    return response(versions.METADATA_HEARTBEAT, error_code=error, error_string=None, **sent_by)


def test_private_errors_have_their_names(run: AskedRun) -> None:
    connection: Any = Connection(heartbeat(0), heartbeat(1343))
    probe = MetadataHeartbeatProbe(node="node-4", broker="node-5", state="stopping")
    served = probe.exchange(connection, run)
    assert (served.outcome, served.body["state"]) == (ProbeOutcome.SERVED, "active")
    refused = probe.model_copy(update={"incarnation": "stale"}).exchange(connection, run)
    assert (refused.error, refused.body["error"]) == (1343, "invalid_incarnation_id")
    assert [(each.incarnation_id, each.target_state) for each in connection.asked] == [(15, 3), (14, 3)]


def test_a_heartbeat_of_kip_343_is_claimed_by_its_values(run: AskedRun) -> None:
    connection: Any = Connection(heartbeat(0), heartbeat(0))
    probe = MetadataHeartbeatProbe(node="node-4", broker="node-5", answer={"broker": 5, "state": "active"})
    assert probe.exchange(connection, run).outcome is ProbeOutcome.SERVED
    wrong = probe.model_copy(update={"answer": {"state": "inactive"}}).exchange(connection, run)
    assert wrong.outcome is ProbeOutcome.DIFFERENT
    assert (wrong.body["claimed"], wrong.body["answered"]) == ({"state": "inactive"}, {"state": "active"})


def isr_change(error: int, *results: int) -> Any:
    found = [{"error_code": each, "error_message": None} for each in results]
    return response(versions.ISR_CHANGE, error_code=error, error_message=None, results=found)


@pytest.mark.parametrize(("answer", "error"), [(isr_change(41), 41), (isr_change(0, 6), 6), (isr_change(0, 0), None)])
def test_an_isr_change_fails_as_a_whole_or_for_its_partition(answer: Any, error: int | None, run: AskedRun) -> None:
    connection: Any = Connection(answer)
    probe = IsrChangeProbe(node="node-4", broker="node-4", topic="t", isr="none")
    assert probe.exchange(connection, run).error == error
    assert connection.asked[0].topics[0].partitions[0].isr == ()


def test_an_event_names_topics_with_and_without_partitions(run: AskedRun) -> None:
    topic = {"topic": "t", "partitions": [{"partition_id": 0, "error_code": 3}]}
    connection: Any = Connection(response(versions.REPLICA_STATE_EVENT, error_code=0, topics=[topic]))
    named = (EventTopic(topic="t", partitions=(0,)), EventTopic(topic="u"))
    probe = ReplicaStateEventProbe(node="node-4", broker="node-5", topics=named, event_type=2)
    found = probe.exchange(connection, run)
    assert (found.error, found.body["partitions"]) == (3, {"t-0": 3})
    (request,) = connection.asked
    assert [len(topic.partitions) for topic in request.topics] == [1, 0]
    assert (request.broker_epoch, request.event_type) == (15, 2)


def test_the_first_epoch_has_no_stale_one(run: AskedRun) -> None:
    observer: Any = run.observations
    observer.now = replace(run.now, image=image(replace(image().partitions["t-0"], leader_epoch=0)))
    probe = LeaderAndIsrProbe(node="node-5", topic="t", leader_epoch="stale")
    unused: Any = Connection()
    with pytest.raises(StepError, match="there is no earlier one to send as stale"):
        probe.exchange(unused, run)


NO_TIME = i32Timedelta.parse(timedelta(0))


def reassigned(error: ErrorCode, *partitions: ErrorCode) -> altered.AlterPartitionReassignmentsResponse:
    found = tuple(
        altered.ReassignablePartitionResponse(partition_index=i32(1), error_code=each, error_message="why")
        for each in partitions
    )
    topic = altered.ReassignableTopicResponse(name=TopicName("a-t"), partitions=found)
    return altered.AlterPartitionReassignmentsResponse(
        throttle_time=NO_TIME, error_code=error, error_message=None, responses=(topic,)
    )


def test_a_partition_is_reassigned_to_nodes_in_their_order_or_no_longer(run: AskedRun) -> None:
    connection: Any = Connection(reassigned(ErrorCode.none, ErrorCode.none), reassigned(ErrorCode.none, ErrorCode(85)))
    probe = ReassignProbe(node="node-4", partition="a-t-1", to=("node-5", "node-4"))
    assert probe.exchange(connection, run).outcome is ProbeOutcome.SERVED
    refused = probe.model_copy(update={"to": None}).exchange(connection, run)
    assert (refused.error, refused.body["message"]) == (85, "why")
    asked = [request.topics[0] for request in connection.asked]
    assert [(topic.name, topic.partitions[0].partition_index) for topic in asked] == [("a-t", 1)] * 2
    assert [topic.partitions[0].replicas for topic in asked] == [(5, 4), None]


def test_a_reassignment_can_be_refused_as_a_whole(run: AskedRun) -> None:
    connection: Any = Connection(reassigned(ErrorCode.request_timed_out))
    assert ReassignProbe(node="node-4", partition="t-0").exchange(connection, run).error == 7


def test_what_is_being_reassigned_is_reported_by_partition(run: AskedRun) -> None:
    moving = listed.OngoingPartitionReassignment(
        partition_index=i32(0),
        replicas=(BrokerId(4), BrokerId(5)),
        adding_replicas=(BrokerId(5),),
        removing_replicas=(BrokerId(4),),
    )
    topics = (listed.OngoingTopicReassignment(name=TopicName("t"), partitions=(moving,)),)
    connection: Any = Connection(
        listed.ListPartitionReassignmentsResponse(
            throttle_time=NO_TIME, error_code=ErrorCode.none, error_message=None, topics=topics
        )
    )
    answer = ListReassignmentsProbe(node="node-4").exchange(connection, run)
    assert answer.body["moving"] == {"t-0": {"replicas": [4, 5], "adding": [5], "removing": [4]}}


def test_partitions_are_added_up_to_a_number(run: AskedRun) -> None:
    result = created.CreatePartitionsTopicResult(
        name=TopicName("t"), error_code=ErrorCode.invalid_partitions, error_message="it has 3"
    )
    connection: Any = Connection(created.CreatePartitionsResponse(throttle_time=NO_TIME, results=(result,)))
    answer = CreatePartitionsProbe(node="node-4", topic="t", count=2).exchange(connection, run)
    assert (answer.error, answer.body["message"]) == (37, "it has 3")
    assert (connection.asked[0].topics[0].count, connection.asked[0].validate_only) == (2, False)
