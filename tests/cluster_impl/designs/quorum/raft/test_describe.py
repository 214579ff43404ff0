"""The leader describes voters and observers: where their logs end, and when they had last caught up (KIP-836)."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.cluster_impl.designs.quorum.raft.describe import describe_quorum
from fencepost.cluster_impl.designs.quorum.raft.messages import OBSERVER, EpochEnd, FetchRequest
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterSet
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.raft.test_core import CLUSTER, FETCH_TIMEOUT, Voter

WALL = 1_000_000.0
"""The wall's clock, in seconds, when the core's shows 0."""


def leading() -> Voter:
    voter = Voter()
    voter.lead()
    return voter


def described(voter: Voter, topic: str = "__kafka_metadata") -> m.DescribeQuorumResponse:
    partition = m.DescribeQuorumRequest.PartitionData(partition_index=0)
    asked = m.DescribeQuorumRequest(
        topics=[m.DescribeQuorumRequest.TopicData(topic_name=topic, partitions=[partition])]
    )
    answer = describe_quorum(asked, voter.core, voter.now, WALL + voter.now)
    return m.DescribeQuorumResponse.decode(answer.encode(2), 2)


def fetched_by_broker(voter: Voter, broker_id: int, end: int) -> list[Any]:
    fetch = FetchRequest(CLUSTER, voter.core.epoch, OBSERVER, EpochEnd(1 if end else 0, end), 0.5, broker_id)
    return voter.receive(fetch)


def seen(states: list[Any]) -> dict[int, tuple[int, int, int]]:
    """End of the log, last fetch and last caught up by id; times in milliseconds since the core's clock began."""

    def since(at: int) -> int:
        return -1 if at == -1 else at - round(WALL * 1000)

    return {
        each.replica_id: (each.log_end_offset, since(each.last_fetch_timestamp), since(each.last_caught_up_timestamp))
        for each in states
    }


@pytest.mark.requirement("D631-33")
def test_brokers_that_fetch_are_observers_until_they_are_silent() -> None:
    leader = leading()
    fetched_by_broker(leader, 4, end=0)
    leader.now = 1.5
    fetched_by_broker(leader, 5, end=1)
    [partition] = described(leader).topics[0].partitions
    assert seen(partition.observers) == {4: (0, 1000, -1), 5: (1, 1500, 1500)}
    leader.now = 1.5 + FETCH_TIMEOUT
    assert set(seen(described(leader).topics[0].partitions[0].observers)) == {5}


def test_a_fetcher_that_reaches_the_end_of_its_fetch_before_had_caught_up_then() -> None:
    leader = leading()
    fetched_by_broker(leader, 4, end=0)
    leader.core.append([b"a"], leader.now)
    leader.now = 1.25
    fetched_by_broker(leader, 4, end=1)
    [partition] = described(leader).topics[0].partitions
    assert seen(partition.observers) == {4: (1, 1250, 1000)}


@pytest.mark.requirement("D631-33")
def test_a_broker_with_the_id_of_a_voter_is_not_counted_as_that_voter() -> None:
    leader = leading()
    fetched_by_broker(leader, 2, end=1)
    [partition] = described(leader).topics[0].partitions
    assert partition.high_watermark == 0
    assert seen(partition.current_voters)[2] == (0, 1000, -1)
    assert seen(partition.observers)[2] == (1, 1000, 1000)


@pytest.mark.requirement("K631-11")
def test_the_leader_itself_has_caught_up_and_voters_as_their_fetches_say() -> None:
    leader = leading()
    leader.now = 1.5
    leader.fetch(3, EpochEnd(1, 1))
    [partition] = described(leader).topics[0].partitions
    voters = seen(partition.current_voters)
    assert (voters[1], voters[3]) == ((1, 1500, 1500), (1, 1500, 1500))
    assert voters[2][2] == -1


def test_the_addresses_of_voters_are_named_and_other_partitions_are_unknown() -> None:
    leader = leading()
    leader.core.voters.first = VoterSet.of({1: ("a", 9093), 2: ("b", 9094), 3: ("c", 9095)})
    nodes = {each.node_id: (each.listeners[0].host, each.listeners[0].port) for each in described(leader).nodes}
    assert nodes == {1: ("a", 9093), 2: ("b", 9094), 3: ("c", 9095)}
    other = described(leader, topic="t")
    [partition] = other.topics[0].partitions
    assert (other.error_code, partition.error_code) == (Error.NONE, Error.UNKNOWN_TOPIC_OR_PARTITION)
