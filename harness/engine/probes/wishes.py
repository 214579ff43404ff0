"""Probes that ask for something to be done, in the name of a broker or of an administrator."""

from __future__ import annotations

from datetime import timedelta

from kio.schema.alter_partition_reassignments.v0 import request as reassignments
from kio.schema.alter_partition_reassignments.v0.response import AlterPartitionReassignmentsResponse
from kio.schema.create_partitions.v2 import request as create_partitions
from kio.schema.create_partitions.v2.response import CreatePartitionsResponse
from kio.schema.delete_topics.v5.request import DeleteTopicsRequest
from kio.schema.delete_topics.v5.response import DeleteTopicsResponse
from kio.schema.errors import ErrorCode
from kio.schema.list_partition_reassignments.v0.request import ListPartitionReassignmentsRequest
from kio.schema.list_partition_reassignments.v0.response import ListPartitionReassignmentsResponse
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i8, i32, i32Timedelta, i64

from harness.clients import commands, kip_343
from harness.clients.raw import RawConnection
from harness.engine.context import Context
from harness.engine.probes.answer import Answer, answered
from harness.engine.probes.commands import ids
from harness.plan.base import Value
from harness.plan.probes import (
    ControlledShutdownProbe,
    CreatePartitionsProbe,
    DeleteTopicProbe,
    IsrChangeProbe,
    ListReassignmentsProbe,
    MetadataHeartbeatProbe,
    ReassignProbe,
    ReplicaStateEventProbe,
)


def ask_controlled_shutdown(probe: ControlledShutdownProbe, connection: RawConnection, context: Context) -> Answer:
    broker, epoch = _named(probe.broker, probe.broker_epoch, context)
    request = commands.ControlledShutdownRequest(broker_id=i32(broker), broker_epoch=i64(epoch))
    answer = connection.call(request, commands.ControlledShutdownResponse)
    remaining = [f"{each.topic_name}-{each.partition_index}" for each in answer.remaining_partitions]
    return answered(answer.error_code, remaining=remaining, sent={"broker": broker, "broker_epoch": epoch})


def ask_metadata_heartbeat(probe: MetadataHeartbeatProbe, connection: RawConnection, context: Context) -> Answer:
    broker, incarnation = _named(probe.broker, probe.incarnation, context)
    request = kip_343.MetadataHeartbeatRequest(
        broker_id=i32(broker),
        incarnation_id=i64(incarnation),
        target_state=i8(kip_343.HeartbeatState[probe.state.upper()]),
    )
    answer = connection.call(request, kip_343.MetadataHeartbeatResponse)
    return answered(
        answer.error_code,
        message=answer.error_string,
        broker=answer.broker_id,
        incarnation=answer.incarnation_id,
        state=_state(answer.current_state),
        sent={"broker": broker, "incarnation": incarnation, "state": probe.state},
    )


def ask_isr_change(probe: IsrChangeProbe, connection: RawConnection, context: Context) -> Answer:
    name = f"{probe.topic}-{probe.partition}"
    broker, incarnation = _named(probe.broker, probe.incarnation, context)
    entry = context.patiently(lambda: context.partition_entry(name))
    leader_epoch = context.number(
        probe.leader_epoch, f"the leader epoch of {name}", lambda: context.partition_entry(name).leader_epoch
    )
    isr = ids(probe.isr, entry.isr, context)
    partition = kip_343.IsrChangePartition(
        leader_epoch=i32(leader_epoch), partition_index=i32(probe.partition), isr=tuple(i32(id) for id in isr)
    )
    request = kip_343.IsrChangeRequest(
        broker_id=i32(broker),
        incarnation_id=i64(incarnation),
        topics=(kip_343.IsrChangeTopic(topic_name=probe.topic, partitions=(partition,)),),
    )
    answer = connection.call(request, kip_343.IsrChangeResponse)
    sent = {"broker": broker, "incarnation": incarnation, "leader_epoch": leader_epoch, "isr": list(isr)}
    if answer.error_code or not answer.results:
        return answered(answer.error_code, message=answer.error_message, sent=sent)
    return answered(answer.results[0].error_code, message=answer.results[0].error_message, sent=sent)


