"""Probes that request a change, in the name of a broker or of an administrator."""

from __future__ import annotations

from datetime import timedelta

from kio.schema.alter_partition_reassignments.v0 import request as reassignments
from kio.schema.alter_partition_reassignments.v0.response import AlterPartitionReassignmentsResponse
from kio.schema.api_versions.v3.request import ApiVersionsRequest
from kio.schema.api_versions.v3.response import ApiVersionsResponse
from kio.schema.errors import ErrorCode
from kio.schema.list_partition_reassignments.v0.request import ListPartitionReassignmentsRequest
from kio.schema.list_partition_reassignments.v0.response import ListPartitionReassignmentsResponse
from kio.schema.types import BrokerId, TopicName
from kio.schema.update_features.v1 import request as update_features
from kio.schema.update_features.v1.response import UpdateFeaturesResponse
from kio.static.primitive import i8, i16, i32, i32Timedelta, i64

from fencepost.harness.clients import commands, kip_343
from fencepost.harness.clients.raw import CLIENT_ID, RawConnection
from fencepost.harness.clients.versions import CREATE_PARTITIONS, DELETE_TOPICS
from fencepost.harness.engine.errors import StepError
from fencepost.harness.engine.probes.answer import ProbeAnswer, answered
from fencepost.harness.engine.probes.claims import compared
from fencepost.harness.engine.probes.commands import ids
from fencepost.harness.engine.references import References
from fencepost.harness.plan.base import Value
from fencepost.harness.plan.probes import (
    ControlledShutdownProbe,
    CreatePartitionsProbe,
    DeleteTopicProbe,
    IsrChangeProbe,
    ListReassignmentsProbe,
    MetadataHeartbeatProbe,
    ReassignProbe,
    ReplicaStateEventProbe,
    UpdateFeaturesProbe,
)

UPGRADE_TYPES = {"upgrade": 1, "safe-downgrade": 2, "unsafe-downgrade": 3}
"""The values of UpgradeType (KIP-778)."""


def ask_controlled_shutdown(
    probe: ControlledShutdownProbe, connection: RawConnection, references: References
) -> ProbeAnswer:
    """Send ControlledShutdown for a broker. The body lists the partitions that it still leads."""
    broker, epoch = _named(probe.broker, probe.broker_epoch, references)
    request = commands.ControlledShutdownRequest(broker_id=i32(broker), broker_epoch=i64(epoch))
    answer = connection.call(request, commands.ControlledShutdownResponse)
    remaining = [f"{each.topic_name}-{each.partition_index}" for each in answer.remaining_partitions]
    return answered(answer.error_code, remaining=remaining, sent={"broker": broker, "broker_epoch": epoch})


def ask_metadata_heartbeat(
    probe: MetadataHeartbeatProbe, connection: RawConnection, references: References
) -> ProbeAnswer:
    """Send KIP-343's heartbeat of a broker."""
    broker, incarnation = _named(probe.broker, probe.incarnation, references)
    request = kip_343.MetadataHeartbeatRequest(
        broker_id=i32(broker),
        incarnation_id=i64(incarnation),
        target_state=i8(kip_343.HeartbeatState[probe.state.upper()]),
    )
    answer = connection.call(request, kip_343.MetadataHeartbeatResponse)
    found = {
        "broker": answer.broker_id,
        "incarnation": answer.incarnation_id,
        "state": _state(answer.current_state),
    }
    claimed: dict[str, object] = {key: references.value(value) for key, value in probe.answer.items()}
    sent = {"broker": broker, "incarnation": incarnation, "state": probe.state}
    return compared(claimed, found, answer.error_code, message=answer.error_string, **found, sent=sent)


def ask_isr_change(probe: IsrChangeProbe, connection: RawConnection, references: References) -> ProbeAnswer:
    """Send KIP-343's ISR change of a partition. The answer has the error of the request, or that of the partition."""
    name = f"{probe.topic}-{probe.partition}"
    broker, incarnation = _named(probe.broker, probe.incarnation, references)
    entry = references.once_resolved(lambda: references.partition_entry(name))
    leader_epoch = references.leader_epoch(probe.leader_epoch, name)
    isr = ids(probe.isr, entry.isr, references)
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


