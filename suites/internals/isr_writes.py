"""ISR changes that the leader itself writes to ZooKeeper, below the level of KIP-343."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.kip_631 import slow_follower

SCENARIOS = (
    v.internals_scenario(
        "slow-follower-at-base",
        "A leader that writes its ISR to ZooKeeper changes it as often as it has to in one term",
        slow_follower.build,
        16,
        "ISR-05",
        "ISR-06",
        needs={v.Capability.LINKS},
        levels=("base",),
    ),
)
