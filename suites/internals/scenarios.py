"""All scenarios of this suite. Each theme is a module that exports `SCENARIOS`."""

from fencepost.suites.internals import (
    commands,
    crashes,
    ensemble,
    fast_failover,
    isr_writes,
    reaching,
    registration,
    shutdown,
    split_brain,
    topics,
)
from fencepost.suites.scenario import Scenario

SCENARIOS: tuple[Scenario, ...] = (
    *reaching.SCENARIOS,
    *ensemble.SCENARIOS,
    *split_brain.SCENARIOS,
    *registration.SCENARIOS,
    *crashes.SCENARIOS,
    *fast_failover.SCENARIOS,
    *isr_writes.SCENARIOS,
    *topics.SCENARIOS,
    *commands.SCENARIOS,
    *shutdown.SCENARIOS,
)
