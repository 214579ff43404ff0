"""The drafts against the messages of the harness, which go through a codec that others wrote.

A mistake in one of the two shows here, and not as a refusal of a probe that no scenario can explain.
"""

from __future__ import annotations

import io
from random import Random
from typing import Any

import pytest
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i32, i64

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.messages import DEFINITIONS
from fencepost.harness.wire import commands, kip_343
from tests.cluster_impl.wire.random_messages import random_message

SPOKEN: list[tuple[type[Message], Any]] = [
    (m.MetadataHeartbeatRequest, kip_343.MetadataHeartbeatRequest),
    (m.MetadataHeartbeatResponse, kip_343.MetadataHeartbeatResponse),
    (m.IsrChangeRequest, kip_343.IsrChangeRequest),
    (m.IsrChangeResponse, kip_343.IsrChangeResponse),
    (m.ReplicaStateEventResponse, kip_343.ReplicaStateEventResponse),
    (m.LeaderAndIsrRequest, commands.LeaderAndIsrRequest),
    (m.LeaderAndIsrResponse, commands.LeaderAndIsrResponse),
    (m.UpdateMetadataRequest, commands.UpdateMetadataRequest),
    (m.UpdateMetadataResponse, commands.UpdateMetadataResponse),
    (m.StopReplicaRequest, commands.StopReplicaRequest),
    (m.StopReplicaResponse, commands.StopReplicaResponse),
    (m.ControlledShutdownRequest, commands.ControlledShutdownRequest),
    (m.ControlledShutdownResponse, commands.ControlledShutdownResponse),
]


@pytest.mark.parametrize(("ours", "theirs"), SPOKEN, ids=lambda value: value.__name__)
def test_the_harness_reads_what_we_write_and_writes_the_same_bytes(ours: type[Message], theirs: Any) -> None:
    definition = next(each for each in DEFINITIONS if each.name == ours.__name__)
    random, version = Random(definition.name), int(theirs.__version__)
    for _ in range(20):
        encoded = random_message(definition, version, random).encode(version)
        entity, size = entity_reader(theirs)(encoded, 0)
        assert size == len(encoded)
        buffer = io.BytesIO()
        entity_writer(theirs)(buffer, entity)
        assert buffer.getvalue() == encoded


@pytest.mark.parametrize("reason", [None, "the disk is gone"])
def test_we_read_the_event_that_the_harness_writes(reason: str | None) -> None:
    """Its lists are never null, so that it is compared in this direction only."""
    partitions = (kip_343.EventPartition(partition_id=i32(2)),)
    theirs = kip_343.ReplicaStateEventRequest(
        broker_id=i32(4),
        broker_epoch=i64(2**40),
        event_type=i32(1),
        event_reason=reason,
        topics=(
            kip_343.EventTopic(topic="t", partitions=partitions),
            kip_343.EventTopic(topic="u", partitions=()),
        ),
    )
    buffer = io.BytesIO()
    entity_writer(kip_343.ReplicaStateEventRequest)(buffer, theirs)
    topic, partition = m.ReplicaStateEventRequest.TopicData, m.ReplicaStateEventRequest.PartitionData
    assert m.ReplicaStateEventRequest.decode(buffer.getvalue(), 0) == m.ReplicaStateEventRequest(
        broker_id=4,
        broker_epoch=2**40,
        event_type=1,
        event_reason=reason,
        topics=[
            topic(topic="t", partitions=[partition(partition_id=2)]),
            topic(topic="u", partitions=[]),
        ],
    )
