"""Groups over sockets: the coordinator, committed offsets, and the state after a failover."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.static_cluster import StaticCluster, static_cluster
from tests.waiting import eventually

GROUP = "g"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StaticCluster]:
    with static_cluster(tmp_path, 3, DataPlaneConfig(lag_limit=60.0, fetch_wait=0.1)) as cluster:
        cluster.create("t", [[1]])
        yield cluster


def find(cluster: StaticCluster, broker_id: int = 1) -> m.FindCoordinatorResponse:
    return cluster.ask(broker_id, m.FindCoordinatorRequest(key=GROUP), 3)


def coordinator(cluster: StaticCluster) -> int:
    """Asks until there is one, as clients do."""
    first = next(iter(cluster.world.brokers))
    eventually(lambda: find(cluster, first).error_code == Error.NONE, "there is a coordinator")
    return find(cluster, first).node_id


def commit(cluster: StaticCluster, broker_id: int, offset: int) -> int:
    partition = m.OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    topic = m.OffsetCommitRequest.OffsetCommitRequestTopic(name="t", partitions=[partition])
    request = m.OffsetCommitRequest(group_id=GROUP, generation_id_or_member_epoch=-1, topics=[topic])
    return cluster.ask(broker_id, request, 8, timeout=10).topics[0].partitions[0].error_code


def committed(cluster: StaticCluster, broker_id: int) -> tuple[int, int]:
    wanted = m.OffsetFetchRequest.OffsetFetchRequestTopic(name="t", partition_indexes=[0])
    answer = cluster.ask(broker_id, m.OffsetFetchRequest(group_id=GROUP, topics=[wanted]), 5)
    return answer.error_code, answer.topics[0].partitions[0].committed_offset


def join(cluster: StaticCluster, broker_id: int) -> m.JoinGroupResponse:
    protocol = m.JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"m")
    request = m.JoinGroupRequest(
        group_id=GROUP, session_timeout_ms=60_000, protocol_type="consumer", protocols=[protocol]
    )
    return cluster.ask(broker_id, request, 3)


def groups(cluster: StaticCluster, broker_id: int) -> list[tuple[str, str]]:
    answer = cluster.ask(broker_id, m.ListGroupsRequest(), 4)
    return [(group.group_id, group.group_state) for group in answer.groups]


def test_the_first_question_for_a_coordinator_creates_the_offsets_topic(cluster: StaticCluster) -> None:
    assert find(cluster).error_code == Error.COORDINATOR_NOT_AVAILABLE
    assert coordinator(cluster) in (1, 2, 3)
    assert len(cluster.world.view.topics["__consumer_offsets"].partitions) == 2


def test_committed_offsets_outlive_their_coordinator(cluster: StaticCluster) -> None:
    first = coordinator(cluster)
    assert commit(cluster, first, 5) == Error.NONE
    assert commit(cluster, first, 7) == Error.NONE
    cluster.stop(first)
    second = coordinator(cluster)
    assert second != first
    assert committed(cluster, second) == (Error.NONE, 7)


def test_others_say_that_they_do_not_coordinate(cluster: StaticCluster) -> None:
    here = coordinator(cluster)
    elsewhere = next(broker for broker in (1, 2, 3) if broker != here)
    assert commit(cluster, elsewhere, 5) == Error.NOT_COORDINATOR
    assert committed(cluster, elsewhere) == (Error.NOT_COORDINATOR, -1)
    assert join(cluster, elsewhere).error_code == Error.NOT_COORDINATOR


def test_what_could_not_be_replicated_is_not_committed(cluster: StaticCluster) -> None:
    cluster.create("__consumer_offsets", [[1, 2]], min_insync_replicas="2")
    assert commit(cluster, 1, 5) == Error.NONE
    cluster.stop(2)
    assert commit(cluster, 1, 6) == Error.COORDINATOR_NOT_AVAILABLE
    assert committed(cluster, 1) == (Error.NONE, 5)


def test_a_member_that_waits_is_sent_away_when_its_coordinator_is_deposed(cluster: StaticCluster) -> None:
    cluster.create("__consumer_offsets", [[1, 2]])
    first = join(cluster, 1)
    waiting = cluster.begin(1, m.SyncGroupRequest(group_id=GROUP, member_id="stranger", generation_id=1), 3)
    assert waiting.result(2).error_code == Error.UNKNOWN_MEMBER_ID
    protocol = m.JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"m")
    second = m.JoinGroupRequest(
        group_id=GROUP, session_timeout_ms=60_000, protocol_type="consumer", protocols=[protocol]
    )
    held_up = cluster.begin(1, second, 3)
    eventually(lambda: groups(cluster, 1) == [(GROUP, "PreparingRebalance")], "the second waits for the first")
    cluster.elect("__consumer_offsets", 0, 2)
    assert held_up.result(2).error_code == Error.NOT_COORDINATOR
    beat = m.HeartbeatRequest(group_id=GROUP, member_id=first.member_id, generation_id=1)
    assert cluster.ask(2, beat, 3).error_code == Error.UNKNOWN_MEMBER_ID


def test_members_stay_while_their_coordinator_leads_on_at_a_newer_epoch(cluster: StaticCluster) -> None:
    cluster.create("__consumer_offsets", [[1, 2]])
    first = join(cluster, 1)
    state = cluster.state("__consumer_offsets")
    epoch = state.leader_epoch + 1
    cluster.tell(1, replace(state, leader_epoch=epoch, leader_term_epoch=epoch, version=epoch))
    beat = m.HeartbeatRequest(group_id=GROUP, member_id=first.member_id, generation_id=1)
    assert cluster.ask(1, beat, 3).error_code == Error.NONE


def test_asking_for_a_group_does_not_make_one(cluster: StaticCluster) -> None:
    cluster.create("__consumer_offsets", [[1]])
    cluster.ask(1, m.HeartbeatRequest(group_id=GROUP, member_id="x", generation_id=1), 3)
    cluster.ask(1, m.SyncGroupRequest(group_id=GROUP, member_id="x", generation_id=1), 3)
    assert groups(cluster, 1) == []


def test_a_group_is_listed_while_it_has_members_or_offsets(cluster: StaticCluster) -> None:
    cluster.create("__consumer_offsets", [[1]])
    joined = join(cluster, 1)
    assert groups(cluster, 1) == [(GROUP, "CompletingRebalance")]
    leave = m.LeaveGroupRequest(group_id=GROUP, member_id=joined.member_id)
    assert cluster.ask(1, leave, 2).error_code == Error.NONE
    assert groups(cluster, 1) == []
    commit(cluster, 1, 3)
    assert groups(cluster, 1) == [(GROUP, "Empty")]


@pytest.mark.parametrize(
    ("kind", "error"), [(1, Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED), (2, Error.INVALID_REQUEST)]
)
def test_what_has_no_coordinators_here_gets_a_final_error(cluster: StaticCluster, kind: int, error: Error) -> None:
    found = cluster.ask(1, m.FindCoordinatorRequest(key="t", key_type=kind), 3)
    assert (found.error_code, found.node_id) == (error, -1)


def delete_groups(cluster: StaticCluster, broker_id: int, *names: str) -> list[int]:
    answer = cluster.ask(broker_id, m.DeleteGroupsRequest(groups_names=list(names)), 2)
    return [result.error_code for result in answer.results]


def delete_offset(cluster: StaticCluster, broker_id: int, topic: str = "t") -> tuple[int, list[int]]:
    partition = m.OffsetDeleteRequest.OffsetDeleteRequestPartition(partition_index=0)
    wanted = m.OffsetDeleteRequest.OffsetDeleteRequestTopic(name=topic, partitions=[partition])
    answer = cluster.ask(broker_id, m.OffsetDeleteRequest(group_id=GROUP, topics=[wanted]), 0)
    return answer.error_code, [each.error_code for at in answer.topics for each in at.partitions]


@pytest.mark.requirement("DSTO-16")
def test_a_deleted_group_is_gone_also_for_the_next_coordinator(cluster: StaticCluster) -> None:
    here = coordinator(cluster)
    assert commit(cluster, here, 5) == Error.NONE
    assert delete_groups(cluster, here, GROUP) == [Error.NONE]
    assert groups(cluster, here) == []
    assert committed(cluster, here) == (Error.NONE, -1)
    assert delete_groups(cluster, here, GROUP) == [Error.GROUP_ID_NOT_FOUND]
    cluster.stop(here)
    there = coordinator(cluster)
    assert committed(cluster, there) == (Error.NONE, -1)
    assert groups(cluster, there) == []


@pytest.mark.requirement("DSTO-16")
def test_a_group_with_members_is_not_deleted_and_keeps_its_offsets(cluster: StaticCluster) -> None:
    here = coordinator(cluster)
    assert commit(cluster, here, 5) == Error.NONE
    joined = join(cluster, here)
    assert delete_groups(cluster, here, GROUP) == [Error.NON_EMPTY_GROUP]
    elsewhere = next(broker for broker in (1, 2, 3) if broker != here)
    assert delete_groups(cluster, elsewhere, GROUP) == [Error.NOT_COORDINATOR]
    assert committed(cluster, here) == (Error.NONE, 5)
    assert delete_offset(cluster, here) == (Error.NONE, [Error.GROUP_SUBSCRIBED_TO_TOPIC])
    leave = m.LeaveGroupRequest(group_id=GROUP, member_id=joined.member_id)
    assert cluster.ask(here, leave, 2).error_code == Error.NONE
    assert delete_groups(cluster, here, GROUP) == [Error.NONE]


@pytest.mark.requirement("DSTO-16")
def test_a_deleted_offset_is_gone_and_others_stay(cluster: StaticCluster) -> None:
    here = coordinator(cluster)
    assert delete_offset(cluster, here) == (Error.GROUP_ID_NOT_FOUND, [])
    assert commit(cluster, here, 5) == Error.NONE
    assert delete_offset(cluster, here, "other") == (Error.NONE, [Error.NONE])
    assert committed(cluster, here) == (Error.NONE, 5)
    assert delete_offset(cluster, here) == (Error.NONE, [Error.NONE])
    assert committed(cluster, here) == (Error.NONE, -1)


def test_an_offset_of_no_partition_is_refused_alone(cluster: StaticCluster) -> None:
    here = coordinator(cluster)
    partitions = [
        m.OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=index, committed_offset=3)
        for index in (0, 9)
    ]
    topics = [m.OffsetCommitRequest.OffsetCommitRequestTopic(name=name, partitions=partitions) for name in ("t", "u")]
    request = m.OffsetCommitRequest(group_id=GROUP, generation_id_or_member_epoch=-1, topics=topics)
    answer = cluster.ask(here, request, 8, timeout=10)
    unknown = Error.UNKNOWN_TOPIC_OR_PARTITION
    assert [each.error_code for topic in answer.topics for each in topic.partitions] == [
        Error.NONE, unknown, unknown, unknown
    ]  # fmt: skip
    assert committed(cluster, here) == (Error.NONE, 3)


def test_a_member_without_protocols_gets_no_id(cluster: StaticCluster) -> None:
    here = coordinator(cluster)
    request = m.JoinGroupRequest(group_id=GROUP, session_timeout_ms=60_000, protocol_type="consumer", protocols=[])
    answer = cluster.ask(here, request, 5)
    assert (answer.error_code, answer.member_id) == (Error.INCONSISTENT_GROUP_PROTOCOL, "")
