"""A broker that reads the settings of a topic once in its life, and describes those to clients ever after."""

from __future__ import annotations

from collections.abc import Collection

from fencepost.cluster_impl.designs.zk_controller.broker.topic_configs import TopicConfigs
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    designs=(ZK,),
    rules=("META-01",),
    scenarios=("topic-deleted-while-away",),
    unit=(
        "tests/cluster_impl/designs/zk_controller/broker/test_config_notifications.py::"
        "test_a_client_that_asks_gets_what_is_written_though_no_notification_came_yet"
    ),
)


def apply() -> None:
    async def faithful(self: TopicConfigs, names: Collection[str] | None = None) -> None:
        """Keep what is known."""

    TopicConfigs.read_again = faithful  # type: ignore[method-assign]
