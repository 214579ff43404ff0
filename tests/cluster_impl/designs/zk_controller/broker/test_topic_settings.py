"""A broker reads a topic's settings in ZooKeeper, not from a lagging server, and ignores invalid ones."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import cast
from uuid import UUID

import pytest

from fencepost.cluster_impl.coordination.errors import ConnectionLost, NoNodeError
from fencepost.cluster_impl.coordination.znodes import Stat, Znode
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.zk_controller.broker.topic_configs import TopicConfigs

TOPIC = UUID(int=1)


class LaggingServer:
    """Has the topic's settings after a sync only; the connection breaks `breaks` times."""

    def __init__(self, config: Mapping[str, str], breaks: int = 0) -> None:
        self._config = config
        self._breaks = breaks
        self._has_caught_up = False

    async def sync(self) -> None:
        self._has_caught_up = True

    async def get(self, path: str) -> Znode:
        if self._breaks:
            self._breaks -= 1
            self._has_caught_up = False
            raise ConnectionLost("the connection broke", path, in_doubt=True)
        if not self._has_caught_up:
            raise NoNodeError(f"there is no {path}", path)
        return Znode(config_znodes.write_config(self._config), Stat(1, 1, 1, 0, 0))

    async def until_connected(self) -> None:
        return None


def loaded(server: LaggingServer) -> Mapping[str, str] | None:
    async def load() -> Mapping[str, str] | None:
        configs = TopicConfigs(cast("ZooKeeper", server), lambda *_: None)
        await configs.load("t", TOPIC)
        return configs.get(TOPIC)

    return asyncio.run(load())


@pytest.mark.parametrize("breaks", [0, 1])
def test_settings_that_the_server_has_not_seen_yet_are_not_taken_for_none(breaks: int) -> None:
    assert loaded(LaggingServer({"min.insync.replicas": "2"}, breaks)) == {"min.insync.replicas": "2"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min.insync.replicas", "abc"),
        ("min.insync.replicas", "0"),
        ("max.message.bytes", "-1"),
        ("segment.bytes", "1e6"),
        ("segment.bytes", "13"),
        ("cleanup.policy", "shrink"),
        ("unclean.leader.election.enable", "perhaps"),
        ("compression.type", "zstd"),
    ],
)
def test_a_setting_that_no_topic_can_have_is_passed_over_and_the_others_are_used(
    name: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    good = {
        "min.insync.replicas": "2",
        "max.message.bytes": "2000",
        "segment.bytes": "4096",
        "unclean.leader.election.enable": "true",
    }
    used = loaded(LaggingServer({**good, name: value}))
    assert used == {each: setting for each, setting in good.items() if each != name}
    assert name in caplog.text
