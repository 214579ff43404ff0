"""The drafts against the messages of the harness, which go through a codec that others wrote.

A mistake in one of the two shows here, and not as a refusal of a probe that no scenario can explain.
"""

from __future__ import annotations

import io
from random import Random

import pytest
from kio.serial import entity_reader, entity_writer

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.messages import DEFINITIONS
from fencepost.harness.wire.entities import entity, own_module
from tests.cluster_impl.wire.random_messages import random_message

SPOKEN: list[tuple[type[Message], int]] = [
    (m.MetadataHeartbeatRequest, 0),
    (m.MetadataHeartbeatResponse, 0),
    (m.IsrChangeRequest, 0),
    (m.IsrChangeResponse, 0),
    (m.ReplicaStateEventResponse, 0),
    (m.LeaderAndIsrRequest, 5),
    (m.LeaderAndIsrResponse, 5),
    (m.UpdateMetadataRequest, 7),
    (m.UpdateMetadataResponse, 7),
    (m.StopReplicaRequest, 3),
    (m.StopReplicaResponse, 3),
    (m.ControlledShutdownRequest, 3),
    (m.ControlledShutdownResponse, 3),
]
"""Each with the version that the harness speaks."""


@pytest.mark.parametrize(("ours", "version"), SPOKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_the_harness_reads_what_we_write_and_writes_the_same_bytes(ours: type[Message], version: int) -> None:
    definition = next(each for each in DEFINITIONS if each.name == ours.__name__)
    random, theirs = Random(definition.name), getattr(own_module(definition.api_key, version), definition.name)
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
    theirs = own_module(1589, 0).ReplicaStateEventRequest
    body = {
        "broker_id": 4,
        "broker_epoch": 2**40,
        "event_type": 1,
        "event_reason": reason,
        "topics": [{"topic": "t", "partitions": [{"partition_id": 2}]}, {"topic": "u", "partitions": []}],
    }
    buffer = io.BytesIO()
    entity_writer(theirs)(buffer, entity(theirs, body))
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
