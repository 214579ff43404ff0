"""A user is gone."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import ClassVar

from fencepost.faults.capabilities import Cluster
from fencepost.faults.generation import BreakableCluster, GeneratedFault
from fencepost.faults.parameters import FaultParameters
from fencepost.faults.users.credential_fault import CredentialFault, User, generated_for_clients


class RemovedUserParameters(FaultParameters):
    """No broker knows `user` any more. Healed by giving it back, with the password of before."""

    user: User


class RemovedUser(CredentialFault):
    """No broker knows the user any more, whose clients go on.

    Models an account that was taken away, or was lost with the system that manages accounts. What is connected stays;
    each new connection is refused. Healed by giving the user back.
    Source: AlterUserScramCredentials (KIP-554); for users in login modules KIP-226.

    `proven` by logins at each broker, which are refused.
    """

    name: ClassVar[str] = "removed-user"
    phrase = "{user} is removed"
    Parameters = RemovedUserParameters
    weight = 1
    password = None

    def __init__(self, cluster: Cluster, parameters: RemovedUserParameters) -> None:
        super().__init__(cluster, parameters.user)

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        return generated_for_clients(RemovedUserParameters(user="client"), cluster, "the user of clients is gone")

    @property
    def wanted(self) -> Mapping[str, bool]:
        return {"before": False}

    def logins(self) -> Mapping[str, Mapping[str, bool]]:
        return {"before": self.cluster.users.let_in(self.user)}