def ask_replica_state_event(
    probe: ReplicaStateEventProbe, connection: RawConnection, references: References
) -> ProbeAnswer:
    """Send the event. The answer has the error of the request, or the first of a partition; its body has all."""
    broker, epoch = _named(probe.broker, probe.broker_epoch, references)
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


def ask_delete_topic(probe: DeleteTopicProbe, connection: RawConnection, references: References) -> ProbeAnswer:
    """Send DeleteTopics for one topic."""
    api = connection.newest(DELETE_TOPICS)
    request = api.DeleteTopicsRequest(
        topic_names=(TopicName(probe.topic),),
        timeout=_timeout(probe.timeout_ms),
    )
    result = connection.call(request, api.DeleteTopicsResponse).responses[0]
    return answered(result.error_code, message=getattr(result, "error_message", None))


def ask_create_partitions(
    probe: CreatePartitionsProbe, connection: RawConnection, references: References
) -> ProbeAnswer:
    """Send CreatePartitions for one topic."""
    api = connection.newest(CREATE_PARTITIONS)
    topic = api.request.CreatePartitionsTopic(name=TopicName(probe.topic), count=i32(probe.count), assignments=None)
    request = api.CreatePartitionsRequest(topics=(topic,), timeout=_timeout(probe.timeout_ms), validate_only=False)
    result = connection.call(request, api.CreatePartitionsResponse).results[0]
    return answered(result.error_code, message=result.error_message)


def ask_reassign(probe: ReassignProbe, connection: RawConnection, references: References) -> ProbeAnswer:
    """Send AlterPartitionReassignments for one partition; without new replicas it cancels the reassignment."""
    topic, _, number = probe.partition.rpartition("-")
    to = None if probe.to is None else [references.plan.node(name).id for name in references.nodes(probe.to)]
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


def ask_list_reassignments(
    probe: ListReassignmentsProbe, connection: RawConnection, references: References
) -> ProbeAnswer:
    """Send ListPartitionReassignments. The body has the replicas of each partition that is reassigned."""
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


def ask_update_features(probe: UpdateFeaturesProbe, connection: RawConnection, references: References) -> ProbeAnswer:
    """Send UpdateFeatures for one feature (KIP-584). The answer has the error of the request, or of the feature."""
    level = probe.level if isinstance(probe.level, int) else _highest(probe.feature, connection)
    update = update_features.FeatureUpdateKey(
        feature=probe.feature, max_version_level=i16(level), upgrade_type=i8(UPGRADE_TYPES[probe.how])
    )
    request = update_features.UpdateFeaturesRequest(
        timeout=_timeout(probe.timeout_ms), feature_updates=(update,), validate_only=False
    )
    answer = connection.call(request, UpdateFeaturesResponse)
    errors = [(each.error_code, each.error_message) for each in answer.results]
    failed = [each for each in [(answer.error_code, answer.error_message), *errors] if each[0] is not ErrorCode.none]
    error, message = failed[0] if failed else (ErrorCode.none, None)
    return answered(error, message=message, sent={"feature": probe.feature, "level": level, "how": probe.how})


def _highest(feature: str, connection: RawConnection) -> int:
    """Return the highest level of a feature that the node supports. StepError if it does not have the feature."""
    request = ApiVersionsRequest(client_software_name=CLIENT_ID, client_software_version="1")
    supported = connection.call(request, ApiVersionsResponse).supported_features
    levels = {each.name: int(each.max_version) for each in supported}
    if feature not in levels:
        raise StepError(f"the node does not have the feature {feature}; it has {', '.join(levels) or 'none'}")
    return levels[feature]


def _timeout(ms: int) -> i32Timedelta:
    return i32Timedelta.parse(timedelta(milliseconds=ms))


def _named(ref: str, epoch: Value, references: References) -> tuple[int, int]:
    """Return the id of the broker in whose name the request is sent, and the epoch that it claims."""
    broker = references.node(ref)
    claimed = references.broker_epoch(epoch, broker)
    return references.plan.node(broker).id, claimed


def _state(number: int) -> str:
    known = set(kip_343.HeartbeatState)
    return kip_343.HeartbeatState(number).name.lower() if number in known else str(number)
