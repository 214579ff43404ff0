"""ISR changes that the leader itself writes to ZooKeeper, below the level of KIP-343."""

from __future__ import annotations

from fencepost.suites import vocabulary as v


@v.internals_scenario(
    "slow-follower-at-base",
    "A leader that writes its ISR to ZooKeeper changes it as often as it has to in one term",
    seconds=16,
    levels=("base",),
)
def slow_follower(draft: v.Draft) -> v.Plan:
    return v.followers_leave_and_return(draft)
