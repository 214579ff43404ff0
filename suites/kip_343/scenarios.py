"""All scenarios of this suite. Each theme is a module that exports `SCENARIOS`."""

from fencepost.suites.kip_343 import heartbeats, incarnations, isr_changes, requests, rolls
from fencepost.suites.scenario import Scenario

SCENARIOS: tuple[Scenario, ...] = (
    *heartbeats.SCENARIOS,
    *requests.SCENARIOS,
    *incarnations.SCENARIOS,
    *isr_changes.SCENARIOS,
    *rolls.SCENARIOS,
)