def ask_replica_state_event(probe: ReplicaStateEventProbe, connection: RawConnection, context: Context) -> Answer:
    """The error of the whole, or the first of a partition; the body has all of them."""
    broker, epoch = _named(probe.broker, probe.broker_epoch, context)
    topics = tuple(
        kip_343.EventTopic(
            topic=each.topic,
            partitions=tuple(kip_343.EventPartition(partition_id=i32(number)) for number in each.partitions),
        )
        for each in probe.topics
    )
    request = kip_343.ReplicaStateEventRequest(
        broker_id=i32(broker),
        broker_epoch=i64(epoch),
        event_type=i32(probe.event_type),
        event_reason=probe.reason,
        topics=topics,
    )
    answer = connection.call(request, kip_343.ReplicaStateEventResponse)
    errors = {
        f"{topic.topic}-{each.partition_id}": each.error_code for topic in answer.topics for each in topic.partitions
    }
    first = next((error for error in (answer.error_code, *errors.values()) if error), answer.error_code)
    return answered(first, partitions=errors, sent={"broker": broker, "broker_epoch": epoch})


def ask_delete_topic(probe: DeleteTopicProbe, connection: RawConnection, context: Context) -> Answer:
    request = DeleteTopicsRequest(
        topic_names=(TopicName(probe.topic),),
        timeout=_timeout(probe.timeout_ms),
    )
    result = connection.call(request, DeleteTopicsResponse).responses[0]
    return answered(result.error_code, message=result.error_message)


def ask_create_partitions(probe: CreatePartitionsProbe, connection: RawConnection, context: Context) -> Answer:
    topic = create_partitions.CreatePartitionsTopic(
        name=TopicName(probe.topic), count=i32(probe.count), assignments=None
    )
    request = create_partitions.CreatePartitionsRequest(
        topics=(topic,), timeout=_timeout(probe.timeout_ms), validate_only=False
    )
    result = connection.call(request, CreatePartitionsResponse).results[0]
    return answered(result.error_code, message=result.error_message)


def ask_reassign(probe: ReassignProbe, connection: RawConnection, context: Context) -> Answer:
    topic, _, number = probe.partition.rpartition("-")
    to = None if probe.to is None else [context.plan.node(name).id for name in context.nodes(probe.to)]
    partition = reassignments.ReassignablePartition(
        partition_index=i32(int(number)), replicas=None if to is None else tuple(map(BrokerId, to))
    )
    request = reassignments.AlterPartitionReassignmentsRequest(
        timeout=_timeout(probe.timeout_ms),
        topics=(reassignments.ReassignableTopic(name=TopicName(topic), partitions=(partition,)),),
    )
    answer = connection.call(request, AlterPartitionReassignmentsResponse)
    found = [each for of_topic in answer.responses for each in of_topic.partitions]
    if answer.error_code is not ErrorCode.none or not found:
        return answered(answer.error_code, message=answer.error_message, to=to)
    return answered(found[0].error_code, message=found[0].error_message, to=to)


def ask_list_reassignments(probe: ListReassignmentsProbe, connection: RawConnection, context: Context) -> Answer:
    request = ListPartitionReassignmentsRequest(timeout=_timeout(probe.timeout_ms), topics=None)
    answer = connection.call(request, ListPartitionReassignmentsResponse)
    moving = {
        f"{topic.name}-{each.partition_index}": {
            "replicas": list(each.replicas),
            "adding": list(each.adding_replicas),
            "removing": list(each.removing_replicas),
        }
        for topic in answer.topics
        for each in topic.partitions
    }
    return answered(answer.error_code, message=answer.error_message, moving=moving)


def _timeout(ms: int) -> i32Timedelta:
    return i32Timedelta.parse(timedelta(milliseconds=ms))


def _named(ref: str, epoch: Value, context: Context) -> tuple[int, int]:
    """The id of the broker in whose name is asked, and the registration that it claims."""
    broker = context.node(ref)
    claimed = context.number(epoch, f"the broker epoch of {broker}", lambda: context.broker_entry(broker).epoch)
    return context.plan.node(broker).id, claimed


def _state(number: int) -> str:
    known = set(kip_343.HeartbeatState)
    return kip_343.HeartbeatState(number).name.lower() if number in known else str(number)
