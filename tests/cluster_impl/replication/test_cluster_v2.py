"""Brokers over real sockets by the rules of replication design V2: followers ask for no epochs, leaders may wait."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.cluster_impl.api.offsets import Offsets
from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.replication.follower import FollowerFetch
from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.replication.progress import Progress, ReplicaRole
from fencepost.cluster_impl.replication.replica import Replica
from fencepost.cluster_impl.replication.rules import REPLICATION_V2
from fencepost.cluster_impl.replication.store import ReplicaStore
from fencepost.cluster_impl.storage.log_dirs import LogDirs
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Request
from tests.cluster_impl.requests import batch, fetch, fetch_request, produce
from tests.cluster_impl.static_cluster import DISKS, StaticCluster, static_cluster
from tests.cluster_impl.static_world import CLUSTER_ID
from tests.waiting import eventually

NAME = TopicPartition("t", 0)
PATIENT = DataPlaneConfig(lag_limit=60.0, fetch_wait=0.1)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StaticCluster]:
    with static_cluster(tmp_path, 3, PATIENT, REPLICATION_V2) as cluster:
        cluster.create("t", [[1, 2, 3]], min_insync_replicas="2")
        yield cluster


def values(cluster: StaticCluster, broker_id: int) -> list[str]:
    return [(value or b"").decode() for value in cluster.log(broker_id, "t")]


def progress(cluster: StaticCluster, broker_id: int, name: TopicPartition = NAME) -> Progress | None:
    async def ask() -> Progress | None:
        return cluster.world.brokers[broker_id].replicas.progress(name)

    return cluster.run(ask())


def known(cluster: StaticCluster, broker_id: int) -> Progress:
    found = progress(cluster, broker_id)
    assert found is not None
    return found


def lead(cluster: StaticCluster, broker_id: int, *, serves_clients: bool) -> None:
    """Assign the clients and leaving replicas of a leader, at the version it has."""
    cluster.tell(broker_id, replace(cluster.state("t"), serves_clients=serves_clients))


def leader_lost_what_was_committed(cluster: StaticCluster) -> None:
    """Broker 2, which is down, knows two records of `u` to be committed; broker 1 leads on an empty disk."""
    cluster.create("u", [[1, 2]])
    for value in ("a", "b"):
        produce(cluster, 1, batch(value), topic="u")
    eventually(lambda: cluster.replica(2, "u").core.high_watermark == 2, "broker 2 knows what is committed")
    cluster.stop(2)
    cluster.stop(1)
    cluster.start(1, folder="another disk")


def test_what_is_acknowledged_is_on_all_and_survives_the_leader(cluster: StaticCluster) -> None:
    assert produce(cluster, 1, batch("a", "b")).error_code == Error.NONE
    cluster.stop(1)
    assert produce(cluster, cluster.state("t").leader, batch("c")).base_offset == 2
    assert values(cluster, 2) == values(cluster, 3) == ["a", "b", "c"]


@pytest.mark.requirement("DLD-27")
def test_followers_ask_for_the_end_of_no_epoch_and_name_none_of_their_log(
    cluster: StaticCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Request] = []
    named: set[int] = set()
    answer, credit = Offsets.end_of_epochs, ReplicaManager.credit

    def answered(self: Offsets, request: Request) -> m.OffsetForLeaderEpochResponse:
        asked.append(request)
        return answer(self, request)

    def credited(self: ReplicaManager, replica: Replica, fetch: FollowerFetch, last_epoch: int) -> None:
        named.add(last_epoch)
        credit(self, replica, fetch, last_epoch)

    monkeypatch.setattr(Offsets, "end_of_epochs", answered)
    monkeypatch.setattr(ReplicaManager, "credit", credited)
    produce(cluster, 1, batch("a"))
    cluster.elect("t", 0, 2)
    produce(cluster, 2, batch("b"))
    eventually(lambda: values(cluster, 1) == values(cluster, 3) == ["a", "b"], "both follow the new leader")
    assert (asked, named) == ([], {-1})


@pytest.mark.requirement("DLD-06")
def test_a_leader_that_is_not_ready_is_followed_and_refuses_clients(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a"))
    lead(cluster, 1, serves_clients=False)
    assert produce(cluster, 1, batch("b")).error_code == Error.NOT_LEADER_OR_FOLLOWER
    state = cluster.state("t")
    assert fetch(cluster, 1, fetch_request(state, 0)).error_code == Error.NOT_LEADER_OR_FOLLOWER
    follower = fetch_request(state, 1, replica=(2, cluster.world.epochs[2]), leader_epoch=state.leader_epoch)
    assert fetch(cluster, 1, follower).error_code == Error.NONE
    lead(cluster, 1, serves_clients=True)
    assert produce(cluster, 1, batch("b")).base_offset == 1


def test_a_consumer_that_waits_is_sent_away_when_its_leader_stops_serving(cluster: StaticCluster) -> None:
    waiting = cluster.begin(1, fetch_request(cluster.state("t"), 0, max_wait_ms=60_000), 16, timeout=20.0)
    eventually(lambda: bool(cluster.replica(1, "t").purgatory.commits), "the fetch waits")
    lead(cluster, 1, serves_clients=False)
    answer = waiting.result(10).responses[0].partitions[0]
    assert answer.error_code == Error.NOT_LEADER_OR_FOLLOWER


def test_clients_ask_for_no_offsets_of_a_leader_that_is_not_ready(cluster: StaticCluster) -> None:
    lead(cluster, 1, serves_clients=False)
    listed = m.ListOffsetsRequest.ListOffsetsPartition(partition_index=0, timestamp=-1)
    offsets = m.ListOffsetsRequest(topics=[m.ListOffsetsRequest.ListOffsetsTopic(name="t", partitions=[listed])])
    assert cluster.ask(1, offsets, 7).topics[0].partitions[0].error_code == Error.NOT_LEADER_OR_FOLLOWER
    epoch = m.OffsetForLeaderEpochRequest.OffsetForLeaderPartition(partition=0, leader_epoch=0)
    topic = m.OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic="t", partitions=[epoch])
    for replica_id, error in ((-1, Error.NOT_LEADER_OR_FOLLOWER), (2, Error.NONE)):
        request = m.OffsetForLeaderEpochRequest(replica_id=replica_id, topics=[topic])
        assert cluster.ask(1, request, 4).topics[0].partitions[0].error_code == error


def test_a_group_has_no_coordinator_in_a_leader_that_is_not_ready(cluster: StaticCluster) -> None:
    cluster.create("__consumer_offsets", [[1, 2, 3]])
    request = m.ListGroupsRequest()
    assert cluster.ask(1, request, 4).error_code == Error.NONE
    cluster.tell(1, replace(cluster.state("__consumer_offsets"), serves_clients=False))
    join = m.JoinGroupRequest(group_id="g", session_timeout_ms=1000)
    assert cluster.ask(1, join, 5).error_code == Error.NOT_COORDINATOR


def test_the_high_watermark_of_a_leader_that_is_not_ready_is_not_written_down(
    cluster: StaticCluster, tmp_path: Path
) -> None:
    produce(cluster, 1, batch("a"))
    eventually(lambda: known(cluster, 2).high_watermark == 1, "broker 2 knows what is committed")
    cluster.kill(3)
    produce(cluster, 1, batch("b"), acks=1)
    eventually(lambda: known(cluster, 2).log_end_offset == 2, "broker 2 has what is not committed")

    async def begin_on_2() -> None:
        state = cluster.state("t")
        ahead = replace(state, leader=2, leader_epoch=state.leader_epoch + 1, leader_term_epoch=state.leader_epoch + 1)
        broker = cluster.world.brokers[2]
        broker.replicas._store.checkpoint()
        broker.apply([replace(ahead, version=state.version + 1, serves_clients=False)])
        assert broker.replicas.progress(NAME).high_watermark == 2  # type: ignore[union-attr]
        broker.replicas._store.checkpoint()

    cluster.run(begin_on_2())
    written = [path.read_text() for path in (tmp_path / "2").glob("*/replication-offset-checkpoint")]
    assert any("t 0 1\n" in text for text in written) and not any("t 0 2\n" in text for text in written)


@pytest.mark.requirement("LD-43")
@pytest.mark.parametrize(("written", "high_watermark"), [(1, 1), (9, 2)])
def test_a_restart_begins_at_the_high_watermark_that_was_written_down_or_at_the_end_if_that_is_lower(
    cluster: StaticCluster, tmp_path: Path, written: int, high_watermark: int
) -> None:
    produce(cluster, 1, batch("a", "b"))
    state = cluster.state("t")
    cluster.stop(3)
    for disk in (tmp_path / "3").iterdir():
        (disk / "replication-offset-checkpoint").write_text(f"0\n1\nt 0 {written}\n")
    dirs = LogDirs.open([tmp_path / "3" / name for name in DISKS], CLUSTER_ID, 3)
    opened = ReplicaStore(3, PATIENT, dirs, lambda directory, replicas: None, REPLICATION_V2).open(state)
    assert opened.core.high_watermark == high_watermark
    opened.assign(replace(state, leader=1), now=0.0)
    assert opened.log.log_end_offset == (0 if written == 1 else 2), "both records are one batch, which is cut as one"
    opened.close()
    dirs.close()


def test_the_progress_of_a_replica_depends_on_its_role(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a"))
    leader, follower = known(cluster, 1), known(cluster, 2)
    assert (leader.role, leader.ends, set(leader.isr)) == (ReplicaRole.LEADER, {2: 1, 3: 1}, {1, 2, 3})
    assert all(0 <= silence < 30 for silence in leader.silent_for.values())
    assert (follower.role, follower.ends, follower.silent_for) == (ReplicaRole.FOLLOWER, {}, {})
    assert progress(cluster, 1, TopicPartition("nowhere", 0)) is None


@pytest.mark.requirement("DLD-13")
def test_a_replica_on_an_emptied_disk_says_that_it_began_empty_until_it_has_caught_up(
    cluster: StaticCluster, tmp_path: Path
) -> None:
    produce(cluster, 1, batch("a"))
    cluster.stop(3)
    (tmp_path / "3").rename(tmp_path / "lost")
    cluster.kill(1)
    for _ in range(2):
        cluster.start(3)
        assert known(cluster, 3).began_empty, "a restart does not make it know more"
        cluster.kill(3)
        cluster.forget(3)
    cluster.forget(1)
    cluster.start(3)
    eventually(lambda: not known(cluster, 3).began_empty, "it has all that is committed")
    assert values(cluster, 3) == ["a"]
    cluster.stop(3)
    cluster.start(3)
    assert not known(cluster, 3).began_empty


@pytest.mark.requirement("DLD-41")
def test_a_follower_whose_log_ends_inside_a_batch_of_its_leader_is_cut_to_where_that_begins(
    cluster: StaticCluster,
) -> None:
    leader_lost_what_was_committed(cluster)
    assert produce(cluster, 1, batch("x", "y", "z"), topic="u").base_offset == 0
    cluster.start(2)
    eventually(lambda: set(cluster.state("u").isr) == {1, 2}, "broker 2 follows")
    assert cluster.log(1, "u") == cluster.log(2, "u") == [b"x", b"y", b"z"]


@pytest.mark.requirement("DLD-40")
def test_a_follower_whose_log_ends_beyond_its_leaders_is_cut_to_follow_and_no_replica_sees_that_they_differ(
    cluster: StaticCluster,
) -> None:
    leader_lost_what_was_committed(cluster)
    assert produce(cluster, 1, batch("x"), topic="u").base_offset == 0
    cluster.start(2)
    eventually(lambda: set(cluster.state("u").isr) == {1, 2}, "broker 2 follows")
    assert produce(cluster, 1, batch("y"), topic="u").base_offset == 1
    assert (cluster.log(1, "u"), cluster.log(2, "u")) == ([b"x", b"y"], [b"a", b"y"])
