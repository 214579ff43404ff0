"""Every story of the suite. One file a theme; each exports `STORIES`."""

from suites.kip_631.stories import (
    controller_failover,
    cut_from_controllers,
    duplicate_id,
    isolated_controller,
    late_bytes,
    lonely_leader,
    quorum_lost,
    refused_duplicate,
    restart,
    slow_follower,
    stale_requests,
    starts_fenced,
)
from suites.story import Story

STORIES: tuple[Story, ...] = (
    *starts_fenced.STORIES,
    *cut_from_controllers.STORIES,
    *restart.STORIES,
    *duplicate_id.STORIES,
    *refused_duplicate.STORIES,
    *stale_requests.STORIES,
    *late_bytes.STORIES,
    *slow_follower.STORIES,
    *controller_failover.STORIES,
    *isolated_controller.STORIES,
    *quorum_lost.STORIES,
    *lonely_leader.STORIES,
)
