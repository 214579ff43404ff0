"""ElectLeaders: state in, records out."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.quorum.controller.elect_leaders import elect_leaders
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.designs.quorum.image import NO_LEADER
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.controller_model import Model

PREFERRED, UNCLEAN = 0, 1


@pytest.fixture
def model() -> Model:
    """Partition t-0 of the brokers 4 and 5, led by 5, with 4 back in the ISR."""
    model = Model()
    model.join(4, 5)
    model.topic("t", 4, 5)
    model.leave(4)
    model.join(4)
    return model


def elect(model: Model, *topics: tuple[str, list[int]], everything: bool = False, kind: int = PREFERRED) -> list[int]:
    partitions = [m.ElectLeadersRequest.TopicPartitions(topic=name, partitions=each) for name, each in topics]
    request = m.ElectLeadersRequest(election_type=kind, topic_partitions=None if everything else partitions)
    reply = model.run(elect_leaders(model.state, request, model.now))
    if reply.error_code:
        return [reply.error_code]
    return [each.error_code for topic in reply.replica_election_results for each in topic.partition_result]


@pytest.mark.requirement("D631-71")
@pytest.mark.parametrize("everything", [False, True])
def test_a_preferred_replica_that_is_in_sync_leads_again(model: Model, everything: bool) -> None:
    model.joins_isr("t", 4)
    before = model.partition("t")
    assert elect(model, ("t", [0]), everything=everything) == [Error.NONE]
    after = model.partition("t")
    assert (after.leader, set(after.isr)) == (4, {4, 5})
    assert after.leader_epoch == after.leader_term_epoch == before.leader_epoch + 1


def test_a_preferred_replica_outside_the_isr_does_not_lead(model: Model) -> None:
    assert elect(model, ("t", [0])) == [Error.PREFERRED_LEADER_NOT_AVAILABLE]
    assert model.partition("t").leader == 5


def test_a_preferred_replica_that_is_shutting_down_does_not_lead(model: Model) -> None:
    model.joins_isr("t", 4)
    model.heartbeat(4, FenceState.FENCED, model.epoch(4))
    assert elect(model, ("t", [0])) == [Error.PREFERRED_LEADER_NOT_AVAILABLE]


def test_an_election_that_is_not_needed_is_named_only_if_it_was_asked_for(model: Model) -> None:
    model.topic("u", 5)
    assert elect(model, ("u", [0]), ("nothing", [0])) == [
        Error.ELECTION_NOT_NEEDED,
        Error.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert elect(model, everything=True) == [Error.PREFERRED_LEADER_NOT_AVAILABLE]


def test_there_are_no_unclean_elections(model: Model) -> None:
    assert elect(model, ("t", [0]), kind=UNCLEAN) == [Error.ELECTION_NOT_NEEDED]
    model.leave(5)
    assert model.partition("t").leader == NO_LEADER
    assert elect(model, ("t", [0]), kind=UNCLEAN) == [Error.ELIGIBLE_LEADERS_NOT_AVAILABLE]
    assert model.partition("t").leader == NO_LEADER
    assert elect(model, ("t", [0]), kind=2) == [Error.INVALID_REQUEST]
