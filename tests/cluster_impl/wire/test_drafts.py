"""The drafted requests between brokers and a controller in ZooKeeper, byte by byte as their documents draw them."""

from __future__ import annotations

import struct

import pytest

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.framing import decode_request_header, encode_request
from fencepost.cluster_impl.wire.registry import ZK_BROKER

IsrChange = m.IsrChangeRequest
ReplicaEvent = m.ReplicaStateEventRequest
EventReply = m.ReplicaStateEventResponse


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def items(*values: bytes) -> bytes:
    return struct.pack(">i", len(values)) + b"".join(values)


NULL_TEXT, NULL_ITEMS = b"\xff\xff", b"\xff\xff\xff\xff"
CZXID = 2**40 + 7

DOCUMENTED: list[tuple[Message, bytes]] = [
    (
        m.MetadataHeartbeatRequest(broker_id=4, incarnation_id=CZXID, target_state=2),
        struct.pack(">iqb", 4, CZXID, 2),
    ),
    (
        m.MetadataHeartbeatResponse(broker_id=4, incarnation_id=CZXID, current_state=2),
        struct.pack(">h", 0) + NULL_TEXT + struct.pack(">iqb", 4, CZXID, 2),
    ),
    (
        m.MetadataHeartbeatResponse(error_code=Error.INVALID_INCARNATION_ID, error_string="old"),
        struct.pack(">h", 1343) + text("old") + struct.pack(">iqb", -1, -1, 0),
    ),
    (
        IsrChange(
            broker_id=4,
            incarnation_id=CZXID,
            topics=[
                IsrChange.TopicData(
                    topic_name="t",
                    partitions=[IsrChange.PartitionData(leader_epoch=3, partition_index=1, isr_nodes=[4, 6])],
                )
            ],
        ),
        struct.pack(">iq", 4, CZXID)
        + items(text("t") + items(struct.pack(">ii", 3, 1) + items(struct.pack(">i", 4), struct.pack(">i", 6)))),
    ),
    (
        m.IsrChangeResponse(
            results=[m.IsrChangeResponse.Result(), m.IsrChangeResponse.Result(error_code=42, error_message="empty")]
        ),
        struct.pack(">h", 0) + NULL_TEXT + items(b"\0\0" + NULL_TEXT, struct.pack(">h", 42) + text("empty")),
    ),
    (
        ReplicaEvent(broker_id=4, broker_epoch=CZXID, event_type=1, event_reason="disk", topics=None),
        struct.pack(">iqi", 4, CZXID, 1) + text("disk") + NULL_ITEMS,
    ),
    (
        ReplicaEvent(
            broker_id=4,
            broker_epoch=CZXID,
            event_type=1,
            event_reason=None,
            topics=[
                ReplicaEvent.TopicData(
                    topic="t", partitions=[ReplicaEvent.PartitionData(partition_id=2, leader_epoch=-1)]
                ),
                ReplicaEvent.TopicData(topic="u", partitions=None),
            ],
        ),
        struct.pack(">iqi", 4, CZXID, 1)
        + NULL_TEXT
        + items(text("t") + items(struct.pack(">ii", 2, -1)), text("u") + NULL_ITEMS),
    ),
    (
        EventReply(
            topics=[
                EventReply.TopicData(topic="t", partitions=[EventReply.PartitionData(partition_id=2, error_code=3)])
            ]
        ),
        struct.pack(">i", 0) + items(text("t") + items(struct.pack(">ii", 2, 3))),
    ),
    (
        EventReply(error_code=Error.UNKNOWN_REPLICA_EVENT_TYPE),
        struct.pack(">i", 1589) + items(),
    ),
]


@pytest.mark.parametrize(("message", "bytes_in_document"), DOCUMENTED, ids=lambda value: type(value).__name__)
@pytest.mark.requirement("K343-38", "K343-39", "K343-43", "K343-44", "K343-45", "D343-01", "D343-12")
@pytest.mark.requirement("RSE-11", "RSE-12", "DRSE-01", "DRSE-02", "DRSE-03")
def test_drafts_have_the_fields_that_their_documents_draw(message: Message, bytes_in_document: bytes) -> None:
    assert message.encode(0) == bytes_in_document
    assert type(message).decode(bytes_in_document, 0) == message


def test_the_first_controlledshutdown_has_no_client_id_in_its_header() -> None:
    api, message = ZK_BROKER[7], m.ControlledShutdownRequest(broker_id=4)
    (frame,) = encode_request(api, 0, 9, "ignored", message)
    assert frame[4:] == struct.pack(">hhii", 7, 0, 9, 4)
    header = decode_request_header(memoryview(frame)[4:], flexible=False, has_client_id=False)
    assert (header.correlation_id, header.client_id, header.body_offset) == (9, None, 8)
    (later,) = encode_request(api, 1, 9, "me", message)
    assert later[4:] == struct.pack(">hhih", 7, 1, 9, 2) + b"me" + struct.pack(">i", 4)
