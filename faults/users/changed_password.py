"""A user has another password than its clients know."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from fencepost.faults.capabilities import Cluster
from fencepost.faults.generation import BreakableCluster, GeneratedFault
from fencepost.faults.parameters import FaultParameters
from fencepost.faults.users.credential_fault import CredentialFault, User, generated_for_clients


class ChangedPasswordParameters(FaultParameters):
    """Another password of `user`. Healed by the password of before."""

    user: User
    password: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")] = "changed-password"
    """The new password."""


class ChangedPassword(CredentialFault):
    """All brokers know another password of the user than its clients, which keep that of before.

    Models a rotation that did not reach the clients. What is connected stays; each new connection is refused. Healed
    by the password of before.
    Source: AlterUserScramCredentials (KIP-554); for users in login modules KIP-226.

    `proven` by logins at each broker: with the old password refused, with the new one accepted.
    """

    name: ClassVar[str] = "changed-password"
    phrase = "{user} has another password"
    Parameters = ChangedPasswordParameters
    weight = 1

    def __init__(self, cluster: Cluster, parameters: ChangedPasswordParameters) -> None:
        super().__init__(cluster, parameters.user)
        self.password = parameters.password

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        return generated_for_clients(ChangedPasswordParameters(user="client"), cluster, "clients know an old password")

    @property
    def wanted(self) -> Mapping[str, bool]:
        return {"before": False, "now": True}

    def logins(self) -> Mapping[str, Mapping[str, bool]]:
        users = self.cluster.users
        return {"before": users.let_in(self.user), "now": users.let_in(self.user, self.password)}
