"""Which znodes a new controller watches, by its protocol level."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.config.data_plane import TopicDefaults
from fencepost.cluster_impl.config.ibp import Ibp
from fencepost.cluster_impl.config.zk_controller import ZkControllerConfig
from fencepost.cluster_impl.coordination.steps import (
    Absent,
    Children,
    Done,
    Exists,
    Get,
    Names,
    Operation,
    Outcome,
    Present,
    Stat,
)
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller.controller import Controller, ControllerConfig
from fencepost.cluster_impl.designs.zk_controller.controller.events import Election


def watched(level: Ibp) -> set[str]:
    """The paths that a controller of a cluster without brokers and topics has watches on after its election."""
    design = ZkControllerConfig(ibp=level, auto_leader_rebalance=False)
    config = ControllerConfig(1, "INTERNAL", design, TopicDefaults())
    steps = Controller(config).handle(Election(epoch=2, now=0.0))
    asked: list[Operation] = []
    try:
        batch = next(steps)
        while True:
            asked += batch
            batch = steps.send([outcome(operation) for operation in batch])
    except StopIteration:
        return {each.path for each in asked if isinstance(each, Get | Children | Exists) and each.watch}


def outcome(operation: Operation) -> Outcome:
    """In a tree that has nothing but the roots."""
    match operation:
        case Exists(path):
            return Present(Stat(1, 1, 1, 0, 0)) if path in znodes.ROOTS else Absent()
        case Children():
            return Names([])
        case Get():
            return Absent()
        case _:
            return Done()


@pytest.mark.requirement("INT-34", "INT-36", "INT-44", "DINT-02")
@pytest.mark.parametrize("level", Ibp)
def test_a_controller_watches_brokers_topics_and_what_is_asked_of_it(level: Ibp) -> None:
    assert watched(level) >= {znodes.BROKER_IDS, znodes.TOPICS, znodes.DELETE_TOPICS, znodes.ISR_CHANGES}


@pytest.mark.requirement("RSE-02", "RSE-35", "RSE-37")
@pytest.mark.parametrize("level", Ibp)
def test_notifications_of_log_dirs_are_watched_below_the_level_of_replica_events_only(level: Ibp) -> None:
    assert (znodes.LOG_DIR_EVENTS in watched(level)) is (level is not Ibp.REPLICA_EVENTS)
