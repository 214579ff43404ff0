"""All scenarios of this suite. Each theme is a module that exports `SCENARIOS`."""

from fencepost.suites.kip_631 import (
    controlled_shutdown,
    controller_failover,
    cut_from_controllers,
    duplicate_id,
    feature_levels,
    isolated_controller,
    isolated_leader,
    late_bytes,
    lease_kept,
    lost_files,
    quorum_lost,
    refused_duplicate,
    refused_topics,
    restart,
    slow_follower,
    snapshots,
    stale_requests,
    starts_fenced,
)
from fencepost.suites.scenario import Scenario

SCENARIOS: tuple[Scenario, ...] = (
    *starts_fenced.SCENARIOS,
    *cut_from_controllers.SCENARIOS,
    *restart.SCENARIOS,
    *duplicate_id.SCENARIOS,
    *refused_duplicate.SCENARIOS,
    *stale_requests.SCENARIOS,
    *late_bytes.SCENARIOS,
    *slow_follower.SCENARIOS,
    *controller_failover.SCENARIOS,
    *isolated_controller.SCENARIOS,
    *quorum_lost.SCENARIOS,
    *isolated_leader.SCENARIOS,
    *snapshots.SCENARIOS,
    *lease_kept.SCENARIOS,
    *controlled_shutdown.SCENARIOS,
    *refused_topics.SCENARIOS,
    *lost_files.SCENARIOS,
    *feature_levels.SCENARIOS,
)
