"""Translation between the core's messages and Kafka's, all about the one partition of the metadata topic.

Messages that cannot be meant, such as those about another topic, raise Malformed.
"""

from collections.abc import Mapping
from typing import Any

from fencepost.cluster_impl.designs.quorum.raft.messages import (
    OBSERVER,
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    EpochEnd,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    RaftBatch,
    Request,
    Response,
    VoteRequest,
    VoteResponse,
)
from fencepost.cluster_impl.designs.quorum.raft.metadata_topic import PARTITION, TOPIC, TOPIC_ID
from fencepost.cluster_impl.designs.quorum.raft.voters_record import voters_in
from fencepost.cluster_impl.wire import batches as format_
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Buffer, Malformed, Message, RequestMessage
from fencepost.cluster_impl.wire.errors import Error

FETCH_VERSION = 16
"""The version of fetches between controllers and from brokers: the first whose answers name the voters' addresses."""
_LAST_BY_NAME = 12
"""The last version of a fetch that names topics by name, later ones do by id."""
_FIRST_WITH_ENDPOINTS = 16
_FIRST_VOTE_WITH_ENDPOINTS = 1
Addresses = Mapping[int, tuple[str, int]]
"""Host and port of voters by id."""
FETCH_SNAPSHOT_VERSION = 0
_VERSIONS: dict[type, int] = {
    VoteRequest: 2,
    BeginQuorumEpochRequest: 1,
    EndQuorumEpochRequest: 0,
    FetchRequest: FETCH_VERSION,
    FetchSnapshotRequest: FETCH_SNAPSHOT_VERSION,
}
MAX_BYTES = 1024 * 1024
LISTENER = "CONTROLLER"
"""The name under which a leader announces its address; controllers have one listener for each other."""
_NO_NODE = -1


def request_message(
    request: Request, peer: int, sender: tuple[str, int] | None = None
) -> tuple[RequestMessage[Any], int]:
    """Return the message to send, and its version. A leader announces its own address, `sender`."""
    version = _VERSIONS[type(request)]
    match request:
        case VoteRequest():
            return _vote_message(request, peer), version
        case BeginQuorumEpochRequest():
            return _begin_message(request, peer, sender), version
        case EndQuorumEpochRequest():
            return _end_message(request), version
        case FetchRequest():
            return fetch_message(request), version
        case FetchSnapshotRequest():
            return fetch_snapshot_message(request), version


def _vote_message(request: VoteRequest, peer: int) -> m.VoteRequest:
    partition = m.VoteRequest.PartitionData(
        partition_index=PARTITION,
        candidate_epoch=request.epoch,
        candidate_id=request.candidate_id,
        last_offset_epoch=request.log_end.epoch,
        last_offset=request.log_end.end_offset,
        pre_vote=request.pre_vote,
    )
    topic = m.VoteRequest.TopicData(topic_name=TOPIC, partitions=[partition])
    return m.VoteRequest(cluster_id=request.cluster_id, voter_id=peer, topics=[topic])


def _begin_message(
    request: BeginQuorumEpochRequest, peer: int, sender: tuple[str, int] | None
) -> m.BeginQuorumEpochRequest:
    partition = m.BeginQuorumEpochRequest.PartitionData(
        partition_index=PARTITION, leader_id=request.leader_id, leader_epoch=request.epoch
    )
    topic = m.BeginQuorumEpochRequest.TopicData(topic_name=TOPIC, partitions=[partition])
    message = m.BeginQuorumEpochRequest(cluster_id=request.cluster_id, voter_id=peer, topics=[topic])
    if sender is not None:
        endpoint = m.BeginQuorumEpochRequest.LeaderEndpoint(name=LISTENER, host=sender[0], port=sender[1])
        message.leader_endpoints = [endpoint]
    return message


def announced_leader(message: Message) -> Addresses:
    """Return the leader that announces itself with its address; empty for other messages."""
    match message:
        case m.BeginQuorumEpochRequest(
            topics=[m.BeginQuorumEpochRequest.TopicData(partitions=[begin])], leader_endpoints=[at, *_]
        ):
            return {begin.leader_id: (at.host, at.port)}
    return {}


def _end_message(request: EndQuorumEpochRequest) -> m.EndQuorumEpochRequest:
    partition = m.EndQuorumEpochRequest.PartitionData(
        partition_index=PARTITION,
        leader_id=request.leader_id,
        leader_epoch=request.epoch,
        preferred_successors=list(request.successors),
    )
    topic = m.EndQuorumEpochRequest.TopicData(topic_name=TOPIC, partitions=[partition])
    return m.EndQuorumEpochRequest(cluster_id=request.cluster_id, topics=[topic])


