"""A leader that goes on with the settings that its topic had when it became the leader (against DLD-52)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.leader_driven.broker.broker_settings import BrokerSettings


def apply() -> None:
    read_again = BrokerSettings.read_again

    async def brokers_only(self: BrokerSettings, entity: str) -> None:
        if not entity.startswith("topics/"):
            await read_again(self, entity)

    BrokerSettings.read_again = brokers_only  # type: ignore[method-assign]
