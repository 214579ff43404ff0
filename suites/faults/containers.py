"""Containers that are off their network, or get too little of a processor."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

A_TENTH = 0.1


@v.fault_scenario("off-the-network-follower", "A follower without network leaves the ISR and returns", seconds=20)
def follower_off(draft: v.Draft) -> v.Plan:
    """No node and no client reaches the follower: the ISR goes on without it, and takes it back."""
    _, follower, _ = draft.roles
    steps: list[v.Step] = [
        v.inject("unplug", v.DisconnectParameters(nodes=follower)),
        v.IsrIs(as_="left", partition="t-0", lacks=follower, expect=v.must("ISR-05")),
        v.goes_on("ISR-05"),
        v.Heal(as_="plug", fault="unplug"),
        v.returns_to_isr(follower),
    ]
    return draft.plan(steps, v.acknowledged("unplug.proven", before="plug.begun"))


@v.fault_scenario("off-the-network-leader", "A leader without network is succeeded by another broker", seconds=20)
def leader_off(draft: v.Draft) -> v.Plan:
    """No node and no client reaches the leader, nor it them: another broker leads, and clients find it."""
    leader = draft.leader
    steps: list[v.Step] = [
        v.inject("unplug", v.DisconnectParameters(nodes="leader:t-0")),
        v.LeaderIs(
            as_="moved", partition="t-0", is_not=leader, expect=v.must(draft.target.rule("D631-07", "INT-28", "LD-31"))
        ),
        v.goes_on("ISR-05"),
        v.Heal(as_="plug", fault="unplug"),
        v.returns_to_isr(leader),
    ]
    return draft.plan(steps, v.acknowledged("unplug.proven", before="plug.begun"))


@v.fault_scenario("short-of-processor", "A follower with a tenth of a processor holds up no partition", seconds=15)
def short_of_processor(draft: v.Draft) -> v.Plan:
    """A follower stands still for nine tenths of the time. It may leave the ISR; the partition goes on either way."""
    _, follower, _ = draft.roles
    steps: list[v.Step] = [
        v.inject("squeeze", v.CpuParameters(nodes=follower, cpus=A_TENTH)),
        v.goes_on("ISR-05"),
        v.Heal(as_="release", fault="squeeze"),
        v.returns_to_isr(follower),
    ]
    return draft.plan(steps, v.acknowledged("squeeze.proven", before="release.begun"))