_OF_A_BROKER = 0
"""The replica epoch in the fetches of brokers, whose ids are not those of voters. Controllers send -1."""


def fetch_message(request: FetchRequest) -> m.FetchRequest:
    """Return the fetch as Kafka's message."""
    partition = m.FetchRequest.FetchPartition(
        partition=PARTITION,
        current_leader_epoch=request.epoch,
        fetch_offset=request.log_end.end_offset,
        last_fetched_epoch=request.log_end.epoch,
        partition_max_bytes=MAX_BYTES,
    )
    return m.FetchRequest(
        cluster_id=request.cluster_id,
        max_wait_ms=round(request.max_wait * 1000),
        max_bytes=MAX_BYTES,
        replica_state=_replica_state(request),
        topics=[m.FetchRequest.FetchTopic(topic=TOPIC, topic_id=TOPIC_ID, partitions=[partition])],
    )


def fetch_snapshot_message(request: FetchSnapshotRequest) -> m.FetchSnapshotRequest:
    """Return the request for a part of a snapshot as Kafka's message."""
    snapshot_id = m.FetchSnapshotRequest.SnapshotId(
        end_offset=request.snapshot.end_offset, epoch=request.snapshot.epoch
    )
    partition = m.FetchSnapshotRequest.PartitionSnapshot(
        partition=PARTITION,
        current_leader_epoch=request.epoch,
        snapshot_id=snapshot_id,
        position=request.position,
    )
    return m.FetchSnapshotRequest(
        cluster_id=request.cluster_id,
        replica_id=request.replica_id,
        max_bytes=MAX_BYTES,
        topics=[m.FetchSnapshotRequest.TopicSnapshot(name=TOPIC, partitions=[partition])],
    )


def read_request(message: Message, version: int) -> Request:
    """Return a peer's request. Raises Malformed."""
    match message:
        case m.VoteRequest(cluster_id=cluster_id, topics=[m.VoteRequest.TopicData(topic_name=t, partitions=[vote])]):
            _check(t, vote.partition_index)
            log_end = EpochEnd(vote.last_offset_epoch, vote.last_offset)
            return VoteRequest(cluster_id, vote.candidate_epoch, vote.candidate_id, log_end, vote.pre_vote)
        case m.BeginQuorumEpochRequest(
            cluster_id=cluster_id, topics=[m.BeginQuorumEpochRequest.TopicData(topic_name=t, partitions=[begin])]
        ):
            _check(t, begin.partition_index)
            return BeginQuorumEpochRequest(cluster_id, begin.leader_epoch, begin.leader_id)
        case m.EndQuorumEpochRequest(
            cluster_id=cluster_id, topics=[m.EndQuorumEpochRequest.TopicData(topic_name=t, partitions=[end])]
        ):
            _check(t, end.partition_index)
            return EndQuorumEpochRequest(cluster_id, end.leader_epoch, end.leader_id, tuple(end.preferred_successors))
        case m.FetchRequest(topics=[m.FetchRequest.FetchTopic(partitions=[fetch]) as topic]):
            if version > _LAST_BY_NAME and topic.topic_id != TOPIC_ID:
                raise Malformed(f"topic id {topic.topic_id} is not the metadata topic")
            _check(topic.topic if version <= _LAST_BY_NAME else TOPIC, fetch.partition)
            if fetch.fetch_offset < 0:
                raise Malformed(f"{fetch.fetch_offset} is not an offset")
            return FetchRequest(
                message.cluster_id,
                fetch.current_leader_epoch,
                _replica_id(message, version),
                EpochEnd(fetch.last_fetched_epoch, fetch.fetch_offset),
                message.max_wait_ms / 1000,
                _broker_id(message),
            )
        case m.FetchSnapshotRequest(topics=[m.FetchSnapshotRequest.TopicSnapshot(name=t, partitions=[part])]):
            _check(t, part.partition)
            snapshot = EpochEnd(part.snapshot_id.epoch, part.snapshot_id.end_offset)
            if part.position < 0:
                raise Malformed(f"{part.position} is not a position")
            return FetchSnapshotRequest(
                message.cluster_id, part.current_leader_epoch, message.replica_id, snapshot, part.position
            )
    raise Malformed("the message is not about one partition of the metadata topic")


def _replica_state(request: FetchRequest) -> m.FetchRequest.ReplicaState:
    if request.broker_id is None:
        return m.FetchRequest.ReplicaState(replica_id=request.replica_id)
    return m.FetchRequest.ReplicaState(replica_id=request.broker_id, replica_epoch=_OF_A_BROKER)


