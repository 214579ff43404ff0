from __future__ import annotations

import pytest

from fencepost.cluster_impl.coordination.steps import Create, Steps
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.creating import NewTopic, create_topic
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.leader_driven.admin.model_cluster import ModelCluster, ProcessDeath


@pytest.fixture
def model() -> ModelCluster:
    return ModelCluster()


def write(path: str) -> Steps[str]:
    yield [Create(path)]
    return path


def fail() -> Steps[None]:
    yield [Create("/begun")]
    raise RequestError(Error.INVALID_REQUEST, "It cannot be.")


@pytest.mark.requirement("DLD-18")
def test_a_topic_is_held_while_a_command_works_on_it_and_let_go_after(model: ModelCluster) -> None:
    assert model.alone("t", write("/done")) == "/done"
    with pytest.raises(RequestError, match="It cannot be"):
        model.alone("t", fail())
    assert model.tree.names(znodes.ADMIN) == []


@pytest.mark.parametrize("name", ["..", "a/b", ""])
def test_what_can_be_no_topic_is_not_held(model: ModelCluster, name: str) -> None:
    with pytest.raises(RequestError, match="is not a topic name") as caught:
        model.alone(name, write("/done"))
    assert caught.value.error is Error.INVALID_TOPIC_EXCEPTION
    assert not model.tree.exists("/done")


@pytest.mark.requirement("DLD-18")
def test_a_command_that_finds_another_at_work_waits_and_then_gives_up(model: ModelCluster) -> None:
    model.tree.execute([Create(znodes.admin_lock("t"), b"{}", ephemeral=True)], session=77)
    with pytest.raises(RequestError, match="Another command works on topic t") as caught:
        model.alone("t", write("/done"))
    assert caught.value.error is Error.REQUEST_TIMED_OUT
    assert not model.tree.exists("/done")
    assert model.tree.exists(znodes.admin_lock("t"))
    assert model.alone("u", write("/done")) == "/done"


@pytest.mark.requirement("DLD-18")
def test_a_command_goes_on_when_the_one_before_it_died(model: ModelCluster) -> None:
    with pytest.raises(ProcessDeath):
        model.alone("t", create_topic(model.command, NewTopic("t")), writes=3)
    assert model.tree.names(znodes.ADMIN) == []
    model.tree.execute([Create(znodes.admin_lock("t"), b"{}", ephemeral=True)], session=77)
    act = model.act

    def die_soon() -> bool:
        if model.now > 0.5:
            model.tree.end_session(77)
        act()
        return True

    model.act = die_soon  # type: ignore[method-assign]
    assert model.alone("t", write("/done")) == "/done"
    assert 0.5 < model.now < 1
