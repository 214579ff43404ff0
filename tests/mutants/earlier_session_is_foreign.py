"""A broker that takes the znode of its own earlier session for another process's (KAFKA-7165; against Kafka's
internals, Broker failover)."""

from __future__ import annotations

from cluster_impl.designs.zk_controller.broker.registration import Registration


def apply() -> None:
    honest = Registration._create

    async def forgetful(self: Registration) -> int:
        self._sessions.clear()
        return await honest(self)

    Registration._create = forgetful  # type: ignore[method-assign]
