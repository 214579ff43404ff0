"""The promises of the codec by itself: round trips, tolerance for the new, and no other error than Malformed."""

from __future__ import annotations

import re
import tracemalloc
from random import Random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire import stubs
from fencepost.cluster_impl.wire.codec import (
    Malformed,
    Unencodable,
    UnsupportedVersion,
    read_uvarint,
    signed16,
    unsigned16,
    uvarint,
)
from fencepost.cluster_impl.wire.schema import Definition
from tests.cluster_impl.wire.random_messages import message_class, random_message

EVERY = pytest.mark.parametrize("definition", m.DEFINITIONS, ids=lambda definition: definition.name)


def versions(definition: Definition) -> range:
    return range(definition.versions.low, definition.versions.high + 1)


@EVERY
def test_what_is_encoded_is_decoded_and_encoded_again_the_same(definition: Definition) -> None:
    random = Random(definition.name)
    for version in versions(definition):
        for _ in range(10):
            message = random_message(definition, version, random)
            encoded = message.encode(version)
            decoded = message_class(definition).decode(bytearray(encoded), version)
            assert decoded.encode(version) == encoded
            assert type(decoded).decode(encoded, version) == decoded


@EVERY
def test_a_message_cut_at_any_byte_is_malformed(definition: Definition) -> None:
    random = Random(definition.name)
    for version in versions(definition):
        encoded = random_message(definition, version, random).encode(version)
        for end in random.sample(range(len(encoded)), min(len(encoded), 40)):
            with pytest.raises(Malformed, match=f"{definition.name} v{version}"):
                message_class(definition).decode(encoded[:end], version)


@EVERY
def test_bytes_after_a_message_are_malformed(definition: Definition) -> None:
    version = definition.versions.high
    encoded = message_class(definition)().encode(version)
    with pytest.raises(Malformed, match="1 bytes are left over"):
        message_class(definition).decode(encoded + b"\0", version)


@EVERY
def test_damaged_messages_are_malformed_or_decoded_and_nothing_else(definition: Definition) -> None:
    random = Random(definition.name)
    cls = message_class(definition)
    for version in versions(definition):
        encoded = bytearray(random_message(definition, version, random).encode(version)[:3000] or b"\0")
        for _ in range(50):
            damaged = bytearray(encoded)
            for _ in range(random.randrange(1, 4)):
                damaged[random.randrange(len(damaged))] = random.choice((0, 1, 127, 128, 255, random.randrange(256)))
            try:
                cls.decode(damaged, version)
            except Malformed as error:
                assert str(error).startswith(f"{definition.name} v{version}")


@given(st.binary(max_size=60), st.sampled_from(m.DEFINITIONS))
def test_arbitrary_bytes_are_malformed_or_decoded_and_nothing_else(data: bytes, definition: Definition) -> None:
    for version in versions(definition):
        try:
            decoded = message_class(definition).decode(data, version)
        except Malformed:
            continue
        decoded.encode(version)


def test_the_error_names_the_field_and_the_element() -> None:
    partition = m.OffsetCommitRequest.OffsetCommitRequestPartition(committed_metadata="x" * 50)
    topic = m.OffsetCommitRequest.OffsetCommitRequestTopic(name="t", partitions=[partition] * 3)
    encoded = m.OffsetCommitRequest(topics=[topic, topic]).encode(2)
    expected = "OffsetCommitRequest v2 at Topics[1].Partitions[2].CommittedMetadata: 50 bytes are claimed, 40 are left"
    with pytest.raises(Malformed, match=f"^{re.escape(expected)}$"):
        m.OffsetCommitRequest.decode(encoded[:-10], 2)


