from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from uuid import UUID

import pytest

from fencepost.cluster_impl.config.data_plane import TopicDefaults
from fencepost.cluster_impl.designs.shared import topic_requests as requests
from fencepost.cluster_impl.designs.shared.topic_requests import NO_TOPIC_ID, RequestError
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

DEFAULTS = TopicDefaults(partitions=4, replication_factor=2)
KNOWN_ID = UUID(int=7)


def topic(partitions: int = -1, factor: int = -1, **assigned: tuple[int, ...]) -> requests.CreatableTopic:
    """`p0=(1, 2)` assigns replicas to partition 0."""
    assignments = [
        m.CreateTopicsRequest.CreatableReplicaAssignment(partition_index=int(name[1:]), broker_ids=list(replicas))
        for name, replicas in assigned.items()
    ]
    return requests.CreatableTopic(
        name="t", num_partitions=partitions, replication_factor=factor, assignments=assignments
    )


def no_names(topic_id: UUID) -> str | None:
    return None


def error_of(check: Callable[[], object]) -> Error:
    with pytest.raises(RequestError) as caught:
        check()
    return caught.value.error


def test_a_topic_without_numbers_gets_the_defaults() -> None:
    assert requests.requested_counts(topic(), DEFAULTS) == (4, 2)
    assert requests.requested_counts(topic(1, 3), DEFAULTS) == (1, 3)


def test_an_assignment_is_returned_in_the_order_of_the_partitions() -> None:
    assert requests.requested_assignment(topic(p1=(2, 1), p0=(1, 2))) == [(1, 2), (2, 1)]


@pytest.mark.parametrize(
    ("check", "error"),
    [
        (lambda: requests.check_named_once("t", Counter(["t", "t"])), Error.INVALID_REQUEST),
        (lambda: requests.check_name("a/b"), Error.INVALID_TOPIC_EXCEPTION),
        (lambda: requests.check_settings([("no.such.setting", "1")]), Error.INVALID_CONFIG),
        (lambda: requests.check_counts(0, 1, 3, "live"), Error.INVALID_PARTITIONS),
        (lambda: requests.check_counts(1, 0, 3, "live"), Error.INVALID_REPLICATION_FACTOR),
        (lambda: requests.check_counts(1, 4, 3, "live"), Error.INVALID_REPLICATION_FACTOR),
        (lambda: requests.requested_assignment(topic(1, p0=(1,))), Error.INVALID_REQUEST),
        (lambda: requests.requested_assignment(topic(-1, 1, p0=(1,))), Error.INVALID_REQUEST),
        (lambda: requests.requested_assignment(topic(p1=(1,))), Error.INVALID_REPLICA_ASSIGNMENT),
        (lambda: requests.check_assigned_brokers([()], [1, 2], "live"), Error.INVALID_REPLICA_ASSIGNMENT),
        (lambda: requests.check_assigned_brokers([(1, 1)], [1, 2], "live"), Error.INVALID_REPLICA_ASSIGNMENT),
        (lambda: requests.check_assigned_brokers([(3,)], [1, 2], "live"), Error.INVALID_REPLICA_ASSIGNMENT),
        (lambda: requests.check_assigned_brokers([(1,), (1, 2)], [1, 2], "live"), Error.INVALID_REPLICA_ASSIGNMENT),
        (lambda: requests.topic_to_delete("t", KNOWN_ID, no_names), Error.INVALID_REQUEST),
        (lambda: requests.topic_to_delete(None, KNOWN_ID, no_names), Error.UNKNOWN_TOPIC_ID),
    ],
)
def test_each_check_refuses_with_its_error(check: Callable[[], object], error: Error) -> None:
    assert error_of(check) == error


def test_a_topic_to_delete_is_found_by_its_name_or_by_its_id() -> None:
    assert requests.topic_to_delete("t", NO_TOPIC_ID, no_names) == "t"
    assert requests.topic_to_delete(None, KNOWN_ID, lambda id: "t") == "t"


def test_a_request_to_delete_names_topics_by_id_from_version_6_on() -> None:
    old = m.DeleteTopicsRequest(topic_names=["t"])
    assert requests.requested_deletions(old, 5) == [("t", NO_TOPIC_ID)]
    new = m.DeleteTopicsRequest(topics=[m.DeleteTopicsRequest.DeleteTopicState(name=None, topic_id=KNOWN_ID)])
    assert requests.requested_deletions(new, 6) == [(None, KNOWN_ID)]


def test_partitions_are_counted_over_all_topics_and_an_invalid_number_counts_as_none() -> None:
    limit = requests.MAX_PARTITIONS
    requests.check_partition_count(m.CreateTopicsRequest(topics=[topic(limit), topic(-7)]), DEFAULTS)
    for further in topic(1), topic(), topic(p0=(1,)):
        request = m.CreateTopicsRequest(topics=[topic(limit), further])
        with pytest.raises(RequestError) as caught:
            requests.check_partition_count(request, DEFAULTS)
        assert caught.value.error == Error.POLICY_VIOLATION
