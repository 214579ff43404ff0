"""The brokers that others see, as their registrations describe them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from fencepost.cluster_impl.coordination.znodes import Stat, Znode
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.broker.live_brokers import LiveBrokers
from fencepost.cluster_impl.replication.control_plane import BrokerView, Endpoint

AT = {"CLIENT": Endpoint("node", 9092)}


class Registered:
    """The registrations in ZooKeeper, by path."""

    def __init__(self, *brokers: tuple[int, str | None]) -> None:
        self._data = {
            znodes.broker(broker): znodes.write_broker(znodes.BrokerZnode(AT, 1, rack)) for broker, rack in brokers
        }

    async def children(self, path: str, watch: Callable[[object], None]) -> list[str]:
        return [at.rpartition("/")[2] for at in self._data]

    async def get_many(self, paths: Sequence[str]) -> list[Znode]:
        return [Znode(self._data[path], Stat(9, 9, 0, 0, 0)) for path in paths]


async def test_a_live_broker_has_the_rack_of_its_registration() -> None:
    live = LiveBrokers(cast("ZooKeeper", Registered((4, "r1"), (5, None))))
    await live.read()
    assert live.views == {4: BrokerView(4, AT, "r1"), 5: BrokerView(5, AT)}
