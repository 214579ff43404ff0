"""All scenarios of this suite. Each theme is a module that exports `SCENARIOS`."""

from fencepost.suites.replication_v2 import (
    administration,
    away,
    claims,
    ensemble,
    followers,
    interrupted,
    kip_101,
    leaders,
    reaching,
    requests,
    watches,
)
from fencepost.suites.scenario import Scenario

SCENARIOS: tuple[Scenario, ...] = (
    *leaders.SCENARIOS,
    *reaching.SCENARIOS,
    *followers.SCENARIOS,
    *away.SCENARIOS,
    *interrupted.SCENARIOS,
    *requests.SCENARIOS,
    *claims.SCENARIOS,
    *ensemble.SCENARIOS,
    *administration.SCENARIOS,
    *watches.SCENARIOS,
    *kip_101.SCENARIOS,
)
