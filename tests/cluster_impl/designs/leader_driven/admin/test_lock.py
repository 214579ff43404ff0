from __future__ import annotations

import pytest

from cluster_impl.coordination.steps import Create, Steps
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.admin.creating import NewTopic, create_topic
from cluster_impl.designs.leader_driven.admin.seam import Failed
from cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.leader_driven.admin.memory_world import Died, MemoryWorld


@pytest.fixture
def world() -> MemoryWorld:
    return MemoryWorld()


def write(path: str) -> Steps[str]:
    yield [Create(path)]
    return path


def fail() -> Steps[None]:
    yield [Create("/begun")]
    raise Failed(Error.INVALID_REQUEST, "It cannot be.")


@pytest.mark.requirement("DLD-18")
def test_a_topic_is_held_while_a_command_works_on_it_and_let_go_after(world: MemoryWorld) -> None:
    assert world.alone("t", write("/done")) == "/done"
    with pytest.raises(Failed, match="It cannot be"):
        world.alone("t", fail())
    assert world.tree.names(znodes.ADMIN) == []


@pytest.mark.parametrize("name", ["..", "a/b", ""])
def test_what_can_be_no_topic_is_not_held(world: MemoryWorld, name: str) -> None:
    with pytest.raises(Failed, match="is no topic name") as caught:
        world.alone(name, write("/done"))
    assert caught.value.error is Error.INVALID_TOPIC_EXCEPTION
    assert not world.tree.exists("/done")


@pytest.mark.requirement("DLD-18")
def test_a_command_that_finds_another_at_work_waits_and_then_gives_up(world: MemoryWorld) -> None:
    world.tree.execute([Create(znodes.admin_lock("t"), b"{}", ephemeral=True)], session=77)
    with pytest.raises(Failed, match="Another command is at work on topic t") as caught:
        world.alone("t", write("/done"))
    assert caught.value.error is Error.REQUEST_TIMED_OUT
    assert not world.tree.exists("/done")
    assert world.tree.exists(znodes.admin_lock("t"))
    assert world.alone("u", write("/done")) == "/done"


@pytest.mark.requirement("DLD-18")
def test_a_command_goes_on_when_the_one_before_it_died(world: MemoryWorld) -> None:
    with pytest.raises(Died):
        world.alone("t", create_topic(world.command, NewTopic("t")), writes=3)
    assert world.tree.names(znodes.ADMIN) == []
    world.tree.execute([Create(znodes.admin_lock("t"), b"{}", ephemeral=True)], session=77)
    act = world.act

    def die_soon() -> bool:
        if world.now > 0.5:
            world.tree.end_session(77)
        act()
        return True

    world.act = die_soon  # type: ignore[method-assign]
    assert world.alone("t", write("/done")) == "/done"
    assert 0.5 < world.now < 1
