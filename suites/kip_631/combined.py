"""Processes that are a broker and a controller at once: every fault takes away one of each."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.kip_631.metadata_log import rules_hold

LEASE_MS = 4000
"""Long enough for the leases of the other two to outlive an election on a busy machine."""


@v.scenario(
    "combined-nodes",
    "Processes that are broker and controller at once outlive kill -9, and a pause or a partition",
    seconds=15,
    dialects=frozenset({v.Dialect.KIP_631}),
)
def under_faults(draft: v.Draft) -> v.Plan:
    """The process of the active controller is killed; then that of the next one is paused or, by the seed, cut off."""
    leader, *followers = draft.roles
    pause = v.PauseParameters(nodes="$second-active")
    cut = v.IsolateParameters(nodes="$second-active", from_="brokers", how="stall")
    faults = {
        "kill": v.KillParameters(nodes="$kill-active", back="running"),
        "second": pause if draft.seed % 2 else cut,
    }
    steps: list[v.Step] = []
    for name, parameters in faults.items():
        steps += [
            v.Bind(as_=f"{name}-active", node="active-controller"),
            v.inject(name, parameters),
            v.ActiveController(
                as_=f"{name}-elected", is_not=f"${name}-active", expect=v.must("LIVE-02", "K631-03", "K631-13")
            ),
            v.LeaderIs(as_=f"{name}-moved", partition="t-0", is_not=f"${name}-active", expect=v.must("D631-07")),
            v.WorkloadAcks(as_=f"{name}-goes-on", more=20, expect=v.must("LIVE-03")),
            v.Heal(as_=f"{name}-healed", fault=name),
            v.Converged(as_=f"{name}-whole", expect=v.must("LIVE-01")),
            # Each process answers for both of its roles: the broker forwards, the controller of some process decides.
            *(
                v.TopicCreatedThrough(as_=f"{name}-through-{broker}", node=broker, expect=v.must("LIVE-02", "K631-03"))
                for broker in (leader, *followers)
            ),
        ]
    steps += rules_hold("follows", "leader-epoch-grows", "left-every-isr", "epoch-after-registration")
    return draft.timed(lease_ms=LEASE_MS).plan(
        steps, v.acknowledged("second-healed.ended"), topology=v.combined_cluster()
    )