def test_an_untrusted_count_allocates_nothing() -> None:
    flexible = m.MetadataRequest().encode(12)
    assert flexible[0] == 1, "the compact count of an empty list"
    bomb = uvarint(2**31) + flexible[1:]
    tracemalloc.start()
    try:
        with pytest.raises(Malformed, match=r"at Topics: 2147483647 elements are claimed, \d+ bytes are left"):
            m.MetadataRequest.decode(bomb, 12)
        with pytest.raises(Malformed, match="at Replicas: 2147483647 elements are claimed"):
            m.PartitionRecord.decode(bytes(20) + b"\x7f\xff\xff\xff", 0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000


def test_unknown_tagged_fields_are_kept_and_written_again_in_order() -> None:
    request = m.FetchRequest(cluster_id="c", unknown_tags={7: b"seven", 300: b""})
    encoded = request.encode(12)
    decoded = m.FetchRequest.decode(encoded, 12)
    assert decoded.cluster_id == "c"
    assert decoded.unknown_tags == {7: b"seven", 300: b""}
    assert decoded == request
    assert decoded.encode(12) == encoded
    assert encoded.index(b"seven") > encoded.index(b"c"), "tags ascend: 0 is the cluster id"


def test_tags_out_of_order_or_repeated_are_malformed() -> None:
    plain = m.ControllerHeartbeatRequest().encode(0)
    for tags in (b"\x02\x05\x00\x04\x00", b"\x02\x05\x00\x05\x00"):
        with pytest.raises(Malformed, match="tags must ascend"):
            m.ControllerHeartbeatRequest.decode(plain[:-1] + tags, 0)


def test_a_known_tagged_field_must_fill_the_size_that_it_claims() -> None:
    encoded = m.FetchRequest(cluster_id="abc").encode(12)
    section = b"\x01\x00\x04\x04abc"
    assert encoded.endswith(section)
    longer = encoded[: -len(section)] + b"\x01\x00\x05\x04abcd"
    with pytest.raises(Malformed, match="at ClusterId: the tagged field claims to end at"):
        m.FetchRequest.decode(longer, 12)


def test_a_tagged_field_is_written_only_if_it_says_something() -> None:
    absent = m.FetchRequest().encode(15)
    default = m.FetchRequest(replica_state=m.FetchRequest.ReplicaState()).encode(15)
    given_state = m.FetchRequest(replica_state=m.FetchRequest.ReplicaState(replica_id=4, replica_epoch=9)).encode(15)
    assert absent == default
    assert m.FetchRequest.decode(absent, 15).replica_state is None
    state = m.FetchRequest.decode(given_state, 15).replica_state
    assert state is not None
    assert (state.replica_id, state.replica_epoch) == (4, 9)


def test_a_value_that_the_version_cannot_carry_is_refused_unless_it_may_be_ignored() -> None:
    with pytest.raises(Unencodable, match=r"^FetchRequest v11 at Topics.*LastFetchedEpoch: this version cannot carry"):
        partition = m.FetchRequest.FetchPartition(last_fetched_epoch=3)
        m.FetchRequest(topics=[m.FetchRequest.FetchTopic(partitions=[partition])]).encode(11)
    m.FetchRequest(rack_id="r").encode(10)


def test_null_where_it_is_not_allowed_is_refused_both_ways() -> None:
    topic = m.MetadataRequest.MetadataRequestTopic(name=None)
    with pytest.raises(Unencodable, match=r"MetadataRequest v9 at Topics\[0\]\.Name"):
        m.MetadataRequest(topics=[topic]).encode(9)
    with pytest.raises(Malformed, match=r"MetadataRequest v0 at Topics: null is not allowed"):
        m.MetadataRequest.decode(b"\xff\xff\xff\xff", 0)


def test_a_number_out_of_range_is_refused_with_its_field() -> None:
    with pytest.raises(Unencodable, match="DeleteBrokerRecord v0 at Id"):
        m.DeleteBrokerRecord(id=2**31).encode(0)


def test_a_version_that_is_not_defined_is_refused() -> None:
    with pytest.raises(UnsupportedVersion, match="FetchRequest has no version 3; it is defined for 4 to 17"):
        m.FetchRequest().encode(3)


def test_text_that_is_not_utf8_is_malformed() -> None:
    with pytest.raises(Malformed, match=r"Topics\[0\]\.Name.*utf-8"):
        m.MetadataRequest.decode(b"\0\0\0\1\0\1\xff", 0)


def test_records_are_views_of_the_buffer_that_was_decoded() -> None:
    partition = m.ProduceRequest.PartitionProduceData(index=0, records=b"batches")
    topic = m.ProduceRequest.TopicProduceData(name="t", partition_data=[partition])
    buffer = bytearray(m.ProduceRequest(topic_data=[topic]).encode(9))
    records = m.ProduceRequest.decode(buffer, 9).topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    assert records.obj is buffer
    assert bytes(records) == b"batches"


def test_defaults_are_those_of_the_definitions_and_lists_are_not_shared() -> None:
    first, second = m.FetchRequest(), m.FetchRequest()
    first.topics.append(m.FetchRequest.FetchTopic())
    assert second.topics == []
    assert second.max_bytes == 0x7FFFFFFF
    assert second.replica_id == -1
    assert m.BrokerHeartbeatRequest().broker_epoch == -1
    assert m.MetadataRequest().allow_auto_topic_creation is True
    assert m.TopicRecord().topic_id == UUID(int=0)


def test_messages_compare_by_value_and_show_their_fields() -> None:
    assert m.DeleteBrokerRecord(id=1) == m.DeleteBrokerRecord(id=1)
    assert m.DeleteBrokerRecord(id=1) != m.DeleteBrokerRecord(id=2)
    assert repr(m.DeleteBrokerRecord(id=1)) == "DeleteBrokerRecord(id=1)"
    assert "records=<100 bytes>" in repr(m.FetchResponse.PartitionData(records=bytes(100)))


def test_the_type_stubs_are_current() -> None:
    assert stubs.PATH.read_text("utf-8") == stubs.render(), "run `python -m fencepost.cluster_impl.wire.stubs`"


@given(st.integers(0, 2**32 - 1))
def test_unsigned_varints_round_trip(value: int) -> None:
    encoded = uvarint(value)
    assert read_uvarint(encoded + b"rest", 0) == (value, len(encoded))


def test_overlong_varints_are_malformed() -> None:
    with pytest.raises(Malformed, match="longer than 5 bytes"):
        read_uvarint(b"\x80" * 5 + b"\x01", 0)
    with pytest.raises(Malformed, match="does not fit 32 bits"):
        read_uvarint(b"\xff\xff\xff\xff\x7f", 0)


@given(st.integers(0, 65535))
@pytest.mark.requirement("D631-22")
def test_ports_survive_the_drafts_int16(port: int) -> None:
    listener = m.BrokerHeartbeatRequest.Listener(port=signed16(port))
    request = m.BrokerHeartbeatRequest(listeners=[listener])
    decoded = m.BrokerHeartbeatRequest.decode(request.encode(0), 0)
    assert unsigned16(decoded.listeners[0].port) == port
