"""Reports of brokers to the controller: by znodes, by responses, and by requests."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.config.ibp import Ibp
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.broker_state import BrokerState
from fencepost.cluster_impl.designs.zk_controller.controller.events import BrokerResponse, ReceivedRequest, Reconnection
from fencepost.cluster_impl.designs.zk_controller.znodes import LeaderAndIsr, PartitionReplicas
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.zk_controller.controller.invariants import check_settled
from tests.cluster_impl.designs.zk_controller.controller.memory_cluster import (
    TIMEOUT,
    WITH_HEARTBEATS,
    MemoryCluster,
    partition,
)

T0 = partition("t-0")


def without_heartbeats(level: Ibp = Ibp.BASE) -> MemoryCluster:
    cluster = MemoryCluster(brokers=(1, 2, 3), ibp=level)
    cluster.elect()
    cluster.add_topic("t", (1, 2, 3), (2, 3, 1))
    cluster.settle()
    cluster.sent.clear()
    return cluster


def with_heartbeats() -> MemoryCluster:
    cluster = MemoryCluster(brokers=(1, 2, 3), version=WITH_HEARTBEATS, ibp=Ibp.REPLICA_EVENTS)
    cluster.elect()
    for broker_id in (1, 2, 3):
        cluster.heartbeat(broker_id, BrokerState.ACTIVE)
    cluster.add_topic("t", (1, 2, 3), (2, 3, 1))
    cluster.settle()
    cluster.sent.clear()
    return cluster


def names_of(cluster: MemoryCluster, kind: type) -> list[int]:
    return [id for id, each in cluster.sent if isinstance(each, kind)]


# ISR changes that leaders wrote


@pytest.mark.requirement("DINT-02", "INT-02")
def test_an_isr_that_a_leader_wrote_is_passed_on_and_its_notification_deleted() -> None:
    cluster = without_heartbeats()
    cluster.write_isr("t-0", (1, 3))
    cluster.settle()
    assert cluster.tree.names(znodes.ISR_CHANGES) == []
    assert names_of(cluster, m.UpdateMetadataRequest) == [1, 2, 3]
    assert names_of(cluster, m.LeaderAndIsrRequest) == []
    check_settled(cluster)


@pytest.mark.requirement("DINT-15")
def test_notifications_that_come_while_others_are_read_are_not_missed() -> None:
    cluster = without_heartbeats()
    cluster.write_isr("t-0", (1, 3))
    cluster.watches()
    cluster.write_isr("t-1", (2,))
    cluster.notify_isr([partition("x-0")])
    cluster.tree.create(f"{znodes.ISR_CHANGE_PREFIX}9999999999", b"?")
    cluster.settle()
    assert cluster.tree.names(znodes.ISR_CHANGES) == []
    check_settled(cluster)


# Log dirs, below the raised level


@pytest.mark.requirement("RSE-02", "RSE-03", "RSE-04", "RSE-05", "DRSE-11")
def test_a_log_dir_event_probes_its_broker_and_moves_what_it_led() -> None:
    cluster = without_heartbeats()
    cluster.brokers[1].failed.add(T0)
    cluster.notify_log_dir(1)
    cluster.watches()
    assert names_of(cluster, m.LeaderAndIsrRequest) == [1]
    assert cluster.tree.names(znodes.LOG_DIR_EVENTS) == []
    assert cluster.state("t-0").leader == 1
    cluster.settle()
    assert cluster.state("t-0") == LeaderAndIsr(2, 1, (2, 3), 1, version=1)
    assert cluster.state("t-1").isr == (2, 3, 1)
    assert cluster.brokers[3].metadata[T0].offline_replicas == [1]
    check_settled(cluster)


def test_a_log_dir_event_of_a_follower_takes_it_out_of_the_isr() -> None:
    cluster = without_heartbeats(Ibp.HEARTBEATS)
    cluster.brokers[3].failed.add(T0)
    cluster.notify_log_dir(3)
    cluster.settle()
    assert cluster.state("t-0") == LeaderAndIsr(1, 1, (1, 2), 1, version=1)
    check_settled(cluster)


@pytest.mark.requirement("DRSE-09")
def test_a_replica_of_a_failed_dir_is_used_again_only_by_a_process_registered_anew() -> None:
    cluster = without_heartbeats()
    cluster.brokers[1].failed.add(T0)
    cluster.notify_log_dir(1)
    cluster.settle()
    cluster.brokers[1].failed.clear()
    cluster.notify_log_dir(1)
    cluster.settle()
    assert cluster.brokers[3].metadata[T0].offline_replicas == [1]
    cluster.bounce(1)
    cluster.settle()
    assert cluster.brokers[3].metadata[T0].offline_replicas == []
    check_settled(cluster)


@pytest.mark.requirement("RSE-37", "RSE-36")
@pytest.mark.parametrize(("level", "watched"), [(Ibp.BASE, True), (Ibp.HEARTBEATS, True), (Ibp.REPLICA_EVENTS, False)])
def test_log_dir_events_are_watched_below_the_raised_level_only(level: Ibp, watched: bool) -> None:
    cluster = without_heartbeats(level)
    assert cluster.tree.watched(znodes.LOG_DIR_EVENTS) is watched
    cluster.notify_log_dir(1)
    cluster.settle()
    assert bool(cluster.tree.names(znodes.LOG_DIR_EVENTS)) is not watched


@pytest.mark.requirement("RSE-34")
def test_a_new_controller_learns_of_a_failed_dir_by_the_answer_to_its_first_order() -> None:
    cluster = without_heartbeats(Ibp.REPLICA_EVENTS)
    cluster.brokers[1].failed.add(T0)
    cluster.elect()
    assert cluster.state("t-0").leader == 2
    check_settled(cluster)


def test_an_answer_of_an_earlier_process_takes_nothing_offline() -> None:
    cluster = without_heartbeats()
    topic_id = znodes.read_topic("t", cluster.tree.data(znodes.topic("t"))).topic_id
    assert topic_id is not None
    old = cluster.brokers[2].epoch
    cluster.bounce(2)
    cluster.settle()
    error = m.LeaderAndIsrResponse.LeaderAndIsrPartitionError(partition_index=0, error_code=Error.KAFKA_STORAGE_ERROR)
    topics = [m.LeaderAndIsrResponse.LeaderAndIsrTopicError(topic_id=topic_id, partition_errors=[error])]
    cluster.catch_up()
    cluster.settle()
    before = cluster.state("t-0")
    assert 2 in before.isr
    request = m.LeaderAndIsrRequest(broker_epoch=old)
    cluster.handle(BrokerResponse(2, request, m.LeaderAndIsrResponse(topics=topics), cluster.now))
    assert cluster.state("t-0") == before


# ReplicaStateEvent


@pytest.mark.requirement("RSE-21", "RSE-22", "RSE-23")
def test_a_replica_state_event_is_answered_first_and_carried_out_by_a_later_event() -> None:
    cluster = with_heartbeats()
    cluster.brokers[1].failed.add(T0)
    [answer] = cluster.report_offline(1, [T0])
    assert isinstance(answer, m.ReplicaStateEventResponse)
    assert answer.error_code == Error.NONE
    assert cluster.state("t-0").leader == 1
    cluster.settle()
    assert cluster.state("t-0") == LeaderAndIsr(2, 1, (2, 3), 1, version=1)
    assert names_of(cluster, m.LeaderAndIsrRequest) == [2, 3], "no broker is probed"
    check_settled(cluster)


@pytest.mark.requirement("RSE-24")
def test_an_event_of_a_process_that_was_restarted_since_changes_nothing() -> None:
    cluster = with_heartbeats()
    cluster.report_offline(1, [T0])
    cluster.bounce(1, version=WITH_HEARTBEATS)
    cluster.watches()
    cluster.heartbeat(1, BrokerState.ACTIVE)
    before = cluster.state("t-0")
    cluster.settle()
    assert cluster.state("t-0") == before
    assert cluster.brokers[2].metadata[T0].offline_replicas == []


@pytest.mark.requirement("DRSE-09")
def test_what_a_silent_broker_reported_counts_until_it_is_registered_anew() -> None:
    cluster = with_heartbeats()
    cluster.brokers[1].failed.add(T0)
    cluster.report_offline(1, [T0])
    cluster.now += TIMEOUT - 1
    for broker_id in (2, 3):
        cluster.heartbeat(broker_id, BrokerState.ACTIVE)
    cluster.pass_time(1)
    cluster.heartbeat(1, BrokerState.ACTIVE)
    cluster.settle()
    assert cluster.brokers[2].metadata[T0].offline_replicas == [1]
    check_settled(cluster)
    cluster.bounce(1, version=WITH_HEARTBEATS)
    cluster.watches()
    cluster.heartbeat(1, BrokerState.ACTIVE)
    cluster.settle()
    assert cluster.brokers[2].metadata[T0].offline_replicas == []
    check_settled(cluster)


@pytest.mark.requirement("RSE-31", "RSE-34")
def test_an_event_is_lost_with_the_controller_that_answered_it_and_known_to_the_next_one() -> None:
    cluster = with_heartbeats()
    cluster.brokers[1].failed.add(T0)
    cluster.report_offline(1, [T0])
    cluster.elect()
    assert cluster.state("t-0").leader == 2
    check_settled(cluster)


# IsrChange


def change_isr(cluster: MemoryCluster, isr: tuple[int, ...], **wrong: int) -> m.IsrChangeResponse:
    leader = cluster.brokers[1]
    leader_epoch = wrong.get("leader_epoch", cluster.state("t-0").leader_epoch)
    data = m.IsrChangeRequest.PartitionData(leader_epoch=leader_epoch, partition_index=0, isr_nodes=list(isr))
    topics = [m.IsrChangeRequest.TopicData(topic_name="t", partitions=[data])]
    request = m.IsrChangeRequest(broker_id=1, incarnation_id=wrong.get("incarnation", leader.epoch), topics=topics)
    [answer] = cluster.ask(request)
    assert isinstance(answer, m.IsrChangeResponse)
    return answer


@pytest.mark.requirement("K343-33", "K343-52", "DINT-08")
def test_an_isr_change_is_written_at_the_same_leader_epoch_and_sent_to_all() -> None:
    cluster = with_heartbeats()
    assert [each.error_code for each in change_isr(cluster, (1, 2)).results] == [Error.NONE]
    assert cluster.state("t-0") == LeaderAndIsr(1, 0, (1, 2), 1, version=1)
    cluster.settle()
    assert names_of(cluster, m.UpdateMetadataRequest) == [1, 2, 3]
    assert names_of(cluster, m.LeaderAndIsrRequest) == []
    check_settled(cluster)


@pytest.mark.requirement("D343-10", "K343-47")
def test_an_isr_change_that_is_refused_changes_nothing() -> None:
    cluster = with_heartbeats()
    before = cluster.tree.zxid
    assert [each.error_code for each in change_isr(cluster, ()).results] == [Error.INVALID_REQUEST]
    assert [each.error_code for each in change_isr(cluster, (1,), leader_epoch=7).results] == [
        Error.NOT_LEADER_OR_FOLLOWER
    ]
    assert change_isr(cluster, (1,), incarnation=3).top_level_error_code == Error.INVALID_INCARNATION_ID
    assert cluster.tree.zxid == before


@pytest.mark.requirement("D343-19", "D343-08")
def test_an_isr_change_meets_what_was_written_without_the_controller_and_is_decided_again() -> None:
    cluster = with_heartbeats()
    cluster.write_isr("t-0", (1, 3), notify=False)
    assert [each.error_code for each in change_isr(cluster, (1,)).results] == [Error.NONE]
    assert cluster.state("t-0") == LeaderAndIsr(1, 0, (1,), 1, version=2)
    cluster.settle()
    check_settled(cluster)


@pytest.mark.requirement("DINT-11")
def test_an_isr_change_proposed_for_the_process_of_before_is_refused() -> None:
    cluster = with_heartbeats()
    proposed_at = cluster.state("t-0").leader_epoch
    change_isr(cluster, (1, 2))
    cluster.bounce(3, version=WITH_HEARTBEATS)
    cluster.settle()
    cluster.heartbeat(3, BrokerState.ACTIVE)
    cluster.settle()
    [result] = change_isr(cluster, (1, 2, 3), leader_epoch=proposed_at).results
    assert result.error_code == Error.NOT_LEADER_OR_FOLLOWER
    assert cluster.state("t-0").isr == (1, 2)


def test_an_isr_change_completes_a_reassignment() -> None:
    cluster = with_heartbeats()
    cluster.start(4, version=WITH_HEARTBEATS)
    cluster.watches()
    cluster.heartbeat(4, BrokerState.ACTIVE)
    cluster.reassign({"t-0": (1, 4)})
    cluster.settle()
    change_isr(cluster, (1, 2, 3, 4))
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((1, 4))
    check_settled(cluster)


def test_an_isr_change_while_the_term_ends_is_refused() -> None:
    cluster = with_heartbeats()
    cluster.tree.writes_left = 0
    assert change_isr(cluster, (1, 2)).top_level_error_code == Error.NOT_CONTROLLER


# Heartbeats


@pytest.mark.requirement("K343-11", "K343-09", "D343-05")
def test_in_a_new_cluster_brokers_are_live_once_they_heartbeat() -> None:
    cluster = MemoryCluster(brokers=(1, 2), version=WITH_HEARTBEATS)
    cluster.elect()
    assert cluster.sent == []
    cluster.add_topic("t", (1, 2))
    cluster.settle()
    assert not cluster.tree.exists(znodes.state(T0))
    cluster.heartbeat(2, BrokerState.ACTIVE)
    cluster.settle()
    assert cluster.state("t-0") == LeaderAndIsr(2, 0, (2,), 1)
    assert cluster.brokers[2].live_brokers.keys() == {2}
    check_settled(cluster)


@pytest.mark.requirement("K343-20", "K343-10", "D343-06")
def test_a_broker_that_is_silent_fails_and_comes_up_when_it_is_heard_again() -> None:
    cluster = with_heartbeats()
    cluster.now += TIMEOUT - 1
    for broker_id in (2, 3):
        cluster.heartbeat(broker_id, BrokerState.ACTIVE)
    cluster.pass_time(1)
    assert cluster.state("t-0") == LeaderAndIsr(2, 1, (2, 3), 1, version=1)
    assert cluster.brokers[2].live_brokers.keys() == {2, 3}
    check_settled(cluster)
    cluster.heartbeat(1, BrokerState.ACTIVE)
    cluster.settle()
    assert cluster.brokers[2].live_brokers.keys() == {1, 2, 3}
    check_settled(cluster)


@pytest.mark.requirement("D343-05")
def test_after_a_failover_every_broker_has_one_timeout_of_grace() -> None:
    cluster = with_heartbeats()
    cluster.elect()
    assert cluster.state("t-0").leader == 1
    cluster.pass_time(TIMEOUT - 1)
    assert cluster.state("t-0").leader == 1
    cluster.pass_time(1)
    assert cluster.state("t-0").leader == -1


@pytest.mark.requirement("K343-62", "K343-61")
def test_a_legacy_broker_is_live_without_heartbeats() -> None:
    cluster = without_heartbeats(Ibp.HEARTBEATS)
    cluster.pass_time(10 * TIMEOUT)
    assert cluster.state("t-0").leader == 1


@pytest.mark.requirement("K343-29")
def test_a_heartbeat_of_a_later_process_makes_the_controller_read_its_znode() -> None:
    cluster = with_heartbeats()
    cluster.bounce(1, version=WITH_HEARTBEATS)
    cluster.heartbeat(1, BrokerState.ACTIVE)
    assert cluster.state("t-0").leader == 2
    assert [each.broker_epoch for id, each in cluster.sent if id == 1] == [cluster.brokers[1].epoch] * 2  # type: ignore[attr-defined]
    cluster.settle()
    assert cluster.brokers[3].live_brokers[1] == cluster.brokers[1].epoch
    check_settled(cluster)


def test_a_process_that_a_later_one_has_replaced_is_not_live_while_its_znode_is_still_seen() -> None:
    """The server that the controller reads from may lag behind."""
    cluster = with_heartbeats()
    later = cluster.brokers[1].epoch + 1000
    request = m.MetadataHeartbeatRequest(broker_id=1, incarnation_id=later, target_state=BrokerState.ACTIVE)
    cluster.ask(request)
    cluster.settle()
    assert cluster.state("t-0").leader == 2
    assert cluster.brokers[3].live_brokers.keys() == {2, 3}


def test_a_heartbeat_that_changes_nothing_is_answered_out_of_turn() -> None:
    cluster = with_heartbeats()
    assert cluster.controller is not None
    answers: list[object] = []

    def asked(broker_id: int, state: BrokerState) -> ReceivedRequest:
        request = m.MetadataHeartbeatRequest(
            broker_id=broker_id, incarnation_id=cluster.brokers[1].epoch, target_state=state
        )
        return ReceivedRequest(request, 0, answers.append, cluster.now + 5)

    assert cluster.controller.answer_at_once(asked(1, BrokerState.ACTIVE))
    assert len(answers) == 1
    assert not cluster.controller.answer_at_once(asked(1, BrokerState.STOPPING))
    assert not cluster.controller.answer_at_once(asked(9, BrokerState.ACTIVE))
    assert not cluster.controller.answer_at_once(ReceivedRequest(m.IsrChangeRequest(), 0, answers.append, cluster.now))
    assert len(answers) == 1
    cluster.pass_time(TIMEOUT + 1)
    assert cluster.brokers[1].live_brokers.keys() == {1}, "it counts as a heartbeat"


def test_after_a_suspended_session_every_broker_has_one_timeout_again() -> None:
    cluster = with_heartbeats()
    cluster.now += 5 * TIMEOUT
    cluster.handle(Reconnection(cluster.now))
    cluster.settle()
    assert cluster.state("t-0").leader == 1
    cluster.pass_time(TIMEOUT)
    assert cluster.state("t-0").leader == -1
