"""The base of the faults that change how a user logs in."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar, Literal

from fencepost.faults.capabilities import Capability, Cluster, Evidence
from fencepost.faults.fault import Fault
from fencepost.faults.generation import Aim, BreakableCluster, GeneratedFault, HealOrder, Resource
from fencepost.faults.parameters import FaultParameters

TIMEOUT_S = 10.0
"""Seconds until each broker has to follow the change."""

User = Literal["client", "alice"]
"""A user of clients: that of the workload, or the one without rights of its own."""


class CredentialFault(Fault):
    """Changed by requests of an administrator, while all brokers run. Proven by logins at each of them.

    Connections that are open stay logged in, as Apache Kafka leaves them without `connections.max.reauth.ms`.
    """

    capability: ClassVar[Capability] = Capability.USERS
    password: str | None
    """The password that the user is given; None: the user is removed."""

    def __init__(self, cluster: Cluster, user: str) -> None:
        self.cluster = cluster
        self.user = user

    def targets(self) -> Mapping[str, object]:
        return {"user": self.user}

    def set_up(self) -> None:
        self.cluster.users.let_in(self.user)

    def inject(self) -> None:
        self.cluster.users.change(self.user, self.password)

    def recover(self) -> None:
        self.cluster.users.restore(self.user)

    def verify_healed(self) -> Evidence:
        return self.await_logins(lambda: {"before": self.cluster.users.let_in(self.user)}, {"before": True})

    def verify(self) -> Evidence:
        return self.await_logins(self.logins, self.wanted)

    @property
    @abstractmethod
    def wanted(self) -> Mapping[str, bool]:
        """Return which logins each broker accepts under the fault: with the password of `before`, or `now`."""

    @abstractmethod
    def logins(self) -> Mapping[str, Mapping[str, bool]]:
        """Return which logins each broker accepts."""

    def await_logins(
        self, logins: Callable[[], Mapping[str, Mapping[str, bool]]], wanted: Mapping[str, bool]
    ) -> Evidence:
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            found = logins()
            proven = all(set(found[which].values()) == {yes} for which, yes in wanted.items())
            if proven or time.monotonic() > deadline:
                how = f"logins of {self.user} at each broker, with the password of before and that of now"
                return Evidence(proven, how, dict(found), "" if proven else f"brokers let {self.user} in as {found}")
            time.sleep(0.02)


def generated_for_clients(parameters: FaultParameters, cluster: BreakableCluster, title: str) -> GeneratedFault:
    """Return one that claims nothing of clients: whatever connection of theirs ends, they are not let in again."""
    aim = Aim("brokers", len(cluster.brokers), "brokers", tuple(cluster.brokers))
    return GeneratedFault(
        parameters=parameters,
        aim=aim,
        heal_order=HealOrder.MACHINES,
        resources=(Resource("users"),),
        title=title,
        brokers=aim.away_brokers,
        exclusive=True,
        needs_running_nodes=True,
    )
