"""All scenarios of this suite. Each theme is a module that exports `SCENARIOS`."""

from fencepost.suites.kraft_kips import cordoned, misrouted, voters
from fencepost.suites.scenario import Scenario

SCENARIOS: tuple[Scenario, ...] = (*voters.SCENARIOS, *cordoned.SCENARIOS, *misrouted.SCENARIOS)
