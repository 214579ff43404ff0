"""The key `upgrade` of a target file: how its nodes are upgraded from one release to another."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from fencepost.faults.parameters import PlanModel
from fencepost.harness.plan.base import Pattern

RELEASES = ("old", "new")


def _with_a_group(pattern: str) -> str:
    if re.compile(pattern).groups != 1:
        raise PydanticCustomError("upgrade", "Input should have one group for the release: 'version (\\S+)'")
    return pattern


class UpgradeRules(PlanModel):
    """How nodes are upgraded from one release to another."""

    says: Annotated[Pattern, AfterValidator(_with_a_group)]
    """The line of a node's log that says which release it runs; the group of the pattern is the release."""
    protocol: tuple[str, ...] = ()
    """The configuration keys of a broker that hold the protocol version, such as `3.9`. They make the levels `old` and
    `new` of a target that is upgraded."""

    def levels(self, releases: tuple[str, str]) -> dict[str, dict[str, str]]:
        """Return the protocol levels of two releases: their first two numbers."""
        if not self.protocol:
            return {}
        versions = {name: ".".join(version.split(".")[:2]) for name, version in zip(RELEASES, releases, strict=True)}
        return {name: dict.fromkeys(self.protocol, version) for name, version in versions.items()}
