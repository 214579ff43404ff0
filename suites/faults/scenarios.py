"""All scenarios of this suite. Each family of faults is a module that exports `SCENARIOS`."""

from fencepost.suites.faults import (
    behind_the_leader,
    below_min_isr,
    clock,
    containers,
    disks,
    earlier_answer,
    failovers,
    groups,
    identity,
    late_bytes,
    links,
    processes,
    producers,
    racks,
    succession,
    transactions,
    upgrades,
)
from fencepost.suites.scenario import Scenario

SCENARIOS: tuple[Scenario, ...] = (
    *links.SCENARIOS,
    *processes.SCENARIOS,
    *succession.SCENARIOS,
    *failovers.SCENARIOS,
    *behind_the_leader.SCENARIOS,
    *earlier_answer.SCENARIOS,
    *below_min_isr.SCENARIOS,
    *identity.SCENARIOS,
    *late_bytes.SCENARIOS,
    *disks.SCENARIOS,
    *clock.SCENARIOS,
    *containers.SCENARIOS,
    *upgrades.SCENARIOS,
    *transactions.SCENARIOS,
    *groups.SCENARIOS,
    *producers.SCENARIOS,
    *racks.SCENARIOS,
)
