"""The log lines that scenarios wait for are those that brokers of the reference cluster write."""

from __future__ import annotations

import logging
import re

import pytest

from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChange, StateChangeRequest
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.suites.replication_v2 import log_lines as log

PARTITION = TopicPartition("t", 0)
REQUEST = StateChangeRequest(StateChange.CLOSE_REPLICA, PARTITION, epoch=3, sender=5)


@pytest.fixture
def monitor(caplog: pytest.LogCaptureFixture) -> StateChangeMonitor:
    caplog.set_level(logging.INFO, logger="state.change")
    return StateChangeMonitor(4)


def test_each_stage_of_a_request_is_logged_as_scenarios_expect(
    monitor: StateChangeMonitor, caplog: pytest.LogCaptureFixture
) -> None:
    monitor.requested(REQUEST, 6, backlog=1)
    monitor.received(REQUEST)
    monitor.completed(REQUEST)
    monitor.ignored(REQUEST, latest_epoch=4)
    expected = (
        log.requested("close-replica", "t-0", "node-6"),
        log.received("close-replica", "t-0"),
        log.completed("close-replica", "t-0"),
        log.ignored("close-replica", "t-0"),
    )
    for pattern, line in zip(expected, caplog.messages, strict=True):
        assert re.search(pattern, line)


def test_steps_and_changes_of_leader_are_logged_as_scenarios_expect(
    monitor: StateChangeMonitor, caplog: pytest.LogCaptureFixture
) -> None:
    monitor.reassignment(PARTITION, "noticed", epoch=3)
    monitor.leader_changed(PARTITION)
    monitor.is_full(6, backlog=5)
    expected = (log.reached("noticed", "t-0"), log.saw_a_change("t-0"), "FollowerStateChangeQueueFull")
    for pattern, line in zip(expected, caplog.messages, strict=True):
        assert re.search(pattern, line)
