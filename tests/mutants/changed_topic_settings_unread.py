"""A leader that goes on with the settings that its topic had when it became the leader (against DLD-52)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.leader_driven.broker.broker_settings import BrokerSettings
from tests.mutants.defect import LEADER_DRIVEN, Defect

DEFECT = Defect(
    __name__,
    designs=(LEADER_DRIVEN,),
    rules=("DLD-52",),
    scenarios=("v2-topics-administered",),
    unit=(
        "tests/cluster_impl/designs/leader_driven/broker/test_broker_settings.py::"
        "test_the_replicas_of_a_changed_topic_are_notified_and_of_no_other"
    ),
)


def apply() -> None:
    read_again = BrokerSettings.read_again

    async def brokers_only(self: BrokerSettings, entity: str) -> None:
        if not entity.startswith("topics/"):
            await read_again(self, entity)

    BrokerSettings.read_again = brokers_only  # type: ignore[method-assign]