def _replica_id(message: m.FetchRequest, version: int) -> int:
    if version < 15:
        return message.replica_id
    if message.replica_state is None or _broker_id(message) is not None:
        return OBSERVER
    return message.replica_state.replica_id


def _broker_id(message: m.FetchRequest) -> int | None:
    """Return the broker that fetches, None for a controller or a fetcher without a name."""
    state = message.replica_state
    return state.replica_id if state is not None and state.replica_epoch >= 0 and state.replica_id >= 0 else None


def _check(topic: str, partition: int) -> None:
    if (topic, partition) != (TOPIC, PARTITION):
        raise Malformed(f"{topic}-{partition} is not the metadata topic")


def refusal_message(message: Message) -> Message:
    """Return the response to a request that `read_request` refused."""
    match message:
        case m.VoteRequest():
            return m.VoteResponse(error_code=Error.INVALID_REQUEST)
        case m.BeginQuorumEpochRequest():
            return m.BeginQuorumEpochResponse(error_code=Error.INVALID_REQUEST)
        case m.EndQuorumEpochRequest():
            return m.EndQuorumEpochResponse(error_code=Error.INVALID_REQUEST)
        case m.FetchSnapshotRequest():
            return m.FetchSnapshotResponse(error_code=Error.INVALID_REQUEST)
        case _:
            return m.FetchResponse(error_code=Error.INVALID_REQUEST)


def response_message(
    response: Response, version: int = 0, records: Buffer = b"", voters: Addresses | None = None
) -> Message:
    """Return the response on the wire. Responses to fetches and votes name `voters`, where the version allows it.

    A foreign cluster is an error of the whole message, other errors are those of the partition.
    """
    foreign = response.error is Error.INCONSISTENT_CLUSTER_ID
    leader_id = _NO_NODE if response.leader_id is None else response.leader_id
    match response:
        case VoteResponse():
            if foreign:
                return m.VoteResponse(error_code=response.error)
            vote = m.VoteResponse.PartitionData(
                partition_index=PARTITION,
                error_code=response.error,
                leader_id=leader_id,
                leader_epoch=response.epoch,
                vote_granted=response.granted,
            )
            answer = m.VoteResponse(topics=[m.VoteResponse.TopicData(topic_name=TOPIC, partitions=[vote])])
            if version >= _FIRST_VOTE_WITH_ENDPOINTS:
                answer.node_endpoints = [
                    m.VoteResponse.NodeEndpoint(node_id=node_id, host=host, port=port)
                    for node_id, (host, port) in (voters or {}).items()
                ]
            return answer
        case BeginQuorumEpochResponse():
            if foreign:
                return m.BeginQuorumEpochResponse(error_code=response.error)
            begin = m.BeginQuorumEpochResponse.PartitionData(
                partition_index=PARTITION, error_code=response.error, leader_id=leader_id, leader_epoch=response.epoch
            )
            return m.BeginQuorumEpochResponse(
                topics=[m.BeginQuorumEpochResponse.TopicData(topic_name=TOPIC, partitions=[begin])]
            )
        case EndQuorumEpochResponse():
            if foreign:
                return m.EndQuorumEpochResponse(error_code=response.error)
            end = m.EndQuorumEpochResponse.PartitionData(
                partition_index=PARTITION, error_code=response.error, leader_id=leader_id, leader_epoch=response.epoch
            )
            return m.EndQuorumEpochResponse(
                topics=[m.EndQuorumEpochResponse.TopicData(topic_name=TOPIC, partitions=[end])]
            )
        case FetchResponse():
            if foreign:
                return m.FetchResponse(error_code=response.error)
            return _fetch_response_message(response, version, leader_id, records, voters or {})
        case FetchSnapshotResponse():
            if foreign:
                return m.FetchSnapshotResponse(error_code=response.error)
            return _fetch_snapshot_response_message(response, leader_id)


def _fetch_snapshot_response_message(response: FetchSnapshotResponse, leader_id: int) -> m.FetchSnapshotResponse:
    partition = m.FetchSnapshotResponse.PartitionSnapshot(
        index=PARTITION,
        error_code=response.error,
        snapshot_id=m.FetchSnapshotResponse.SnapshotId(
            end_offset=response.snapshot.end_offset, epoch=response.snapshot.epoch
        ),
        current_leader=m.FetchSnapshotResponse.LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=response.epoch),
        size=response.size,
        position=response.position,
        unaligned_records=response.data,
    )
    return m.FetchSnapshotResponse(topics=[m.FetchSnapshotResponse.TopicSnapshot(name=TOPIC, partitions=[partition])])


