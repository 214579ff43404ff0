"""The batches that Produce appends, and those that it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from fencepost.cluster_impl.api.produce import DelayedProduce
from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.replication.purgatory import Purgatory
from fencepost.cluster_impl.replication.replica import Replica
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.batches import build
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.requests import batch, produce, produce_request
from tests.cluster_impl.static_cluster import StaticCluster, static_cluster
from tests.waiting import eventually


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StaticCluster]:
    config = DataPlaneConfig(lag_limit=60.0, fetch_wait=0.1, message_max_bytes=10_000)
    with static_cluster(tmp_path, 2, config) as cluster:
        cluster.create("t", [[1, 2]])
        yield cluster


def damaged() -> bytes:
    records = bytearray(batch("a"))
    records[-1] ^= 1
    return bytes(records)


def of_old_magic() -> bytes:
    records = bytearray(batch("a"))
    records[16] = 1
    return bytes(records)


@pytest.mark.parametrize(
    ("records", "error"),
    [
        (damaged(), Error.CORRUPT_MESSAGE),
        (batch("a")[:-1], Error.CORRUPT_MESSAGE),
        (b"", Error.INVALID_RECORD),
        (batch("a") + batch("b"), Error.INVALID_RECORD),
        (build([(b"k", b"v", 1)], control=True), Error.INVALID_RECORD),
        (of_old_magic(), Error.UNSUPPORTED_FOR_MESSAGE_FORMAT),
        (batch("a" * 20_000), Error.MESSAGE_TOO_LARGE),
    ],
)
def test_what_is_not_one_whole_sound_batch_is_refused(cluster: StaticCluster, records: bytes, error: Error) -> None:
    assert produce(cluster, 1, records).error_code == error
    assert cluster.log(1, "t") == []


def test_only_the_leader_takes_records(cluster: StaticCluster) -> None:
    assert produce(cluster, 2, batch("a")).error_code == Error.NOT_LEADER_OR_FOLLOWER
    assert produce(cluster, 1, batch("a"), topic="nowhere").error_code == Error.UNKNOWN_TOPIC_OR_PARTITION


def test_acks_of_one_do_not_wait_for_followers(cluster: StaticCluster) -> None:
    cluster.kill(2)
    assert produce(cluster, 1, batch("a"), acks=1).error_code == Error.NONE
    assert produce(cluster, 1, batch("b"), timeout_ms=50).error_code == Error.REQUEST_TIMED_OUT
    assert len(cluster.replica(1, "t").purgatory.acknowledgements) == 0, "an answered request waits no longer"


def test_without_acks_records_are_taken_and_not_answered(cluster: StaticCluster) -> None:
    with pytest.raises(TimeoutError):
        cluster.ask(1, produce_request(batch("a"), acks=0), 9, timeout=0.2)
    assert cluster.log(1, "t") == [b"a"]


def test_without_acks_a_refusal_closes_the_connection(cluster: StaticCluster) -> None:
    with pytest.raises(ConnectionError, match="closed the connection"):
        cluster.ask(2, produce_request(batch("a"), acks=0), 9)


def test_other_numbers_of_acks_are_refused(cluster: StaticCluster) -> None:
    assert produce(cluster, 1, batch("a"), acks=2).error_code == Error.INVALID_REQUIRED_ACKS


def test_each_partition_of_a_request_has_its_own_answer(cluster: StaticCluster) -> None:
    cluster.create("u", [[1, 2]])
    request = produce_request(batch("a"))
    request.topic_data += produce_request(damaged(), "u").topic_data
    answers = cluster.ask(1, request, 9).responses
    assert [answer.partition_responses[0].error_code for answer in answers] == [Error.NONE, Error.CORRUPT_MESSAGE]


def test_a_leader_deposed_while_it_waits_says_so(cluster: StaticCluster) -> None:
    cluster.kill(2)
    waiting = cluster.begin(1, produce_request(batch("a"), timeout_ms=5000), 9)
    eventually(lambda: len(cluster.replica(1, "t").purgatory.acknowledgements) == 1, "the produce waits")
    cluster.elect("t", 0, 2)
    answer = waiting.result(2).responses[0].partition_responses[0]
    assert answer.error_code == Error.NOT_LEADER_OR_FOLLOWER


def test_every_producer_gets_an_id_of_its_own(cluster: StaticCluster) -> None:
    request = m.InitProducerIdRequest(transactional_id=None)
    ids = [cluster.ask(broker, request, 4).producer_id for broker in (1, 2, 1)]
    assert len(set(ids)) == 3
    refused = cluster.ask(1, m.InitProducerIdRequest(transactional_id="x"), 4)
    assert refused.error_code == Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


async def test_a_partition_that_is_refused_meanwhile_does_not_answer_for_one_that_waits() -> None:
    """As where the disk of the first fails while the third is appended."""

    async def answers() -> list[int]:
        response = m.ProduceResponse()
        delayed = DelayedProduce(response, cast("ControlPlane", Serving()))
        parts = [Waiting() for _ in range(3)]
        topic = m.ProduceResponse.TopicProduceResponse(name="t")
        response.responses.append(topic)
        for place, part in enumerate(parts):
            answer = m.ProduceResponse.PartitionProduceResponse(index=place, base_offset=7)
            topic.partition_responses.append(answer)
            if place == 2:
                parts[0].decide(Error.KAFKA_STORAGE_ERROR)
            delayed.expect(cast("Replica", part), 10, answer)
        future = delayed.wait(60.0)
        parts[1].decide(Error.NONE)
        assert not future.done()
        parts[2].decide(Error.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
        return [part.error_code for part in (await future).responses[0].partition_responses]

    assert await answers() == [
        Error.KAFKA_STORAGE_ERROR,
        Error.NONE,
        Error.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ]


class Serving:
    def serving(self) -> bool:
        return True


class Waiting:
    """A replica whose high watermark stands still until a test decides."""

    led_since = 1

    def __init__(self) -> None:
        self.purgatory = Purgatory()

    @property
    def core(self) -> Waiting:
        return self

    def acknowledges(self, required_offset: int, led_since: int) -> Error | None:
        return None

    def decide(self, error: Error) -> None:
        self.purgatory.acknowledgements.decide(lambda *_: error)
