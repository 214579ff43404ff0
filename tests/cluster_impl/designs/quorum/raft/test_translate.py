"""Every message of the core survives the wire format, and messages that cannot be meant are refused."""

from uuid import UUID

import pytest

from fencepost.cluster_impl.designs.quorum.raft.messages import (
    OBSERVER,
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EpochEnd,
    FetchRequest,
    FetchResponse,
    RaftBatch,
    Request,
    Response,
    VoteRequest,
    VoteResponse,
)
from fencepost.cluster_impl.designs.quorum.raft.translate import (
    FETCH_VERSION,
    read_request,
    read_response,
    refusal_message,
    request_message,
    response_message,
)
from fencepost.cluster_impl.wire import batches as format_
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Malformed, Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.registry import QUORUM_CONTROLLER

METADATA = "__kafka_metadata"


@pytest.mark.parametrize(
    "request_",
    [
        VoteRequest("c", 7, 1, EpochEnd(6, 100), pre_vote=True),
        VoteRequest(None, 7, 1, EpochEnd(6, 100), pre_vote=False),
        BeginQuorumEpochRequest("c", 7, 1),
        EndQuorumEpochRequest("c", 7, 1, (3, 2)),
        FetchRequest("c", 7, 2, EpochEnd(6, 100), 0.25),
        FetchRequest("c", -1, OBSERVER, EpochEnd(0, 0), 0.5),
        FetchRequest("c", 7, OBSERVER, EpochEnd(6, 100), 0.25, broker_id=2),
    ],
)
def test_a_request_arrives_as_it_was_sent(request_: Request) -> None:
    message, version = request_message(request_, peer=2)
    assert read_request(type(message).decode(message.encode(version), version), version) == request_


@pytest.mark.parametrize(
    "response",
    [
        VoteResponse(Error.NONE, 7, None, granted=True),
        VoteResponse(Error.FENCED_LEADER_EPOCH, 8, 3),
        BeginQuorumEpochResponse(Error.NONE, 7, 1),
        BeginQuorumEpochResponse(Error.INCONSISTENT_VOTER_SET, 7, None),
        FetchResponse(Error.NONE, 7, 1, 99),
        FetchResponse(Error.NONE, 7, 1, 99, diverging=EpochEnd(5, 80)),
        FetchResponse(Error.NOT_LEADER_OR_FOLLOWER, 7, None),
    ],
)
def test_a_response_arrives_as_it_was_sent(response: Response) -> None:
    version = 2 if isinstance(response, VoteResponse) else FETCH_VERSION if isinstance(response, FetchResponse) else 0
    message = response_message(response, version)
    assert read_response(type(message).decode(message.encode(version), version)) == response


def test_records_arrive_as_batches_of_their_epochs() -> None:
    first = format_.build([(None, b"a", 0), (None, b"b", 0)], base_offset=4, leader_epoch=2)
    second = format_.build([(None, b"c", 0)], base_offset=6, leader_epoch=3)
    message = response_message(FetchResponse(Error.NONE, 3, 1, 7), FETCH_VERSION, first + second)
    response = read_response(m.FetchResponse.decode(message.encode(FETCH_VERSION), FETCH_VERSION))
    assert isinstance(response, FetchResponse)
    assert response.batches == (RaftBatch(4, 6, 2, first), RaftBatch(6, 7, 3, second))


def test_records_that_were_damaged_on_the_way_are_refused() -> None:
    batch = bytearray(format_.build([(None, b"a", 0)], leader_epoch=2))
    batch[-2] ^= 1
    with pytest.raises(Malformed, match="checksum"):
        read_response(response_message(FetchResponse(Error.NONE, 3, 1, 7), FETCH_VERSION, batch))


def test_an_answer_from_a_foreign_cluster_is_no_answer() -> None:
    with pytest.raises(Malformed, match="INCONSISTENT_CLUSTER_ID"):
        read_response(response_message(VoteResponse(Error.INCONSISTENT_CLUSTER_ID, 9, 3)))


def fetch_by_id(topic_id: UUID, offset: int = 5) -> m.FetchRequest:
    partition = m.FetchRequest.FetchPartition(fetch_offset=offset, last_fetched_epoch=2)
    return m.FetchRequest(topics=[m.FetchRequest.FetchTopic(topic_id=topic_id, partitions=[partition])])


def test_a_later_fetch_names_the_metadata_topic_by_its_reserved_id() -> None:
    request = read_request(fetch_by_id(UUID(int=1)), 17)
    assert isinstance(request, FetchRequest)
    assert (request.replica_id, request.log_end) == (OBSERVER, EpochEnd(2, 5))


VOTE = m.VoteRequest.PartitionData()


@pytest.mark.parametrize(
    ("message", "version"),
    [
        (m.VoteRequest(), 2),
        (m.VoteRequest(topics=[m.VoteRequest.TopicData(topic_name="t", partitions=[VOTE])]), 2),
        (m.VoteRequest(topics=[m.VoteRequest.TopicData(topic_name=METADATA, partitions=[VOTE, VOTE])]), 2),
        (m.BeginQuorumEpochRequest(), 0),
        (m.EndQuorumEpochRequest(), 0),
        (m.FetchRequest(), 12),
        (fetch_by_id(UUID(int=2)), 17),
        (fetch_by_id(UUID(int=1), offset=-1), 17),
    ],
)
def test_what_is_not_about_a_place_in_the_metadata_topic_is_refused(message: Message, version: int) -> None:
    with pytest.raises(Malformed):
        read_request(message, version)
    refusal = refusal_message(message)
    assert isinstance(refusal, QUORUM_CONTROLLER[message.API_KEY].response)
    assert refusal.error_code == Error.INVALID_REQUEST  # type: ignore[attr-defined]  # as all four have