def _fetch_response_message(
    response: FetchResponse, version: int, leader_id: int, records: Buffer, voters: Addresses
) -> m.FetchResponse:
    partition = m.FetchResponse.PartitionData(
        partition_index=PARTITION,
        error_code=response.error,
        high_watermark=response.high_watermark,
        last_stable_offset=response.high_watermark,
        log_start_offset=response.log_start,
        current_leader=m.FetchResponse.LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=response.epoch),
        aborted_transactions=None,
        records=records,
    )
    if response.diverging is not None:
        partition.diverging_epoch = m.FetchResponse.EpochEndOffset(
            epoch=response.diverging.epoch, end_offset=response.diverging.end_offset
        )
    if response.snapshot is not None:
        partition.snapshot_id = m.FetchResponse.SnapshotId(
            end_offset=response.snapshot.end_offset, epoch=response.snapshot.epoch
        )
    topic = m.FetchResponse.FetchableTopicResponse(partitions=[partition])
    if version <= _LAST_BY_NAME:
        topic.topic = TOPIC
    else:
        topic.topic_id = TOPIC_ID
    message = m.FetchResponse(responses=[topic])
    if version >= _FIRST_WITH_ENDPOINTS:
        message.node_endpoints = [
            m.FetchResponse.NodeEndpoint(node_id=node_id, host=host, port=port)
            for node_id, (host, port) in voters.items()
        ]
    return message


def named_voters(message: Message) -> Addresses:
    """Return the voters that a response to a fetch or a vote names; empty if it names none."""
    if not isinstance(message, m.FetchResponse | m.VoteResponse):
        return {}
    return {at.node_id: (at.host, at.port) for at in message.node_endpoints or ()}


def read_response(message: Message) -> Response:
    """Return a peer's response, with every checksum verified. Raises Malformed."""
    match message:
        case m.VoteResponse(topics=[m.VoteResponse.TopicData(partitions=[vote])]):
            error, leader = Error(vote.error_code), _node(vote.leader_id)
            return VoteResponse(error, vote.leader_epoch, leader, vote.vote_granted)
        case m.BeginQuorumEpochResponse(topics=[m.BeginQuorumEpochResponse.TopicData(partitions=[begin])]):
            return BeginQuorumEpochResponse(Error(begin.error_code), begin.leader_epoch, _node(begin.leader_id))
        case m.FetchResponse(responses=[m.FetchResponse.FetchableTopicResponse(partitions=[fetch])]):
            return _read_fetch_response(fetch)
        case m.FetchSnapshotResponse(topics=[m.FetchSnapshotResponse.TopicSnapshot(partitions=[part])]):
            return _read_fetch_snapshot_response(part)
        case m.VoteResponse() | m.BeginQuorumEpochResponse() | m.FetchResponse() | m.FetchSnapshotResponse() if (
            message.error_code
        ):
            raise Malformed(f"the request is refused with {Error(message.error_code)!r}")
    raise Malformed("the message is not about one partition of the metadata topic")


def _read_fetch_snapshot_response(part: m.FetchSnapshotResponse.PartitionSnapshot) -> FetchSnapshotResponse:
    leader = part.current_leader
    if leader is None:
        raise Malformed("the response names no leader and epoch")
    return FetchSnapshotResponse(
        Error(part.error_code),
        leader.leader_epoch,
        _node(leader.leader_id),
        EpochEnd(part.snapshot_id.epoch, part.snapshot_id.end_offset),
        part.size,
        part.position,
        bytes(part.unaligned_records or b""),
    )


def _read_fetch_response(fetch: m.FetchResponse.PartitionData) -> FetchResponse:
    batches = []
    for batch in format_.split(fetch.records or b""):
        if not batch.verify_crc():
            raise Malformed(f"the checksum of {batch} is wrong")
        batches.append(
            RaftBatch(batch.base_offset, batch.next_offset, batch.leader_epoch, batch.view, voters_in(batch))
        )
    diverging, leader, snapshot = fetch.diverging_epoch, fetch.current_leader, fetch.snapshot_id
    if leader is None:
        raise Malformed("the response names no leader and epoch")
    return FetchResponse(
        Error(fetch.error_code),
        leader.leader_epoch,
        _node(leader.leader_id),
        fetch.high_watermark,
        EpochEnd(diverging.epoch, diverging.end_offset) if diverging and diverging.epoch >= 0 else None,
        tuple(batches),
        EpochEnd(snapshot.epoch, snapshot.end_offset) if snapshot and snapshot.end_offset >= 0 else None,
        fetch.log_start_offset,
    )


def _node(node_id: int) -> int | None:
    return None if node_id == _NO_NODE else node_id
