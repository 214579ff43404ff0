"""A client of a session names what changed, and is sent what is new (KIP-227)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fencepost.cluster_impl.api import fetch_sessions
from fencepost.cluster_impl.api.fetch_sessions import EVICTABLE_AFTER, FetchSessions
from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.batches import split
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Request
from tests.cluster_impl.requests import FETCH_VERSION, batch, produce_request
from tests.cluster_impl.static_cluster import StaticCluster, static_cluster

BY_NAME = 12
"""A version of Fetch whose topics have names."""
FetchPartition = m.FetchRequest.FetchPartition


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StaticCluster]:
    with static_cluster(tmp_path, 1, DataPlaneConfig(lag_limit=60.0)) as cluster:
        cluster.create("t", [[1], [1]])
        cluster.create("u", [[1]])
        yield cluster


def request(
    cluster: StaticCluster,
    session: int,
    epoch: int,
    partitions: dict[tuple[str, int], int],
    *,
    forgotten: tuple[tuple[str, int], ...] = (),
    max_wait_ms: int = 0,
    by_name: bool = False,
) -> m.FetchRequest:
    """A request of a session: the offset of each partition that it names."""

    def topic(name: str) -> dict[str, Any]:
        return {"topic": name} if by_name else {"topic_id": cluster.state(name).topic_id}

    return m.FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        session_id=session,
        session_epoch=epoch,
        topics=[
            m.FetchRequest.FetchTopic(
                **topic(name),
                partitions=[FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1_000_000)],
            )
            for (name, index), offset in partitions.items()
        ],
        forgotten_topics_data=[
            m.FetchRequest.ForgottenTopic(**topic(name), partitions=[index]) for name, index in forgotten
        ],
    )


def reported(cluster: StaticCluster, response: m.FetchResponse) -> dict[tuple[str, int], list[int]]:
    """The base offsets of the batches in a response, by the partitions that it names."""
    names = {cluster.state(name).topic_id: name for name in ("t", "u")}
    return {
        (topic.topic or names[topic.topic_id], answer.partition_index): [
            one.base_offset for one in split(answer.records or b"")
        ]
        for topic in response.responses
        for answer in topic.partitions
    }


def produce(cluster: StaticCluster, topic: str, partition: int = 0) -> None:
    asked = produce_request(batch("x"), topic, acks=1, partition=partition)
    assert cluster.ask(1, asked, 10).responses[0].partition_responses[0].error_code == Error.NONE


ALL = {("t", 0): 0, ("t", 1): 0, ("u", 0): 0}


@pytest.mark.parametrize("version", [BY_NAME, FETCH_VERSION])
def test_after_the_first_response_only_what_is_new_is_sent_and_only_changes_are_named(
    cluster: StaticCluster, version: int
) -> None:
    by_name = version == BY_NAME
    first = cluster.ask(1, request(cluster, 0, 0, ALL, by_name=by_name), version)
    session = first.session_id
    assert (session > 0, reported(cluster, first)) == (True, {key: [] for key in ALL})

    assert reported(cluster, cluster.ask(1, request(cluster, session, 1, {}, by_name=by_name), version)) == {}
    produce(cluster, "t", 1)
    later = cluster.ask(1, request(cluster, session, 2, {}, by_name=by_name), version)
    assert (later.session_id, reported(cluster, later)) == (session, {("t", 1): [0]})

    produce(cluster, "u")
    changed = request(cluster, session, 3, {("t", 1): 1}, forgotten=(("u", 0),), by_name=by_name)
    assert reported(cluster, cluster.ask(1, changed, version)) == {}, "the offset went on, and u is wanted no more"


def test_a_request_without_news_waits_for_some(cluster: StaticCluster) -> None:
    session = cluster.ask(1, request(cluster, 0, 0, ALL), FETCH_VERSION).session_id
    waiting = cluster.begin(1, request(cluster, session, 1, {}, max_wait_ms=5000), FETCH_VERSION)
    produce(cluster, "u")
    assert reported(cluster, waiting.result(10)) == {("u", 0): [0]}


def test_an_error_is_sent_each_time_and_its_end_as_well(cluster: StaticCluster) -> None:
    session = cluster.ask(1, request(cluster, 0, 0, {("t", 0): 7}), FETCH_VERSION).session_id
    for epoch in (1, 2):
        again = cluster.ask(1, request(cluster, session, epoch, {}), FETCH_VERSION)
        assert again.responses[0].partitions[0].error_code == Error.OFFSET_OUT_OF_RANGE
    mended = cluster.ask(1, request(cluster, session, 3, {("t", 0): 0}), FETCH_VERSION)
    assert reported(cluster, mended) == {("t", 0): []}


def test_a_session_that_is_not_there_or_not_at_that_epoch_is_refused(cluster: StaticCluster) -> None:
    session = cluster.ask(1, request(cluster, 0, 0, ALL), FETCH_VERSION).session_id

    def error(id: int, epoch: int, version: int = FETCH_VERSION) -> int:
        asked = request(cluster, id, epoch, {}, by_name=version == BY_NAME)
        return cluster.ask(1, asked, version).error_code

    assert error(session, 2) == Error.INVALID_FETCH_SESSION_EPOCH
    assert error(session, 1, BY_NAME) == Error.FETCH_SESSION_TOPIC_ID_ERROR
    assert error(session + 1, 1) == Error.FETCH_SESSION_ID_NOT_FOUND
    assert error(session, 1) == Error.NONE
    assert cluster.ask(1, request(cluster, session, -1, ALL), FETCH_VERSION).session_id == 0
    assert error(session, 2) == Error.FETCH_SESSION_ID_NOT_FOUND, "a request without a session ends it"


class Time:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def begun(sessions: FetchSessions, principal: str = "User:a", partitions: int = 1) -> int:
    """Begin a session and return its id, 0 for none. The handler answers nothing about any partition."""
    answer = _asked(sessions, 0, 0, principal, partitions)
    assert isinstance(answer, m.FetchResponse)
    return answer.session_id


def _asked(sessions: FetchSessions, id: int, epoch: int, principal: str = "User:a", partitions: int = 0) -> Any:
    body = m.FetchRequest(
        session_id=id,
        session_epoch=epoch,
        topics=[m.FetchRequest.FetchTopic(partitions=[FetchPartition(partition=n) for n in range(partitions)])],
    )
    connection: Any = None
    asked = Request(
        cast("Any", SimpleNamespace(name="Fetch")), FETCH_VERSION, 1, None, body, connection, 0.0, "CLIENT", principal
    )
    return sessions.among({1: lambda _: m.FetchResponse()})[1](asked)


def test_a_session_makes_room_for_another_only_after_some_silence() -> None:
    time = Time()
    sessions = FetchSessions(2, time)
    first, second = begun(sessions), begun(sessions)
    assert begun(sessions) == 0
    time.now += EVICTABLE_AFTER
    assert _asked(sessions, first, 1).error_code == Error.NONE
    time.now += 1
    third = begun(sessions)
    assert third > 0
    assert _asked(sessions, second, 1).error_code == Error.FETCH_SESSION_ID_NOT_FOUND
    assert _asked(sessions, first, 2).error_code == Error.NONE


def test_the_session_of_one_user_is_none_of_another() -> None:
    sessions = FetchSessions(2)
    id = begun(sessions)
    assert _asked(sessions, id, 1, "User:b").error_code == Error.FETCH_SESSION_ID_NOT_FOUND
    _asked(sessions, id, -1, "User:b")
    _asked(sessions, id, 0, "User:b")
    assert _asked(sessions, id, 1).error_code == Error.NONE


def test_a_client_with_very_many_partitions_gets_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_sessions, "LARGEST", 3)
    sessions = FetchSessions(2)
    assert begun(sessions, partitions=4) == 0
    id = begun(sessions, partitions=2)
    assert _asked(sessions, id, 1, partitions=4).error_code == Error.FETCH_SESSION_ID_NOT_FOUND
    assert len(sessions) == 0
