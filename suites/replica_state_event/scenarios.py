"""All scenarios of this suite. Each theme is a module that exports `SCENARIOS`."""

from fencepost.suites.replica_state_event import log_dirs, requests
from fencepost.suites.scenario import Scenario

SCENARIOS: tuple[Scenario, ...] = (*log_dirs.SCENARIOS, *requests.SCENARIOS)
